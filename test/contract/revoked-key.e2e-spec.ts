import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { Scope } from '../support/rig/scope.js';
import { TcpProxy } from '../support/rig/tcp-proxy.js';
import { systemClock } from '../../src/common/clock.js';
import { ApiKeysService } from '../../src/modules/keys/keys.service.js';
import { PgNotifier } from '../../src/infrastructure/database/pg-notifier.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

/** What docs/limits.md promises. */
const REFUSED_EVERYWHERE_WITHIN_MS = 5_000;

const scope = new Scope();
let database: TestDatabase;
/** Revokes. */
let one: TestApp;
/** Has its notices of changes through `notices`. */
let other: TestApp;
let notices: TcpProxy;
let sender: TestSender;
let phone: string;
let nowMs: number;

beforeAll(async () => {
  database = await createTestDatabase();
  notices = await TcpProxy.before(scope, database.url);
  one = await startTestApp({ roles: ['api'], database });
  const env = { DATABASE_DIRECT_URL: notices.through(database.url) };
  other = await startTestApp({ roles: ['api'], shareWith: one, env });
  sender = await one.sender();
  ({ phone } = await one.openWindow(sender));
});

beforeEach(() => {
  nowMs = systemClock.monotonic();
  jest.spyOn(systemClock, 'monotonic').mockImplementation(() => nowMs);
});

afterEach(() => {
  jest.restoreAllMocks();
  notices.heal();
});

afterAll(async () => {
  await other?.stop();
  await one?.stop();
  await scope.close();
});

/** Of a route through Express and of one that is answered before it. */
async function answersOf(app: TestApp, key: string): Promise<string[]> {
  const body = { connection_id: sender.connection.id, to: phone, type: 'text', text: { body: 'Hello' } };
  const headers = { 'idempotency-key': randomUUID() };
  const answers = [
    await app.api.get('/messages?limit=1', { key }),
    await app.api.post('/messages', body, { key, headers }),
  ];
  return answers.map(({ status, body: { error } }) => error?.code ?? String(status));
}

const ADMITTED = ['200', '202'];
const REFUSED = ['API_KEY_REVOKED', 'API_KEY_REVOKED'];

describe('a key that is revoked through one process', () => {
  it('stops working in another with the notice, however long its entry in the cache would be good', async () => {
    const { id, text } = await one.factories.apiKey({ organizationId: sender.workspace.id });
    expect([await answersOf(one, text), await answersOf(other, text)]).toEqual([ADMITTED, ADMITTED]);
    await one.app.get(ApiKeysService).revoke(id);
    await waitFor(async () => (await answersOf(other, text)).every((code) => code === 'API_KEY_REVOKED'));
    expect(await answersOf(one, text)).toEqual(REFUSED);
  });

  it('stops working in another within five seconds where the notice is lost', async () => {
    const { id, text } = await one.factories.apiKey({ organizationId: sender.workspace.id });
    expect(await answersOf(other, text)).toEqual(ADMITTED);
    expect(other.app.get(PgNotifier).connected).toBe(true);
    // What listens finds out nothing, and a connection made meanwhile has no answer.
    notices.set({ kind: 'half_open' });
    await one.app.get(ApiKeysService).revoke(id);
    await waitFor(async () => (await answersOf(one, text)).every((code) => code === 'API_KEY_REVOKED'));
    expect(await answersOf(other, text)).toEqual(ADMITTED);
    nowMs += REFUSED_EVERYWHERE_WITHIN_MS;
    expect(await answersOf(other, text)).toEqual(REFUSED);
  });
});
