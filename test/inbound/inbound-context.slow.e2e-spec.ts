import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

const PHONE = '5511988887777';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp({ simulator: { enforceWindow: true, statusGapMs: 20 } });
});
afterAll(() => app?.stop());

describe('a call', () => {
  it('can be played at the simulator', async () => {
    const caller = await app.sender();
    const inbound = { phone_number_id: caller.connection.phoneNumberId, from: PHONE, call: true };
    const answer = await fetch(`${app.simulatorUrl}/_simulator/inbound`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(inbound),
    });
    expect(answer.status).toBe(200);
    const body = { connection_id: caller.connection.id, to: PHONE, type: 'text', text: { body: 'You called?' } };
    const id = await waitFor(async () => {
      const sent = await caller.api.post('/messages', body, { headers: { 'idempotency-key': newId() } });
      return sent.status === 202 && (sent.body.data.id as string);
    });
    await waitFor(async () => (await caller.api.get(`/messages/${id}`)).body.data.status === 'read');
  });
});
