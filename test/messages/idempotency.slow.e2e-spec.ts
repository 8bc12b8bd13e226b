import { newId } from '../../src/common/ids.js';
import type { ApiClient } from '../support/api-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
/** Another process on the same database. */
let other: TestApp;
let workspace: SendingWorkspace;
/** Of the same workspace, at the other process. */
let otherApi: ApiClient;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  other = await startTestApp({ roles: ['api'], shareWith: test });
  workspace = await sendingWorkspace(test);
  const { text } = await test.factories.apiKey({ organizationId: workspace.organizationId });
  otherApi = other.api.as(text);
});

afterAll(async () => {
  await other?.stop();
  await test?.stop();
});

function sentTo(phone: string): number {
  return test.simulator.messages.list({ to: phone }).length;
}

describe('one Idempotency-Key', () => {
  it('in 200 simultaneous requests to two processes makes one message and 200 equal answers', async () => {
    const to = await workspace.contact();
    const key = newId();
    const message = { connection_id: workspace.connection.id, to, type: 'text', text: { body: 'hello' } };
    const headers = { 'idempotency-key': key };
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_unused, index) =>
        (index % 2 === 0 ? workspace.api : otherApi).post('/messages', message, { headers }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    const first = answers.filter((answer) => answer.headers.get('idempotency-replayed') === null);
    expect(first).toHaveLength(1);
    await workspace.reaches(answers[0]?.body.data.id as string, 'read');
    expect(sentTo(to)).toBe(1);
    expect((await workspace.api.get(`/messages?to=${to}`)).body.data).toHaveLength(1);
  });
});
