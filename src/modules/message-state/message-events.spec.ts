import { newId } from '../../common/ids.js';
import { secondsAgo } from '../../../test/messages/platform-reports.js';
import { eventsOf } from '../../../test/support/webhook-events.js';
import {
  opened,
  statuses,
  outcomes,
  sweeps,
  factories,
  connection,
  listeningConnection,
  make,
  outcome,
  UNKNOWN,
  report,
  rowOf,
  statusesOf,
  runOut,
} from '../../../test/support/fixtures/message-events.js';

describe('an outcome', () => {
  it('that is accepted has the event that the contract describes', async () => {
    const made = await make('processing');
    await outcomes.record(outcome(made));
    const { accepted_at: acceptedAt } = (await rowOf(made.id)) as unknown as { accepted_at: Date };
    const [event, ...others] = await eventsOf(opened.database, made.id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'message.status.updated',
      organization_id: connection.organizationId,
      occurred_at: acceptedAt,
    });
    expect(event?.data).toEqual({
      message_id: made.id,
      client_message_id: `order-${made.to}`,
      connection_id: connection.id,
      conversation_id: null,
      type: 'text',
      tag: null,
      metadata: null,
      to: made.to,
      recipient: null,
      status: 'accepted',
      previous_status: 'processing',
      occurred_at: acceptedAt.toISOString(),
      attempt: 1,
      failure_category: null,
      error: null,
      pricing: null,
      sequence: 1,
    });
  });

  it.each([
    [
      { platformCode: 131009, platformMessage: 'Bad value' },
      { code: '131009', message: 'Bad value' },
    ],
    [{ platformMessage: 'The file is gone.' }, { code: 'UNKNOWN', message: 'The file is gone.' }],
    [{ platformCode: 131009 }, { code: '131009', message: '' }],
  ])('that is a refusal has the reason: %j', async (said, error) => {
    const made = await make('processing');
    const refused = { status: 'failed', category: 'media_error', ...said } as const;
    await outcomes.record(outcome(made, refused));
    const [event] = await eventsOf(opened.database, made.id);
    expect(event?.data).toMatchObject({ status: 'failed', failure_category: 'media_error', error });
  });

  it('that is unknown has one event, and so has its resolution', async () => {
    const made = await make('processing');
    await outcomes.record(outcome(made, UNKNOWN));
    await outcomes.record(outcome(made, UNKNOWN));
    await outcomes.record(outcome(made));
    await outcomes.record(outcome(made));
    const events = await eventsOf(opened.database, made.id);
    expect(events.map(({ data }) => [data.previous_status, data.status, data.sequence])).toEqual([
      ['processing', 'outcome_unknown', 1],
      ['outcome_unknown', 'accepted', 2],
    ]);
    expect(Date.parse(String(events[0]?.data.occurred_at))).toBeGreaterThan(Date.now() - 60_000);
  });

  it.each([
    ['puts the message back', { status: 'queued', delayMs: 1_000, tries: 1 }],
    ['belongs to an attempt that a retry has replaced', { attemptId: newId() }],
  ] as const)('that %s is no event', async (_name, change) => {
    const made = await make('processing');
    await outcomes.record(outcome(made, change));
    expect(await eventsOf(opened.database, made.id)).toEqual([]);
    expect(await rowOf(made.id)).toMatchObject({ event_count: 0 });
  });

  it('is undone together with its event', async () => {
    const made = await make('processing');
    await opened.database.execute('alter table webhook_event rename to webhook_event_away');
    try {
      await expect(outcomes.record(outcome(made))).rejects.toThrow();
      await expect(statuses.apply(report(made, 'sent'))).rejects.toThrow();
    } finally {
      await opened.database.execute('alter table webhook_event_away rename to webhook_event');
    }
    expect(await rowOf(made.id)).toMatchObject({ status: 'processing', event_count: 0 });
    await outcomes.record(outcome(made));
    expect(statusesOf(await eventsOf(opened.database, made.id))).toEqual(['accepted']);
  });
});

