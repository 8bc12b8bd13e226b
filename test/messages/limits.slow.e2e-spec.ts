import { newId } from '../../src/common/ids.js';
import type { ApiClient } from '../support/api-client.js';
import { beginTransaction } from '../support/open-transaction.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { type Limits, limitedWorkspace, post } from './limited-workspace.js';

let test: TestApp;
const others: TestApp[] = [];

beforeAll(async () => {
  test = await startTestApp();
  for (let i = 0; i < 2; i++) others.push(await startTestApp({ roles: ['api'], shareWith: test }));
});
afterAll(async () => {
  for (const other of others) await other.stop();
  await test?.stop();
});

const limited = (limits: Limits) => limitedWorkspace(test, limits);

const stored = (organizationId: string) =>
  test.database
    .query<{ n: number }>(
      `select count(*)::integer as n from message where organization_id = $1 and direction = 'outbound'`,
      [organizationId],
    )
    .then(([row]) => row?.n);

describe('a limit of messages a day', () => {
  it('of 100 takes 100 of many concurrent callers on several processes', async () => {
    const workspace = await limited({ perDay: 100 });
    const apis = [test, ...others].map((app) => app.api.as(workspace.key));
    const contacts = await Promise.all(Array.from({ length: 10 }, () => workspace.contact()));
    let next = 0;
    const statuses = new Map<number, number>();
    const caller = async () => {
      for (let n = next++; n < 200; n = next++) {
        const api = apis[n % apis.length] as ApiClient;
        const { status } = await post(api, workspace, contacts[n % contacts.length] ?? '', {}, newId());
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 50 }, caller));
    expect(Object.fromEntries(statuses)).toEqual({ 202: 100, 429: 100 });
    expect(await stored(workspace.organizationId)).toBe(100);
  });
});

it('retries of a workspace that is locked keep few connections; another workspace sends and reads meanwhile', async () => {
  const [locked, other] = [await limited({ perDay: 100 }), await limited({ perDay: 100 })];
  const send_at = new Date(Date.now() + 3_600_000).toISOString();
  const ids: string[] = [];
  for (let n = 0; n < 14; n++) {
    ids.push((await locked.send(await locked.contact(), { body: { send_at } })).body.data.id as string);
  }
  for (const id of ids) await locked.api.post(`/messages/${id}/cancel`);
  const contact = await other.contact();
  const holder = await beginTransaction(test.databaseUrl);
  const retries: Promise<unknown>[] = [];
  try {
    await holder.query('select from organization where id = $1 for no key update', [locked.organizationId]);
    // Not by the holder: in its transaction the answer would stay as it was first.
    const waiting = () =>
      test.database.count(
        `select count(*)::integer as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
    retries.push(...ids.map((id) => locked.api.post(`/messages/${id}/retry`)));
    await waitFor(async () => (await waiting()) === 2, { what: 'retries that wait for the lock' });
    const sent = await Promise.all(Array.from({ length: 8 }, () => other.send(contact)));
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 202));
    expect((await other.api.get(`/messages/${sent[0]?.body.data.id as string}`)).status).toBe(200);
    expect(await waiting()).toBe(2);
  } finally {
    await holder.end();
  }
  await Promise.all(retries);
});
