import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

const retry = (id: string, body?: unknown, headers: Record<string, string> = {}) =>
  workspace.api.post(`/messages/${id}/retry`, body, { headers });

/** A message in a state that it reached long ago. */
async function messageIn(status: 'failed' | 'outcome_unknown' | 'sent' | 'read' | 'delivered' | 'accepted') {
  const to = await workspace.contact();
  const { id } = await test.factories.message({ connection: workspace.connection, status, recipient: to });
  return { id, to };
}

describe('202', () => {
  it('queues a failed message again, which goes out; the attempts keep the history', async () => {
    const { id, to } = await messageIn('failed');
    const response = await retry(id);
    expect(response.status).toBe(202);
    expect(response.body.data).toMatchObject({
      id,
      status: 'queued',
      failure_category: null,
      error: null,
      failed_at: null,
    });
    const message = await workspace.reaches(id, 'read');
    expect(message).toMatchObject({ attempt_count: 2, attempts: [{ status: 'rejected' }, { status: 'accepted' }] });
    expect(test.simulator.messages.list({ to })).toHaveLength(1);
  });

  it('clears the times of the earlier attempt', async () => {
    const to = await workspace.contact('0002');
    const id = await workspace.sendAnswered(to);
    const failed = await workspace.reaches(id, 'failed');
    expect(failed.accepted_at).not.toBeNull();
    const response = await retry(id);
    expect(response.body.data).toMatchObject({
      processing_at: null,
      accepted_at: null,
      sent_at: null,
      delivered_at: null,
      read_at: null,
      failed_at: null,
    });
    expect(response.body.data.queued_at > failed.queued_at).toBe(true);
  });

  it('sends again what may have been sent, once it is confirmed', async () => {
    const { id } = await messageIn('outcome_unknown');
    const refused = await retry(id);
    expect([refused.status, refused.body.error.code, refused.body.error.status]).toEqual([
      409,
      'OUTCOME_UNKNOWN_NOT_CONFIRMED',
      'outcome_unknown',
    ]);
    expect((await retry(id, { confirm_outcome_unknown: false })).status).toBe(409);
    expect((await retry(id, { confirm_outcome_unknown: true })).status).toBe(202);
    await workspace.reaches(id, 'read');
  });

  it('takes the confirmation for a failed message too', async () => {
    const { id } = await messageIn('failed');
    expect((await retry(id, { confirm_outcome_unknown: true })).status).toBe(202);
  });

  it('of one Idempotency-Key queues once, however often and at once it is asked', async () => {
    const { id, to } = await messageIn('failed');
    const key = newId();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => retry(id, undefined, { 'idempotency-key': key })),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
    await workspace.reaches(id, 'read');
    const late = await retry(id, undefined, { 'idempotency-key': key });
    expect([late.status, late.headers.get('idempotency-replayed'), late.body.data.status]).toEqual([
      202,
      'true',
      'read',
    ]);
    expect(test.simulator.messages.list({ to })).toHaveLength(1);
    const { id: other } = await messageIn('failed');
    const reused = await retry(other, undefined, { 'idempotency-key': key });
    expect([reused.status, reused.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('of twenty at once without a key queues once', async () => {
    const { id, to } = await messageIn('failed');
    const answers = await Promise.all(Array.from({ length: 20 }, () => retry(id)));
    expect(answers.filter((answer) => answer.status === 202)).toHaveLength(1);
    await workspace.reaches(id, 'read');
    expect(test.simulator.messages.list({ to })).toHaveLength(1);
  });
});

describe('400', () => {
  it.each([
    [{ confirm_outcome_unknown: 'yes' }, 'confirm_outcome_unknown', 'type'],
    [{ force: true }, 'force', 'unknown_field'],
    [[], '', 'type'],
  ])('for the body %j', async (body, field, rule) => {
    const { id } = await messageIn('failed');
    const response = await retry(id, body);
    expect([response.status, response.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(response.body.error.details).toEqual([expect.objectContaining({ field, rule })]);
  });

  it('for an Idempotency-Key that is no UUID', async () => {
    const { id } = await messageIn('failed');
    for (const key of ['x', '']) {
      const response = await retry(id, undefined, { 'idempotency-key': key });
      expect([response.status, response.body.error.code]).toEqual([400, 'IDEMPOTENCY_KEY_INVALID']);
    }
  });
});

describe('402, 404, 409', () => {
  it('without a subscription', async () => {
    const world = await sendingWorkspace(test);
    const to = await world.contact();
    const { id } = await test.factories.message({ connection: world.connection, status: 'failed', recipient: to });
    await test.database.execute('update organization set api_paid_until = null where id = $1', [world.organizationId]);
    const response = await world.api.post(`/messages/${id}/retry`);
    expect([response.status, response.body.error.code]).toEqual([402, 'SUBSCRIPTION_REQUIRED']);
  });

  it('for an unknown id', async () => {
    const response = await retry(newId());
    expect([response.status, response.body.error.code]).toEqual([404, 'MESSAGE_NOT_FOUND']);
  });

  it.each(['accepted', 'sent', 'delivered', 'read'] as const)('for a message that is %s', async (status) => {
    const { id } = await messageIn(status);
    const response = await retry(id);
    expect([response.status, response.body.error.code, response.body.error.status]).toEqual([
      409,
      'MESSAGE_NOT_RETRYABLE',
      status,
    ]);
  });

  it('for an inbound message', async () => {
    const { id } = await test.factories.message({ connection: workspace.connection, status: 'received' });
    const response = await retry(id);
    expect([response.status, response.body.error.code]).toEqual([409, 'MESSAGE_NOT_RETRYABLE']);
  });

  it('when the window has closed since, as 409 instead of 422', async () => {
    const { phone } = await test.factories.conversation({
      connection: workspace.connection,
      lastInboundAt: new Date(Date.now() - 25 * 3_600_000),
    });
    const { id } = await test.factories.message({
      connection: workspace.connection,
      status: 'failed',
      recipient: phone,
    });
    const response = await retry(id);
    expect([response.status, response.body.error.code]).toEqual([409, 'SERVICE_WINDOW_CLOSED']);
    expect(await workspace.message(id)).toMatchObject({ status: 'failed' });
  });

  it('when the number is disconnected', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, { status: 'disconnected' });
    const { phone } = await test.factories.conversation({ connection });
    const { id } = await test.factories.message({ connection, status: 'failed', recipient: phone });
    const response = await retry(id);
    expect([response.status, response.body.error.code]).toEqual([409, 'CONNECTION_NOT_READY']);
  });
});
