import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import type { MessageTimeline as Timeline } from '../../clients/typescript/src/resources.js';
import { FAILURE_CATEGORIES, FAILURE_MEANINGS } from '../../src/common/failure-category.js';
import { newId } from '../../src/common/ids.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { SendingSweepsRepository } from '../../src/modules/sending/sweeps/sending-sweeps.repository.js';
import type { Receiver } from '../faults/webhook-receiver.js';
import { testPhone } from '../support/factories.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { delivered, startTimelineStage, told, type TimelineStage } from './timeline-stage.js';

let stage: TimelineStage;
let test: TestApp;
let receiver: Receiver;
let workspace: SendingWorkspace;

beforeAll(async () => {
  stage = await startTimelineStage();
  ({ test, receiver, workspace } = stage);
});
afterAll(() => stage?.stop());
afterEach(() => test.simulator.applyFaults({ statuses: 'on' }));

const movesOf = ({ data }: Timeline) =>
  data.map(({ event, status, attempt, source }) => [event, status, attempt, source]);

describe('the timeline of a sent message', () => {
  it('has each move until it was read, and the deliveries that told of it', async () => {
    const id = await workspace.sendAnswered(await workspace.contact());
    await workspace.reaches(id, 'read');
    const timeline = await delivered(workspace, id, 4);
    expect(movesOf(timeline)).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['attempt_started', 'processing', 1, 'herald'],
      ['attempt_accepted', 'accepted', 1, 'whatsapp'],
      ['sent', 'sent', 1, 'whatsapp'],
      ['delivered', 'delivered', 1, 'whatsapp'],
      ['read', 'read', 1, 'whatsapp'],
    ]);
    const times = timeline.data.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
    const log = (await workspace.api.get('/webhook/deliveries?limit=100')).body.data as {
      id: string;
      event_id: string;
    }[];
    const ids = timeline.data.flatMap(({ delivery_ids: of = [] }) => of);
    const events = ids.map((deliveryId) => log.find((delivery) => delivery.id === deliveryId)?.event_id);
    expect(new Set(events).size).toBe(4);
    const bodies = events.map((eventId) => JSON.parse(receiver.of(eventId ?? '')[0]?.body ?? '{}'));
    expect(bodies.map(({ data }) => [data.message_id, data.status])).toEqual(
      ['accepted', 'sent', 'delivered', 'read'].map((status) => [id, status]),
    );
    expect([timeline.explanation.responsible, timeline.explanation.retry, timeline.not_kept]).toEqual([
      null,
      { advised: false, not_before: null },
      [],
    ]);
  });

  it('says so where a message has more events than it names', async () => {
    const { connection, organizationId } = workspace;
    const { id } = await test.factories.message({ connection, status: 'read' });
    await test.database.execute(
      `insert into webhook_event (organization_id, type, data, occurred_at)
       select $1, 'message.status.updated', jsonb_build_object('message_id', $2::uuid, 'status', 'failed', 'attempt', n), clock_timestamp()
       from generate_series(1, 301) as n`,
      [organizationId, id],
    );
    const { data, not_kept: notKept } = await told(workspace, id);
    expect(data.filter(({ event }) => event === 'failed').map(({ attempt }) => attempt)).not.toContain(1);
    expect(notKept).toEqual([expect.stringContaining('last 300 webhook events')]);
  });

  it('of one that was refused at once: the code, its words, and who can mend it', async () => {
    const id = await workspace.sendText(await workspace.contact('0003'));
    await workspace.reaches(id, 'failed');
    const { data, explanation } = await delivered(workspace, id, 1);
    expect(data.at(-1)).toMatchObject({
      event: 'attempt_rejected',
      status: 'failed',
      source: 'whatsapp',
      platform_code: 131009,
      summary: expect.stringContaining('this message is always refused') as string,
    });
    expect(explanation).toEqual({
      summary: FAILURE_MEANINGS.invalid_content.summary,
      responsible: 'you',
      retry: { advised: false, not_before: null },
    });
  });

  it('of one that WhatsApp deferred and took at last', async () => {
    const id = await workspace.sendText(await workspace.contact('0004'));
    const lanes = test.app.get(LaneRepository, { strict: false });
    const wasRead = async () => {
      // Its number rests after each refusal.
      await lanes.resume(workspace.connection.id);
      return (await workspace.message(id)).status === 'read';
    };
    await waitFor(wasRead, { what: 'the message to be read' });
    const moves = movesOf(await told(workspace, id));
    expect(moves.slice(1, 7)).toEqual([
      ['attempt_started', 'processing', 1, 'herald'],
      ['attempt_deferred', 'queued', 1, 'whatsapp'],
      ['attempt_started', 'processing', 2, 'herald'],
      ['attempt_deferred', 'queued', 2, 'whatsapp'],
      ['attempt_started', 'processing', 3, 'herald'],
      ['attempt_accepted', 'accepted', 3, 'whatsapp'],
    ]);
  });

  it('of one that failed and was retried: what the retry cleared is told by the events', async () => {
    const id = await workspace.sendAnswered(await workspace.contact('0002'));
    await workspace.reaches(id, 'failed');
    const before = await delivered(workspace, id, 2);
    expect(before.data.at(-1)).toMatchObject({ event: 'failed', source: 'whatsapp', platform_code: 131026 });
    expect(before.explanation.responsible).toBe('recipient');
    test.simulator.applyFaults({ statuses: 'hold' });
    expect((await workspace.api.post(`/messages/${id}/retry`)).status).toBe(202);
    await workspace.reaches(id, 'accepted');
    const after = await delivered(workspace, id, 3);
    expect(movesOf(after)).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['attempt_started', 'processing', 1, 'herald'],
      ['attempt_accepted', 'accepted', 1, 'whatsapp'],
      ['failed', 'failed', 1, 'whatsapp'],
      ['retried', 'queued', undefined, 'api'],
      ['attempt_started', 'processing', 2, 'herald'],
      ['attempt_accepted', 'accepted', 2, 'whatsapp'],
    ]);
    expect(after.data[3]?.delivery_ids).toEqual(before.data.at(-1)?.delivery_ids);
  });

  it('of one that was scheduled and canceled', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await workspace.send(await workspace.contact(), { body: { send_at: sendAt } });
    const { id } = body.data as { id: string };
    const scheduled = await told(workspace, id);
    expect(scheduled.data.map(({ summary }) => summary)).toEqual([expect.stringContaining(sendAt) as string]);
    expect(scheduled.explanation.summary).toContain(`It leaves at about ${sendAt}`);
    expect((await workspace.api.post(`/messages/${id}/cancel`)).status).toBe(200);
    const canceled = await delivered(workspace, id, 1);
    expect(movesOf(canceled).at(-1)).toEqual(['canceled', 'failed', undefined, 'api']);
    expect(canceled.explanation).toEqual({
      summary: FAILURE_MEANINGS.canceled.summary,
      responsible: 'you',
      retry: { advised: false, not_before: null },
    });
  });

  it('keeps who retried and who canceled it: a caller, with the key, or its tag', async () => {
    const tag = `moves-${newId()}`;
    const { api } = workspace;
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await workspace.send(await workspace.contact('0002'), { body: { send_at, tag } });
    const { id } = body.data as { id: string };
    expect((await api.post(`/messages/${id}/cancel`)).status).toBe(200);
    const byTag = async (action: string, request?: object): Promise<void> => {
      expect((await api.post(`/tags/${tag}/${action}`, request)).status).toBe(202);
    };
    await byTag('retry', { category: 'canceled' });
    await waitFor(async () => (await workspace.message(id)).failure_category === 'recipient_unreachable', {
      what: 'the failure',
    });
    test.simulator.applyFaults({ statuses: 'hold' });
    expect((await api.post(`/messages/${id}/retry`)).status).toBe(202);
    await workspace.reaches(id, 'accepted');
    const { data } = await told(workspace, id);
    const [key] = await test.database.query<{ id: string }>('select id from api_key where organization_id = $1', [
      workspace.organizationId,
    ]);
    expect(data.filter(({ by }) => by !== undefined).map((entry) => [entry.event, entry.by, entry.api_key_id])).toEqual(
      [
        ['canceled', 'caller', key?.id],
        ['retried', 'tag', undefined],
        ['retried', 'caller', key?.id],
      ],
    );
    expect(data.filter(({ event }) => event === 'attempt_started')).toHaveLength(2);

    const waiting = await workspace.send(await workspace.contact(), { body: { send_at, tag } });
    const { id: second } = waiting.body.data as { id: string };
    await byTag('cancel');
    await workspace.reaches(second, 'failed');
    expect((await told(workspace, second)).data.at(-1)).toMatchObject({
      event: 'canceled',
      by: 'tag',
      summary: `You canceled it with POST /tags/${tag}/cancel, before it was sent.`,
    });
  });

  it('of one that was scheduled and sent', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await workspace.send(await workspace.contact(), { body: { send_at: sendAt } });
    const { id } = body.data as { id: string };
    // Its time has come.
    await test.database.execute(
      `update message_queue set held_until = clock_timestamp(), scheduled_for = clock_timestamp() where message_id = $1`,
      [id],
    );
    await test.database.execute('update message set send_at = clock_timestamp() where id = $1', [id]);
    await workspace.reaches(id, 'read');
    expect(movesOf(await told(workspace, id)).slice(0, 3)).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['released', undefined, undefined, 'herald'],
      ['attempt_started', 'processing', 1, 'herald'],
    ]);
  });

  it('of one that failed at its time and was retried, which is no release', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await workspace.send(await workspace.contact(), { body: { send_at: sendAt } });
    const { id } = body.data as { id: string };
    // Its time was long ago, and it is found now.
    await test.database.execute('update message set send_at = created_at where id = $1', [id]);
    await test.database.execute(
      `update message_queue set held_until = clock_timestamp(), scheduled_for = clock_timestamp() - interval '25 hours',
         expires_at = clock_timestamp() - interval '1 hour'
       where message_id = $1`,
      [id],
    );
    await workspace.reaches(id, 'failed');
    expect(movesOf(await told(workspace, id))).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['expired', 'failed', undefined, 'herald'],
    ]);
    expect((await workspace.api.post(`/messages/${id}/retry`)).status).toBe(202);
    await workspace.reaches(id, 'read');
    const moves = movesOf(await told(workspace, id)).filter(([name]) => name !== 'failed');
    expect(moves.slice(0, 4)).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['expired', 'failed', undefined, 'herald'],
      ['retried', 'queued', undefined, 'api'],
      ['attempt_started', 'processing', 1, 'herald'],
    ]);
  });

  it('of an unknown outcome, and after a report has settled it', async () => {
    test.simulator.applyFaults({ statuses: 'hold' });
    const id = await workspace.sendText(await workspace.contact('0005'));
    await workspace.reaches(id, 'outcome_unknown');
    const open = await told(workspace, id);
    expect(movesOf(open).at(-1)).toEqual(['attempt_unknown', 'outcome_unknown', 1, 'herald']);
    expect(open.explanation).toMatchObject({ responsible: 'whatsapp', retry: { advised: false, not_before: null } });
    expect(open.explanation.summary).toContain('You can send it again; the recipient may then get it twice.');
    await delivered(workspace, id, 1);
    test.simulator.applyFaults({ statuses: 'on' });
    await workspace.reaches(id, 'read');
    const settled = movesOf(await told(workspace, id)).map(([event]) => event);
    expect(settled).toEqual(expect.arrayContaining(['attempt_accepted', 'outcome_unknown', 'delivered', 'read']));
  });
});

