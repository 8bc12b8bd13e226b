import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { checkDatabase } from '../../src/cli/doctor.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { WEBHOOK_EVENTS } from '../../src/modules/webhook/webhook.types.js';
import { Receiver, verify } from '../faults/webhook-receiver.js';
import { uploaded } from '../media/fixture.js';
import { png } from '../media/samples.js';
import { codesSentTo, mobile, otpApp, setSender } from '../otp/fixture.js';
import type { ApiResponse } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { hasPgBouncer, PgBouncer, SERVER_LIMITS } from '../support/rig/pgbouncer.js';
import { Scope } from '../support/rig/scope.js';
import type { TestApp, TestSender } from '../support/test-app.js';
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp } from '../webhook/fixture.js';

/** What an operator, or the package of a server, may have set: for the database, or for the role in it. */
const SETTINGS = {
  database: {
    datestyle: 'German',
    intervalstyle: 'iso_8601',
    timezone: 'Asia/Kolkata',
    bytea_output: 'escape',
    standard_conforming_strings: 'off',
    extra_float_digits: '-15',
    default_transaction_isolation: 'serializable',
  },
  role: {
    datestyle: 'SQL, DMY',
    intervalstyle: 'sql_standard',
    timezone: 'America/St_Johns',
    bytea_output: 'escape',
    standard_conforming_strings: 'off',
    extra_float_digits: '0',
    default_transaction_isolation: 'repeatable read',
  },
} as const;
type Owner = keyof typeof SETTINGS;

/** What a pooler in transaction mode can't give each connection; a start asks the role for it. */
const OF_THE_ROLE = { default_transaction_isolation: 'read committed', extra_float_digits: '1' };

const isHere = await hasPgBouncer();
if (!isHere) process.stderr.write('only without PgBouncer, which is not installed\n');
const WAYS = isHere ? (['none', 'transaction', 'session'] as const) : (['none'] as const);
const CASES = WAYS.flatMap((way) => (['database', 'role'] as const).map((owner) => ({ way, owner })));

async function turn(url: string, owner: Owner, settings: Record<string, string>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const database = new URL(url).pathname.slice(1);
    // A role of the whole server would show in other tests.
    const target = owner === 'database' ? `database ${database}` : `role current_user in database ${database}`;
    for (const [name, value] of Object.entries(settings)) {
      await client.query(`alter ${target} set ${name} = '${value}'`);
    }
    await client.query(`create schema if not exists of_its_own`);
    await client.query(`alter ${target} set search_path = of_its_own, public`);
  } finally {
    await client.end();
  }
}

const NEAR_MS = 600_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Every time in an answer is one of now, in the one form; returns how many there are. */
function times(value: unknown, name = ''): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + times(each, name), 0);
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).reduce((sum, [key, each]) => sum + times(each, key), 0);
  }
  if (!/^(at|timestamp|.*_at)$/.test(name) || /expires|window/.test(name)) return 0;
  if (name === 'created_at') expect(value).not.toBeNull();
  if (value === null) return 0;
  expect([name, value]).toEqual([name, expect.stringMatching(TIME)]);
  expect(Math.abs(Date.parse(value as string) - Date.now())).toBeLessThan(NEAR_MS);
  return 1;
}

interface Pagination {
  next_before: string;
  next_before_id: string;
}

/** An answer whose times are all right. */
function right(answer: ApiResponse, status = 200): ApiResponse['body']['data'] {
  expect([answer.status, answer.status === status ? null : answer.body]).toEqual([status, null]);
  times(answer.body);
  return answer.body.data;
}

