import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { eventsOf, listenFor } from '../support/webhook-events.js';
import { connectionAtSimulator, sendingWorkspace } from './fixture.js';
import { approvedTemplate, templateBody } from './platform-templates.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
});

afterAll(() => test.stop());

interface Sent {
  to: string;
  status: number;
  code: string | undefined;
  templateStatus: unknown;
  id: string;
}

it('while a template is paused, approved again and deleted, each message is sent once or fails for that reason', async () => {
  const workspace = await sendingWorkspace(test);
  // Slow, so that messages are on their way when the platform changes its mind.
  workspace.connection = await connectionAtSimulator(test, workspace.organizationId, { throughputPerSecond: 20 });
  await listenFor(test.database, workspace.organizationId);
  const template = await approvedTemplate(test, workspace, {
    name: 'campaign',
    components: [{ type: 'BODY', text: 'Everything must go.' }],
  });
  const answers: Sent[] = [];
  const send = async (): Promise<Sent> => {
    const to = testPhone();
    const response = await workspace.send(to, {
      body: { ...templateBody('campaign'), connection_id: workspace.connection.id },
    });
    const { code, template_status: templateStatus } = response.body.error ?? {};
    const answer = { to, status: response.status, code, templateStatus, id: response.body.data?.id as string };
    answers.push(answer);
    return answer;
  };
  const until = (code: string | undefined) =>
    waitFor(async () => (await send()).code === code, { what: `an answer ${code ?? '202'}`, everyMs: 40 });

  await sendAndReview('PAUSED');
  await until('TEMPLATE_NOT_APPROVED');
  await waitFor(() => settled(), { what: 'the first messages to come to their end' });
  await template.review('REINSTATED');
  await until(undefined);
  await sendAndReview('DELETED');
  await until('TEMPLATE_NOT_FOUND');
  await waitFor(() => settled(), { what: 'all messages to come to their end' });

  const refused = answers.filter(({ status }) => status !== 202);
  for (const { status, code, templateStatus } of refused) {
    expect([status, code, templateStatus]).toEqual([
      422,
      expect.stringMatching(/^TEMPLATE_NOT_(APPROVED|FOUND)$/),
      code === 'TEMPLATE_NOT_APPROVED' ? 'paused' : undefined,
    ]);
  }
  const codes = new Map<string, number>();
  for (const { id, to } of answers.filter(({ status }) => status === 202)) {
    const message = await workspace.message(id);
    const outcome = message.status === 'failed' ? String(message.error.code) : String(message.status);
    codes.set(outcome, (codes.get(outcome) ?? 0) + 1);
    expect(['read', '132015', '132001']).toContain(outcome);
    expect(message.failure_category).toBe(outcome === 'read' ? null : 'template_unavailable');
    expect(test.simulator.messages.list({ to })).toHaveLength(outcome === 'read' ? 1 : 0);
    expect(message.attempt_count).toBe(1);
    const events = await eventsOf(test.database, id);
    expect(events.at(-1)?.data).toMatchObject({ status: message.status, failure_category: message.failure_category });
  }
  // Each of the three ends was met, or this test would prove nothing.
  expect([...codes.keys()].sort()).toEqual(['132001', '132015', 'read']);

  /** Sends; once one is sent and others definitely are not, the platform changes the template's status. */
  async function sendAndReview(event: string): Promise<void> {
    const early = await Promise.all(Array.from({ length: 15 }, send));
    await waitFor(() => early.some(({ to }) => test.simulator.messages.list({ to }).length > 0), {
      what: 'the first message to be sent',
    });
    const lanes = test.app.get(LaneRepository, { strict: false });
    await lanes.pause(workspace.connection.id, 'test', { leastMs: 60_000 });
    await Promise.all(Array.from({ length: 15 }, send));
    await template.review(event);
    await lanes.resume(workspace.connection.id);
  }

  async function settled(): Promise<boolean> {
    const rows = await test.database.query(
      `select 1 from message_view where connection_id = $1 and status not in ('read', 'failed')`,
      [workspace.connection.id],
    );
    return rows.length === 0;
  }
});