describe('a report', () => {
  it('has an event with the platform’s time; several in one batch have one each', async () => {
    const made = await make('accepted');
    await Promise.all([
      statuses.apply(report(made, 'sent', { occurredAt: secondsAgo(9) })),
      statuses.apply(report(made, 'sent', { occurredAt: secondsAgo(9) })),
      statuses.apply(report(made, 'delivered', { occurredAt: secondsAgo(8) })),
      statuses.apply(report(made, 'read', { occurredAt: secondsAgo(7) })),
      statuses.apply(report(made, 'delivered', { occurredAt: secondsAgo(5) })),
    ]);
    const events = await eventsOf(opened.database, made.id);
    const changes = events.map(({ data }) => [data.previous_status, data.status, data.occurred_at, data.sequence]);
    expect(changes).toEqual([
      ['accepted', 'sent', secondsAgo(9).toISOString(), 1],
      ['sent', 'delivered', secondsAgo(8).toISOString(), 2],
      ['delivered', 'read', secondsAgo(7).toISOString(), 3],
    ]);
    expect(events[0]?.data).toMatchObject({ message_id: made.id, to: made.to, attempt: 1, error: null });
  });

  it('of a failure has the reason', async () => {
    const made = await make('sent');
    await statuses.apply(report(made, 'failed'));
    const [event] = await eventsOf(opened.database, made.id);
    expect(event?.data).toMatchObject({
      status: 'failed',
      previous_status: 'sent',
      failure_category: 'recipient_unreachable',
      error: { code: '131026', message: 'Not on WhatsApp' },
    });
  });

  it('that changes nothing is no event', async () => {
    const made = await make('read');
    await statuses.apply(report(made, 'delivered'));
    await statuses.apply(report(made, 'failed'));
    expect(await eventsOf(opened.database, made.id)).toEqual([]);
  });
});

describe('a sweep', () => {
  it('reports a lease that ran out', async () => {
    const made = await make('processing');
    await runOut(made);
    const [event] = await eventsOf(opened.database, made.id);
    expect(event?.data).toMatchObject({
      status: 'outcome_unknown',
      previous_status: 'processing',
      attempt: 1,
      error: null,
    });
  });

  it('reports a message that waited for too long', async () => {
    const made = await make('queued', connection, 26 * 3_600);
    await sweeps.expireQueued(100);
    const [event] = await eventsOf(opened.database, made.id);
    expect(event?.data).toMatchObject({
      status: 'failed',
      previous_status: 'queued',
      attempt: 0,
      failure_category: 'expired',
      error: { code: 'EXPIRED' },
      sequence: 1,
    });
  });
});

describe('without an endpoint that wants them', () => {
  it('events are counted but not kept', async () => {
    const { id: organizationId } = await factories.workspace();
    const at = await factories.connection({ organizationId });
    const made = await make('processing', at);
    await outcomes.record(outcome(made));
    await statuses.apply(report(made, 'read', { connectionId: at.id }));
    expect(await eventsOf(opened.database, made.id)).toEqual([]);
    expect(await rowOf(made.id)).toMatchObject({ status: 'read', event_count: 2 });
  });

  it('events of a workspace that has had one are recorded, and wait for nothing', async () => {
    const at = await listeningConnection(['message.received']);
    const chosenByNone = await make('processing', at);
    await outcomes.record(outcome(chosenByNone));
    await opened.database.execute('update webhook_endpoint set deleted_at = now() where organization_id = $1', [
      at.organizationId,
    ]);
    await statuses.apply(report(chosenByNone, 'read', { connectionId: at.id }));
    const events = await eventsOf(opened.database, chosenByNone.id);
    expect(statusesOf(events)).toEqual(['accepted', 'read']);
    for (const event of events) {
      expect(event).toMatchObject({ status: 'recorded', endpoint_id: null, due_at: null });
    }
  });
});