describe('the explanation', () => {
  it.each(FAILURE_CATEGORIES)('of a failure by %s', async (failureCategory) => {
    const { connection } = workspace;
    const { id } = await test.factories.message({ connection, status: 'failed', failureCategory });
    const { explanation } = await told(workspace, id);
    const { summary, responsible, retryAfterMinutes } = FAILURE_MEANINGS[failureCategory];
    expect(explanation).toMatchObject({ summary, responsible, retry: { advised: retryAfterMinutes !== null } });
    expect(explanation.retry.not_before === null).toBe((retryAfterMinutes ?? 0) === 0);
  });

  it('of one that waits, of one whose time is over, and while claims are blocked', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, { status: 'disconnected' });
    const { id } = await test.factories.message({ connection, recipient: testPhone() });
    const waiting = await told(workspace, id);
    expect(movesOf(waiting)).toEqual([['queued', 'queued', undefined, 'api']]);
    expect(waiting.explanation).toMatchObject({ responsible: 'operator', retry: { advised: false } });
    expect(waiting.explanation.summary).toContain('cannot send');

    await test.database.execute(
      `update message_queue set expires_at = expires_at - interval '25 hours' where message_id = $1`,
      [id],
    );
    await test.app.get(SendingSweepsRepository, { strict: false }).expireQueued(100);
    const expired = await told(workspace, id);
    expect(movesOf(expired).at(-1)).toEqual(['expired', 'failed', undefined, 'herald']);
    expect(expired.explanation).toMatchObject({ responsible: 'operator', retry: { advised: true, not_before: null } });

    const { id: held } = await test.factories.message({
      connection: workspace.connection,
      recipient: testPhone(),
      nextAttemptAt: new Date(Date.now() + 3_600_000),
    });
    await test.database.execute(`update database_identity set identity = 'another'`);
    try {
      const { explanation } = await told(workspace, held);
      expect([explanation.responsible, explanation.summary]).toEqual([
        'operator',
        expect.stringContaining('herald restore') as string,
      ]);
    } finally {
      await test.database.execute(
        'update database_identity set identity = identity_of_database(), blocked_since = null',
      );
    }
  });
});