describe.each(CASES)('settings of the $owner, with a pooler: $way', ({ way, owner }) => {
  const scope = new Scope();
  let stored: TestDatabase;
  let test: TestApp;
  let sender: TestSender;
  let receiver: Receiver;
  let secret: string;

  const env = async (): Promise<Record<string, string>> => {
    if (way === 'none') return { DATABASE_URL: stored.url, DATABASE_DIRECT_URL: '' };
    const connectQuery = way === 'transaction' ? SERVER_LIMITS : undefined;
    const pooler = await PgBouncer.start(scope, stored.url, { mode: way, connectQuery });
    return {
      DATABASE_URL: pooler.through(stored.url),
      DATABASE_DIRECT_URL: way === 'transaction' ? stored.url : '',
    };
  };

  beforeAll(async () => {
    // Without a table: the migrations too run with these settings.
    stored = await createEmptyDatabase();
    await turn(stored.url, owner, SETTINGS[owner]);
    if (way === 'transaction') {
      await expect(
        env().then((urls) => startWebhookApp({ env: urls, database: { ...stored, drop: async () => {} } })),
      ).rejects.toThrow(
        /"alter role <role> set default_transaction_isolation = 'read committed'".*"alter role <role> set extra_float_digits = '1'"/,
      );
      await turn(stored.url, owner, OF_THE_ROLE);
    }
    receiver = await Receiver.start();
    scope.defer(() => receiver.stop());
    test = await startWebhookApp({
      roles: ['api', 'worker', 'simulator'],
      env: { DATABASE_MIGRATE: 'true', MEDIA_MIN_FREE_MIB: '0', ...(await env()) },
      simulator: { statusGapMs: 20 },
      database: stored,
    });
    sender = await test.sender();
    const body = { url: receiver.url(), events: WEBHOOK_EVENTS };
    secret = right(await sender.api.request({ method: 'PUT', path: '/webhook', body })).secret as string;
  });
  afterAll(async () => {
    await test?.stop();
    await scope.close();
  });

  const send = (to: string, body: object, path = '/messages') =>
    sender.api.post(
      path,
      { connection_id: sender.connection.id, to, ...body },
      { headers: { 'idempotency-key': randomUUID() } },
    );
  const reaches = (id: string, status: string) =>
    waitFor(async () => (await sender.api.get(`/messages/${id}`)).body.data.status === status, { what: status });
  const delivered = (type: string) =>
    waitFor(() => receiver.received.map((each) => verify(secret, each)).find((event) => event.type === type), {
      what: type,
    });

  it('a message is sent, read, listed, followed and told of', async () => {
    const { phone } = await test.openWindow(sender);
    const { id } = right(
      await send(phone, { type: 'text', text: { body: String.raw`Hello \'; \x41 "C:\temp"` } }),
      202,
    );
    await reaches(id, 'read');
    const message = right(await sender.api.get(`/messages/${id}`));
    expect(message).toMatchObject({ content: { body: String.raw`Hello \'; \x41 "C:\temp"` } });
    const moves = await sender.api.get(`/messages/${id}/timeline`);
    right(moves);
    expect((moves.body.data as unknown as { event: string }[]).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['queued', 'attempt_started', 'attempt_accepted', 'sent', 'delivered', 'read']),
    );
    times(await delivered('message.status.updated'));
    right(await sender.api.get('/messages?status=read&limit=1'));
    const events = await waitFor(async () => {
      const page = await sender.api.get('/events');
      // Where a report comes before the answer, the message has never been `accepted`, and there is an event less.
      const listed = page.body.data as unknown as { data: { status?: string } }[];
      return listed.some(({ data }) => data.status === 'read') && page;
    });
    right(events);
    right(await sender.api.get('/webhook/deliveries?status=succeeded'));
  });

  it('pages are the same as the whole', async () => {
    const { phone } = await test.openWindow(sender);
    for (let n = 0; n < 3; n++) right(await send(phone, { type: 'text', text: { body: `${n}` } }), 202);
    const ids = (page: ApiResponse) => (right(page) as unknown as { id: string }[]).map(({ id }) => id);
    for (const path of ['/messages', '/conversations', '/webhook/deliveries']) {
      // Deliveries of what is under way come meanwhile.
      await waitFor(async () => {
        const [, second] = ids(await sender.api.get(`${path}?limit=2`));
        const { pagination } = (await sender.api.get(`${path}?limit=1`)).body as unknown as { pagination: Pagination };
        const { next_before: before, next_before_id: beforeId } = pagination;
        const [next] = ids(await sender.api.get(`${path}?limit=1&before=${before}&before_id=${beforeId}`));
        return next !== undefined && next === second;
      });
    }
    const seen: string[] = [];
    let after = '';
    await waitFor(async () => {
      const page = right(await sender.api.get(`/events?limit=1${after}`)) as unknown as {
        id: string;
        cursor: string;
      }[];
      seen.push(...page.map(({ id }) => id));
      if (page[0] !== undefined) after = `&after=${page[0].cursor}`;
      return seen.length >= 4;
    });
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('a scheduled message is stored for its time, and one that is due again is retried', async () => {
    const { phone } = await test.openWindow(sender);
    const at = new Date(Date.now() + 300_000).toISOString();
    const { id } = right(await send(phone, { type: 'text', text: { body: 'Later' }, send_at: at }), 202);
    expect(right(await sender.api.get(`/messages/${id}`)).scheduled_for).toBe(at);
    right(await sender.api.post(`/messages/${id}/cancel`));
    const failing = await test.openWindow(sender, `${testPhone().slice(0, -4)}0003`);
    const failed = right(await send(failing.phone, { type: 'text', text: { body: 'No' } }), 202);
    await reaches(failed.id, 'failed');
    right(await sender.api.post(`/messages/${failed.id}/retry`), 202);
  });

  it('an inbound message opens a conversation', async () => {
    const from = testPhone();
    const response = await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        phone_number_id: sender.connection.phoneNumberId,
        from,
        message: { type: 'image', image: { caption: 'Look' } },
        file: { base64: png(2_000).toString('base64'), mime_type: 'image/png' },
      }),
    });
    expect(response.status).toBe(200);
    await delivered('message.received');
    await delivered('media.ready');
    right(await sender.api.get(`/conversations?to=${from}`));
    right(await send(from, { type: 'text', text: { body: 'Nice' } }), 202);
  });

  it('a file is uploaded and sent', async () => {
    const file = await uploaded(test, sender, { file: png(1_000), filename: 'a.png' });
    const { phone } = await test.openWindow(sender);
    const { id } = right(await send(phone, { type: 'image', media: { id: file.id } }), 202);
    await reaches(id, 'read');
    right(await sender.api.get(`/media/${file.id}`));
    right(await sender.api.get('/media'));
  });

  it('a one-time code arrives and is right', async () => {
    await setSender(test);
    const shop = await otpApp(test, 'live', { packages: { DE: 10 } });
    const to = mobile();
    const challenge = right(await shop.send(to), 202);
    await shop.reaches(challenge.id, 'read', 'delivered', 'sent');
    const [code] = await codesSentTo(test, to.slice(1));
    expect((await shop.verify(challenge.id, code?.code ?? '')).status).toBe(200);
    right(await shop.api.get(`/otp/${challenge.id}`));
  });

  it('templates are made and listed', async () => {
    const path = `/connections/${sender.connection.id}/templates`;
    const template = { name: 'order', language: 'en_US', category: 'UTILITY', body: 'Your order is on its way.' };
    right(await sender.api.post(path, template), 201);
    right(await sender.api.get(path));
    right(await sender.api.get('/connections'));
  });

  it('a replay sends again what was delivered', async () => {
    const before = receiver.received.length;
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const replay = right(await sender.api.post('/webhook/replay', { since, status: 'all' }), 202);
    await waitFor(async () => right(await sender.api.get(`/webhook/replay/${replay.id}`)).status === 'done');
    await waitFor(() => receiver.received.length > before, { what: 'a delivery again' });
  });

  it('every sweep and every check of the doctor passes', async () => {
    const sweeps = test.app.get(Sweeps);
    for (const name of sweeps.names) await sweeps.runNow(name);
    const findings = await checkDatabase(test.config);
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
  });
});
