import type { PoolClient } from 'pg';
import { newKey } from '../../src/modules/keys/api-key-format.js';
import { waitFor } from '../support/wait-for.js';
import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

const LIMIT = 5;
const POOL = 3;

let small: SmallApp;
let key: string;
let taken: PoolClient[] = [];
let waiting: Promise<unknown>[] = [];

beforeAll(async () => {
  const env = {
    OVERLOAD_POOL_WAITING: String(LIMIT),
    OVERLOAD_LOOP_DELAY_MS: '0',
    DATABASE_POOL_SIZE: String(POOL),
    DATABASE_CONNECT_TIMEOUT_MS: '60000',
  };
  small = await startSmallApp({ controllers: [ThingsController], env });
  const { id } = await small.factories.workspace({ ratePerSecond: 100_000, rateBurst: 100_000 });
  key = (await small.factories.apiKey({ organizationId: id })).text;
});

afterEach(async () => {
  for (const client of taken) client.release();
  taken = [];
  await Promise.all(waiting);
  waiting = [];
});

afterAll(() => small.close());

/** Takes every connection, and lets statements wait for one. */
async function exhaust(statements: number): Promise<void> {
  const { pool } = small.database;
  while (taken.length < POOL) taken.push(await pool.connect());
  while (waiting.length < statements) waiting.push(pool.query('select 1'));
}

const probe = (method: string, path: string, timeoutMs?: number) =>
  small.api.request({ method, path, key, timeoutMs, body: method === 'POST' ? { text: 'x' } : undefined });

const statusOf = async (method: string, path: string): Promise<number> => (await probe(method, path)).status;

/** Waits until the process has seen it. */
const refuses = (method: string, path: string) =>
  waitFor(async () => (await probe(method, path)).status === 503, { what: `${method} ${path} to be refused` });

describe('without a free connection', () => {
  it('reads are refused first, with 503 and when to come back; writes pass', async () => {
    expect(await statusOf('GET', '/things')).toBe(200);
    await exhaust(LIMIT);
    await refuses('GET', '/things');
    const { status, headers, body } = await probe('GET', '/things');
    expect([status, body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(['1', '2', '3']).toContain(headers.get('retry-after'));
    expect(headers.get('x-herald-api-version')).toBe('v1');
    expect(body.error.request_id).toBe(headers.get('x-request-id'));
    const alias = await probe('GET', '/api/things');
    expect([alias.status, alias.headers.get('deprecation')]).toEqual([503, '@1767225600']);
    // A line costs more than the answer.
    expect(small.logged.filter((line) => line.includes('SERVICE_UNAVAILABLE'))).toEqual([]);
    // Whatever the answer to the write is, it comes from the handler that read it.
    expect(await statusOf('POST', '/no-such-thing')).toBe(404);
    expect(await statusOf('POST', '/platform/whatsapp/webhook')).toBe(404);
  });

  it('writes next, notifications last, health and metrics never; and all is well once it is over', async () => {
    await exhaust(2 * LIMIT);
    await refuses('POST', '/no-such-thing');
    expect(await statusOf('POST', '/platform/whatsapp/webhook')).toBe(404);
    await exhaust(4 * LIMIT);
    await refuses('POST', '/platform/whatsapp/webhook');
    expect(await statusOf('GET', '/health/live')).toBe(200);
    const { status, body } = await small.api.get<string>('/metrics');
    expect(status).toBe(200);
    expect(body).toMatch(/^herald_overload_shedding 3$/m);
    for (const kind of ['reads', 'writes', 'notifications']) {
      expect(body).toMatch(new RegExp(`^herald_requests_shed_${kind}_total [1-9]`, 'm'));
    }
    for (const client of taken) client.release();
    taken = [];
    await waitFor(async () => (await probe('GET', '/things')).status === 200);
    expect(await statusOf('POST', '/platform/whatsapp/webhook')).toBe(404);
    expect(small.logged.filter((line) => line.includes('overloaded, requests are refused'))).not.toHaveLength(0);
  });

  it('a request that waits for longer than it may is answered 503', async () => {
    const env = { DATABASE_POOL_SIZE: '2', DATABASE_CONNECT_TIMEOUT_MS: '2500' };
    const hasty = await startSmallApp({ controllers: [ThingsController], beside: small, env });
    const { id } = await small.factories.workspace();
    const fresh = (await small.factories.apiKey({ organizationId: id })).text;
    // The key is read in a batch, for which further connections are reserved.
    const pools = [
      hasty.database.pool,
      hasty.database.pool,
      hasty.database['reserved'](),
      hasty.database['reserved'](),
    ];
    const clients = await Promise.all(pools.map((pool) => pool.connect()));
    const { status, body, headers } = await hasty.api.get('/things', { key: fresh });
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
    for (const client of clients) client.release();
    expect((await hasty.api.get('/things', { key: fresh })).status).toBe(200);
    await hasty.close();
  });

  it('a statement that takes longer than it may is answered 503, and logged in few lines', async () => {
    const env = { DATABASE_QUERY_TIMEOUT_MS: '1000' };
    const hasty = await startSmallApp({ controllers: [ThingsController], beside: small, env });
    const lock = await small.database.pool.connect();
    try {
      await lock.query('begin; lock table api_key');
      const keys = Array.from({ length: 30 }, () => newKey('live').text);
      const answers = await Promise.all(keys.map((text) => hasty.api.get('/things', { key: text })));
      expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 503));
      const lines = hasty.logged.filter((line) => line.includes('SERVICE_UNAVAILABLE'));
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.length).toBeLessThan(25);
    } finally {
      await lock.query('rollback');
      lock.release();
      await hasty.close();
    }
  });
});

describe('while the event loop is held up', () => {
  it('requests are refused, and taken again soon after', async () => {
    const env = { OVERLOAD_LOOP_DELAY_MS: '60' };
    const held = await startSmallApp({ controllers: [ThingsController], beside: small, env });
    const read = async (): Promise<number> => (await held.api.get('/things', { key })).status;
    const holding = setInterval(() => {
      const until = performance.now() + 300;
      while (performance.now() < until);
    }, 1);
    try {
      await waitFor(async () => (await read()) === 503, { what: 'a refusal' });
      expect((await held.api.get('/health/live')).status).toBe(200);
    } finally {
      clearInterval(holding);
    }
    await waitFor(async () => (await read()) === 200, { what: 'an answer' });
    await held.close();
  });
});
