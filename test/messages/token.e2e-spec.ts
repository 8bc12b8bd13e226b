import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { watchTries } from '../support/watch-tries.js';
import { connectionAtSimulator, sendingWorkspace } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ simulator: { accessTokens: ['a-good-token'], statusGapMs: 20 } });
});

afterAll(() => test.stop());

it('a revoked token burns no message: the number is disconnected, and all go out with its new token', async () => {
  const workspace = await sendingWorkspace(test);
  const connection = await connectionAtSimulator(test, workspace.organizationId, { token: 'a-revoked-token' });
  const recipients = await Promise.all(
    Array.from({ length: 40 }, async () => (await test.factories.conversation({ connection })).phone),
  );
  const triesOf = await watchTries(test.database);
  const answers = await Promise.all(
    recipients.map((to) => workspace.send(to, { body: { connection_id: connection.id } })),
  );
  const taken = answers.filter((answer) => answer.status === 202).map((answer) => answer.body.data.id as string);
  // Those that came after the platform's refusal got it at once.
  expect(answers.filter(({ status }) => status !== 202 && status !== 409).map(({ body }) => body)).toEqual([]);
  expect(taken.length).toBeGreaterThan(0);
  const shown = async () =>
    (await workspace.api.get('/connections')).body.data.find((each: { id: string }) => each.id === connection.id);
  await waitFor(async () => (await shown()).status === 'disconnected', { what: 'the number to be disconnected' });
  const refused = await workspace.send(recipients[0] ?? '', { body: { connection_id: connection.id } });
  expect([refused.status, refused.body.error]).toEqual([
    409,
    expect.objectContaining({ code: 'CONNECTION_NOT_READY', status: 'disconnected' }),
  ]);
  await waitFor(async () => (await statesOf(taken)).every((status) => status === 'queued'));
  const before = await attempts(taken);
  // What another number sends later would come after further attempts, if there were any.
  const other = await connectionAtSimulator(test, workspace.organizationId, { token: 'a-good-token' });
  const { phone } = await test.factories.conversation({ connection: other });
  const later = await workspace.send(phone, { body: { connection_id: other.id } });
  await workspace.reaches(later.body.data.id as string, 'read');
  expect(await attempts(taken)).toBe(before);
  expect(new Set(await statesOf(taken))).toEqual(new Set(['queued']));
  expect(test.simulator.messages.list({ to: recipients[0] ?? '' })).toEqual([]);

  await test.app.get(ConnectionsService, { strict: false }).add({
    organizationId: workspace.organizationId,
    phoneNumberId: connection.phoneNumberId,
    wabaId: connection.wabaId,
    phoneNumber: connection.phoneNumber,
    token: 'a-good-token',
  });
  // At once: the lane would have rested for up to a minute.
  const lanes = await test.database.query('select pause_count, paused_until from lane where key = $1', [connection.id]);
  expect(lanes).toEqual([{ pause_count: 0, paused_until: null }]);
  await waitFor(async () => (await statesOf(taken)).every((status) => status === 'read'), { what: 'all to be read' });
  // One attempt more of each, and none while the number was disconnected.
  expect(await attempts(taken)).toBe(before + taken.length);
  const sent = recipients.flatMap((to) => test.simulator.messages.list({ to }));
  expect(sent).toHaveLength(taken.length);
  for (const id of taken) expect(await triesOf(id)).toBe(0);
});

async function statesOf(ids: readonly string[]): Promise<string[]> {
  const rows = await test.database.query<{ status: string }>('select status from message_view where id = any($1)', [
    ids,
  ]);
  return rows.map((row) => row.status);
}

async function attempts(ids: readonly string[]): Promise<number> {
  const rows = await test.database.query('select 1 from message_attempt_view where message_id = any($1)', [ids]);
  return rows.length;
}