describe('what is not kept', () => {
  it('is said of contents and of earlier attempts', async () => {
    const { connection } = workspace;
    const { id } = await test.factories.message({
      connection,
      status: 'failed',
      failureCategory: 'platform_unavailable',
    });
    await test.database.execute('delete from message_content where message_id = $1', [id]);
    await test.database.execute(
      'update message_state set attempt_number = 3, attempt_count = 3 where message_id = $1',
      [id],
    );
    const { not_kept: notKept, explanation } = await told(workspace, id);
    expect(notKept).toEqual([
      expect.stringMatching(/^2 earlier attempts are not listed: .* 400 days\.$/),
      expect.stringMatching(/^Its content was removed/),
    ]);
    expect(explanation.retry.advised).toBe(false);
    expect(explanation.summary).toContain('It cannot be retried');
    const old = new Date(Date.now() - 31 * 86_400_000);
    const { id: older } = await test.factories.message({ connection, status: 'read', createdAt: old });
    expect((await told(workspace, older)).not_kept).toEqual([expect.stringContaining('kept for 30 days')]);
  });

  it('of an erased contact is when, unless there was one erasure since', async () => {
    const own = await sendingWorkspace(test);
    const recipient = testPhone();
    const { id } = await test.factories.message({ connection: own.connection, status: 'read', recipient });
    const erasure = test.app.get(Erasure);
    const before = Date.now();
    await erasure.erase(own.organizationId, recipient);
    const once = await told(own, id);
    const last = once.data.at(-1);
    expect(last).toMatchObject({ event: 'erased', source: 'operator' });
    expect(Math.abs(Date.parse(last?.at ?? '') - before)).toBeLessThan(600_000);
    expect(once.not_kept).toEqual([]);
    expect(JSON.stringify(once)).not.toContain(recipient);
    await erasure.erase(own.organizationId, testPhone());
    const twice = await told(own, id);
    expect(twice.data.map(({ event }) => event)).not.toContain('erased');
    expect(twice.not_kept).toEqual([expect.stringContaining('erased')]);
  });
});

