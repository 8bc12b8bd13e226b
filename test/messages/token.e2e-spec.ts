import { Sweeps } from '../../src/infrastructure/lanes/sweeps.js';
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
    Array.from({ length: 80 }, async () => (await test.factories.conversation({ connection })).phone),
  );
  const triesOf = await watchTries(test.database);
  const answers = await Promise.all(
    recipients.map((to) => workspace.send(to, { body: { connection_id: connection.id } })),
  );
  const taken = answers.filter((answer) => answer.status === 202).map((answer) => answer.body.data.id as string);
  // Those that came after the platform's refusal got it at once.
  for (const answer of answers) expect([202, 409]).toContain(answer.status);
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
  // A look for due lanes begins no further attempt: another number's message that is due goes out meanwhile.
  await test.app.get(Sweeps, { strict: false }).runNow('send_due');
  const good = await connectionAtSimulator(test, workspace.organizationId, { token: 'a-good-token' });
  const { phone } = await test.factories.conversation({ connection: good });
  const beside = await workspace.send(phone, { body: { connection_id: good.id } });
  await workspace.reaches(beside.body.data.id as string, 'read');
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
  await waitFor(async () => (await statesOf(taken)).every((status) => status === 'read'), {
    what: 'all to be read',
  });
  const sent = recipients.flatMap((to) => test.simulator.messages.list({ to }));
  expect(sent).toHaveLength(taken.length);
  for (const id of taken) expect(await triesOf(id)).toBe(0);
}, 90_000);

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
