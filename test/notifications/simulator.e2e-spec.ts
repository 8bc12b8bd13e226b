import { sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { inboundOf } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp();
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

async function sendTo(lastDigits: string): Promise<string> {
  return workspace.sendText(await workspace.contact(lastDigits));
}

describe('what the platform tells about a message', () => {
  it('resolves the doubt where the answer was lost: one attempt, one message on the wire', async () => {
    const to = await workspace.contact('0005');
    const id = await workspace.sendText(to);
    const message = await workspace.reaches(id, 'read');
    expect(message).toMatchObject({ attempt_count: 1, attempts: [{ status: 'accepted', http_status: null }] });
    expect(message.meta_message_id).toMatch(/^wamid\./);
    expect(test.simulator.messages.list({ to })).toHaveLength(1);
  });

  it('is believed whatever comes first: twice, in reverse order, before the answer', async () => {
    const message = await workspace.reaches(await sendTo('0008'), 'read');
    expect(message).toMatchObject({ attempt_count: 1, read_at: expect.any(String), failed_at: null });
    expect(message.meta_message_id).toMatch(/^wamid\./);
  });

  it('may skip the delivery', async () => {
    const message = await workspace.reaches(await sendTo('0009'), 'read');
    expect(message).toMatchObject({ delivered_at: null });
  });

  it.each([
    ['0002', 'recipient_unreachable', '131026'],
    ['0011', 'service_window_closed', '131047'],
  ])('may be a failure after the acceptance (%s)', async (lastDigits, category, code) => {
    const id = await workspace.sendAnswered(await workspace.contact(lastDigits));
    const message = await workspace.reaches(id, 'failed');
    expect(message).toMatchObject({
      failure_category: category,
      error: { code },
      attempts: [{ status: 'accepted', platform_code: Number(code), failure_category: category }],
    });
    expect(message.accepted_at).not.toBeNull();
  });

  it('is a customer’s answer, too', async () => {
    const to = await workspace.contact('0012');
    await workspace.reaches(await workspace.sendText(to), 'read');
    const answers = await waitFor(async () => {
      const found = await inboundOf(test, workspace.connection);
      return found.length > 0 && found;
    });
    expect(answers).toEqual([expect.objectContaining({ type: 'text', sender: to, status: 'received' })]);
  });
});