describe('the timeline of a received message', () => {
  it('has its arrival, its delivery, and that you read it', async () => {
    const from = testPhone();
    const response = await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ phone_number_id: workspace.connection.phoneNumberId, from, message: 'Are you open?' }),
    });
    expect(response.ok).toBe(true);
    const id = await waitFor(
      async () => (await workspace.api.get(`/messages?from=${from}`)).body.data[0]?.id as string,
      { what: 'the message in the journal' },
    );
    const arrived = await delivered(workspace, id, 1);
    expect(movesOf(arrived)).toEqual([['received', 'received', undefined, 'whatsapp']]);
    expect(arrived.explanation.summary).toContain('not marked it as read');
    await workspace.api.post(`/messages/${id}/read`);
    const read = await told(workspace, id);
    expect(movesOf(read).at(-1)).toEqual(['read', undefined, undefined, 'api']);
    expect(read.explanation.retry).toEqual({ advised: false, not_before: null });
  });
});

describe('refusals', () => {
  it('an unknown id, a malformed one, another workspace’s, and a key without the scope', async () => {
    const { id } = await test.factories.message({ connection: workspace.connection, status: 'read' });
    const stranger = await sendingWorkspace(test);
    const codeOf = async (path: string, api = workspace.api) => {
      const { status, body } = await api.get(path);
      return [status, body.error?.code];
    };
    expect(await codeOf(`/messages/${newId()}/timeline`)).toEqual([404, 'MESSAGE_NOT_FOUND']);
    expect(await codeOf('/messages/nonsense/timeline')).toEqual([404, 'MESSAGE_NOT_FOUND']);
    expect(await codeOf(`/messages/${id}/timeline`, stranger.api)).toEqual([404, 'MESSAGE_NOT_FOUND']);
    const { organizationId } = workspace;
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['messages:write'] });
    expect(await codeOf(`/messages/${id}/timeline`, test.api.as(text))).toEqual([403, 'SCOPE_REQUIRED']);
    expect(await codeOf(`/messages/${id}/timeline?limit=3`)).toEqual([400, 'INVALID_REQUEST']);
  });
});
