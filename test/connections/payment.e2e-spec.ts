import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { changeOf, entries, notify, secondsNow, statusOf } from '../inbound/fixture.js';
import { sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { runInProcess } from '../support/run-in-process.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});
afterAll(() => test.stop());
beforeEach(async () => {
  workspace = await sendingWorkspace(test);
});

const shown = async () => (await workspace.api.get('/connections')).body.data[0] as Record<string, unknown>;

async function pauseReason(): Promise<string | null> {
  const rows = await test.database.query<{ pause_reason: string | null }>(
    'select pause_reason from lane where key = $1',
    [workspace.connection.id],
  );
  return rows[0]?.pause_reason ?? null;
}

async function change(body: object): Promise<void> {
  const response = await fetch(`${test.simulatorUrl}/_simulator/numbers/${workspace.connection.phoneNumberId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}

const make = () => test.factories.message({ connection: workspace.connection, status: 'accepted' });

async function report(value: object): Promise<void> {
  const { connection } = workspace;
  // Twice, as the platform may.
  for (let n = 0; n < 2; n++) {
    await notify(test, entries([{ id: connection.wabaId, changes: [changeOf(connection, value)] }]));
  }
}

const failed = (code: number) => ({ errors: [{ code, title: 'Refused', error_data: { details: 'Why' } }] });
const charged = { pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' } };

it('a missing payment method is a state of the number, a metric and a line of doctor, until something charged goes out', async () => {
  await change({ free_service_messages: 0, payment: 'MISSING' });
  const id = await workspace.sendText(await workspace.contact());
  expect(await workspace.reaches(id, 'failed')).toMatchObject({
    failure_category: 'account_restricted',
    error: { code: '131042' },
  });
  await waitFor(async () => (await shown()).status_reason === 'payment_missing');
  expect(await shown()).toMatchObject({ status: 'restricted' });
  expect(await pauseReason()).toBe('account_restricted (131042)');
  const findings = JSON.parse(
    await runInProcess(['doctor', '--json'], { DATABASE_URL: test.databaseUrl, DATA_DIR: test.dataDir }),
  ) as { check: string; status: string; detail: string }[];
  expect(findings.find(({ check }) => check === 'payment')).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining(workspace.connection.id),
  });
  await waitFor(async () => {
    const metrics = await (await fetch(`${test.baseUrl}/metrics`)).text();
    return /^herald_connections_payment_missing [1-9]/m.test(metrics);
  });

  // Repaired: what goes out next says so, once the number has rested.
  await change({ payment: 'VALID' });
  const next = await workspace.sendText(await workspace.contact());
  await workspace.reaches(next, 'read');
  await waitFor(async () => (await shown()).status === 'connected');
  expect(await shown()).toMatchObject({ status_reason: null });
});

it('the first service message that is charged is told once a month', async () => {
  expect(await shown()).toMatchObject({ service_charged_since: null });
  const message = await make();
  const pricing = { billable: true, type: 'regular', category: 'service' };
  await report({ statuses: [statusOf(message, 'sent', { pricing })] });
  const { service_charged_since: since } = await shown();
  expect(since).toMatch(/^20.*Z$/);
  await report({ statuses: [statusOf(message, 'delivered', { pricing, timestamp: String(secondsNow()) })] });
  expect((await shown()).service_charged_since).toBe(since);
});

it.each([131042, 131048])(
  '%i, reported of one message, rests the number, and so does it without a message',
  async (code) => {
    const message = await make();
    await report({ statuses: [statusOf(message, 'failed', failed(code))] });
    expect(await pauseReason()).toBe(`account_restricted (${code})`);
    workspace = await sendingWorkspace(test);
    await report({ errors: [{ code, title: 'Refused' }] });
    expect(await pauseReason()).toBe(`account_restricted (${code})`);
  },
);

it('a failure of before the end of the last pause does not make the next one longer', async () => {
  const { id } = workspace.connection;
  await test.app.get(LaneRepository, { strict: false }).pause(id, 'rate_limited');
  await test.database.execute('update lane set paused_until = clock_timestamp() where key = $1', [id]);
  const timestamp = String(secondsNow() - 30);
  await report({ statuses: [statusOf(await make(), 'failed', { ...failed(131048), timestamp })] });
  const lane = await test.database.row('select pause_count, pause_reason from lane where key = $1', [id]);
  expect(lane).toEqual({ pause_count: 1, pause_reason: 'rate_limited' });
});

it('a report of long ago rests nothing, and one of before a payment went out says nothing', async () => {
  const long = String(secondsNow() - 3_600);
  await report({ statuses: [statusOf(await make(), 'failed', { ...failed(131048), timestamp: long })] });
  expect(await pauseReason()).toBeNull();
  await report({ statuses: [statusOf(await make(), 'failed', failed(131042))] });
  expect(await shown()).toMatchObject({ status_reason: 'payment_missing' });
  await report({ statuses: [statusOf(await make(), 'sent', { ...charged, timestamp: long })] });
  expect(await shown()).toMatchObject({ status_reason: 'payment_missing' });
  await report({ statuses: [statusOf(await make(), 'sent', { ...charged, timestamp: String(secondsNow() + 1) })] });
  expect(await shown()).toMatchObject({ status: 'connected', status_reason: null });
});

it.each([
  [131050, 'opted_out'],
  [131070, 'not_conversation_owner'],
  [131061, 'template_unavailable'],
  [131065, 'invalid_content'],
])('%i is %s, by notification, and rests no number', async (code, failure_category) => {
  const message = await make();
  await report({ statuses: [statusOf(message, 'failed', failed(code))] });
  expect(await workspace.message(message.id)).toMatchObject({ status: 'failed', failure_category });
  expect(await pauseReason()).toBeNull();
});
