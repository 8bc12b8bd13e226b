import { factsOf } from '../../../../test/support/facts.js';
import { newId } from '../../../common/ids.js';
import { attemptRow } from '../../../../test/messages/attempt-row.js';
import { secondsAgo, type Reported } from '../../../../test/messages/platform-reports.js';
import { beside } from '../../../../test/support/beside.js';
import {
  opened,
  statuses,
  outcomes,
  connection,
  make,
  report,
  row,
  occurrences,
  UNKNOWN,
  accepted,
} from '../../../../test/support/fixtures/status-reports.js';
import { OUTBOUND_STATUSES } from '../../message-state/message-state.types.js';
import { MessagesMaintenanceRepository } from '../maintenance/messages-maintenance.repository.js';
import { SendingSweepsRepository } from '../../sending/sweeps/sending-sweeps.repository.js';

const attempt = (id: string) => attemptRow(opened.database, id);

/** As a retry does, and with `claimedBy` the claim after it. Returns when it was queued. */
async function queueAgain(made: Reported, claimedBy: string | null = null): Promise<Date> {
  const retry = { kind: 'retry', messageId: made.id, from: OUTBOUND_STATUSES, body: null } as const;
  await factsOf(opened.database).applyNow([retry]);
  const [row] = await opened.database.query<{ queued_at: Date }>(
    `update message_queue set queued_at = date_trunc('milliseconds', queued_at), attempt_id = $2::uuid,
       attempt_number = attempt_number + ($2::uuid is not null)::integer,
       due_at = case when $2::uuid is null then due_at end, claimed_at = case when $2::uuid is not null then queued_at end,
       lease_until = case when $2::uuid is not null then queued_at + interval '20 s' end
     where message_id = $1 returning queued_at`,
    [made.id, claimedBy],
  );
  return row?.queued_at ?? new Date(NaN);
}

describe('a report', () => {
  it('that comes before the answer moves the message, adopts its id and frees its lane; the answer changes nothing', async () => {
    const made = await make('processing');
    await statuses.apply(report(made, 'sent'));
    expect(await row(made.id)).toMatchObject({
      status: 'sent',
      meta_message_id: made.metaMessageId,
      lease_until: null,
      next_attempt_at: null,
      accepted_at: null,
    });
    expect(await attempt(made.attemptId)).toMatchObject({
      status: 'accepted',
      meta_message_id: made.metaMessageId,
      finished_at: expect.any(Date),
    });
    expect(await outcomes.record(accepted(made))).toBe('late');
    // Its status has never been `accepted`.
    expect(await row(made.id)).toMatchObject({ status: 'sent', accepted_at: null });
    expect(await attempt(made.attemptId)).toMatchObject({ status: 'accepted', http_status: 200 });
  });

  it('resolves an unknown outcome', async () => {
    const made = await make('outcome_unknown');
    await statuses.apply(report(made, 'read'));
    expect(await row(made.id)).toMatchObject({
      status: 'read',
      meta_message_id: made.metaMessageId,
      sent_at: null,
      delivered_at: null,
      read_at: secondsAgo(10),
    });
    expect(await attempt(made.attemptId)).toMatchObject({ status: 'accepted' });
  });

  it('of a failure says why, on the message and on the attempt, which stays accepted', async () => {
    const made = await make('accepted');
    await statuses.apply(report(made, 'failed'));
    const failure = { failure_category: 'recipient_unreachable' };
    expect(await row(made.id)).toMatchObject({
      ...failure,
      status: 'failed',
      failed_at: secondsAgo(10),
      error_code: '131026',
      error_message: 'Not on WhatsApp',
    });
    expect(await attempt(made.attemptId)).toMatchObject({
      ...failure,
      status: 'accepted',
      platform_code: 131026,
      platform_message: 'Not on WhatsApp',
    });
  });

  it('of an attempt that a restored backup does not know resolves the message, and makes a row of the attempt', async () => {
    const made = await make('queued');
    const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    await opened.database.transaction(() => maintenance.markUncertain(new Date(Date.now() + 60_000)));
    expect(await row(made.id)).toMatchObject({ status: 'outcome_unknown', error_code: 'RESTORED' });
    const lost = { id: made.id, attemptId: newId(), metaMessageId: `wamid.${newId()}` };
    await statuses.apply(report(lost, 'delivered'));
    expect(await row(made.id)).toMatchObject({
      status: 'delivered',
      meta_message_id: lost.metaMessageId,
      attempt_count: 1,
    });
    expect(await attempt(lost.attemptId)).toMatchObject({ status: 'accepted', number: 1 });
  });

  it('of a failure closes an attempt whose answer never came', async () => {
    const made = await make('outcome_unknown');
    await statuses.apply(report(made, 'failed'));
    expect(await row(made.id)).toMatchObject({ status: 'failed' });
    expect(await attempt(made.attemptId)).toMatchObject({ status: 'rejected' });
  });

  it('of a delivery after a failure leaves no failure on the message; the attempt keeps the history', async () => {
    const made = await make('accepted');
    await statuses.apply(report(made, 'failed'));
    await statuses.apply(report(made, 'delivered', { occurredAt: secondsAgo(20) }));
    expect(await row(made.id)).toMatchObject({
      status: 'delivered',
      failed_at: null,
      failure_category: null,
      error_code: null,
      error_message: null,
      delivered_at: secondsAgo(10),
    });
    expect(await attempt(made.attemptId)).toMatchObject({ platform_code: 131026 });
  });

  it('of an erased recipient moves the message, and restores nothing by which the recipient could be known', async () => {
    for (const status of ['accepted', 'outcome_unknown'] as const) {
      const made = await make(status);
      await new MessagesMaintenanceRepository(opened.database, factsOf(opened.database)).blank(
        connection.organizationId,
        [made.id],
      );
      expect(await outcomes.record({ ...accepted(made), platformMessage: 'to +15550001', traceId: 'trace' })).toBe(
        status === 'accepted' ? 'late' : 'recorded',
      );
      await statuses.apply(report(made, 'failed'));
      await statuses.apply(report(made, 'read'));
      expect(await row(made.id)).toMatchObject({ status: 'read', meta_message_id: null });
      expect(await attempt(made.attemptId)).toMatchObject({
        meta_message_id: null,
        platform_message: null,
        trace_id: null,
        platform_code: 131026,
      });
    }
  });

  it('restores nothing of a recipient that is being erased', async () => {
    for (const status of ['read', 'failed'] as const) {
      const made = await make('outcome_unknown');
      await beside(
        opened.database,
        () =>
          new MessagesMaintenanceRepository(opened.database, factsOf(opened.database)).blank(
            connection.organizationId,
            [made.id],
          ),
        () => statuses.apply(report(made, status)),
      );
      expect(await row(made.id)).toMatchObject({ status, meta_message_id: null, error_message: null });
      expect(await attempt(made.attemptId)).toMatchObject({ meta_message_id: null, platform_message: null });
    }
  });

  it('takes no time before the one of the state that it follows, to the microsecond', async () => {
    const made = await make('accepted');
    await opened.database.execute(
      `update message_state set (accepted_at, changed_at) = (select at, at from (select date_trunc('second', accepted_at) + interval '123456 microseconds' as at) as t)
       where message_id = $1`,
      [made.id],
    );
    await statuses.apply(report(made, 'sent', { occurredAt: secondsAgo(600) }));
    const [same] = await opened.database.query('select sent_at = accepted_at as same from message_view where id = $1', [
      made.id,
    ]);
    expect(same).toEqual({ same: true });
  });

  it.each<[string, (made: Reported) => Promise<unknown>]>([
    ['accepted', (made) => outcomes.record(accepted(made))],
    ['an answer that says nothing', (made) => outcomes.record({ ...accepted(made), ...UNKNOWN })],
    ['a lease that ran out', () => runOut()],
    [
      'an unknown outcome that is returned',
      (made) => runOut().then(() => outcomes.record({ ...accepted(made), ...PUT_BACK })),
    ],
    [
      'a restored database',
      () =>
        new MessagesMaintenanceRepository(opened.database, factsOf(opened.database)).markUncertain(
          new Date(Date.now() + 60_000),
        ),
    ],
  ])('after %s takes no time before that of the event', async (_what, before) => {
    const made = await make('processing');
    await before(made);
    await statuses.apply(report(made, 'sent', { occurredAt: secondsAgo(600) }));
    await statuses.apply(report(made, 'delivered', { occurredAt: secondsAgo(700) }));
    const events = await occurrences(made.id);
    expect(events.slice(-2).map(([status]) => status)).toEqual(['sent', 'delivered']);
    const times = events.map(([, at]) => at);
    expect(times).toEqual([...times].sort());
  });

  it('takes no time after the database’s present', async () => {
    const made = await make('accepted');
    await statuses.apply(report(made, 'sent', { occurredAt: new Date(Date.now() + 3_600_000) }));
    const [past] = await opened.database.query(
      'select sent_at <= clock_timestamp() as past from message_view where id = $1',
      [made.id],
    );
    expect(past).toEqual({ past: true });
  });

  it('that an earlier attempt was sent withdraws the retry, whose place it takes', async () => {
    const made = await make('outcome_unknown');
    const retriedAt = await queueAgain(made);
    await statuses.apply(report(made, 'sent'));
    expect(await row(made.id)).toMatchObject({ status: 'sent', next_attempt_at: null, sent_at: retriedAt });
    expect(await attempt(made.attemptId)).toMatchObject({ status: 'accepted', number: 1 });
    await statuses.apply(report(made, 'failed'));
    expect(await row(made.id)).toMatchObject({ status: 'failed', attempt_count: 1 });
  });

  it('about a replaced attempt proves delivery and nothing less', async () => {
    const made = await make('outcome_unknown');
    const current = newId();
    await queueAgain(made, current);
    await statuses.apply(report(made, 'failed'));
    await statuses.apply(report(made, 'sent'));
    expect(await row(made.id)).toMatchObject({ status: 'processing', lease_until: expect.any(Date) });
    await statuses.apply(report(made, 'delivered'));
    expect(await row(made.id)).toMatchObject({
      status: 'delivered',
      lease_until: null,
      attempt_count: 2,
      meta_message_id: made.metaMessageId,
    });
    expect(await attempt(current)).toMatchObject({ number: 2, status: 'started' });
    await statuses.apply(report({ ...made, attemptId: current, metaMessageId: 'wamid.second' }, 'sent'));
    expect(await attempt(current)).toMatchObject({ status: 'accepted', meta_message_id: 'wamid.second' });
  });

  it('and another one of the attempt under way, in one batch, are both written down', async () => {
    const made = await make('outcome_unknown');
    const current = newId();
    await queueAgain(made, current);
    await Promise.all([
      statuses.apply(report(made, 'delivered')),
      statuses.apply(report({ ...made, attemptId: current, metaMessageId: 'wamid.second' }, 'read')),
    ]);
    expect(await row(made.id)).toMatchObject({ status: 'read', attempt_count: 2 });
    expect(await attempt(made.attemptId)).toMatchObject({ number: 1, status: 'accepted' });
    expect(await attempt(current)).toMatchObject({ number: 2, status: 'accepted', meta_message_id: 'wamid.second' });
  });

  it.each(['accepted', 'processing'] as const)(
    'of a price writes it down where the message is %s; the first price stays',
    async (status) => {
      const made = await make(status);
      const pricing = { billable: true, model: 'PMP', category: 'utility', type: 'regular', subtype: null };
      await statuses.apply(report(made, 'sent', { pricing }));
      await statuses.apply(
        report(made, 'delivered', { pricing: { ...pricing, billable: false, category: 'marketing' } }),
      );
      const [state] = await opened.database.query('select * from message_state where message_id = $1', [made.id]);
      expect(state).toMatchObject({
        status: 'delivered',
        billable: true,
        pricing_category: 'utility',
        pricing_type: 'regular',
        pricing_model: 'PMP',
      });
    },
  );
});

describe('many reports at once', () => {
  it('of one message in one batch are applied one after the other', async () => {
    const made = await make('accepted');
    await Promise.all([
      statuses.apply(report(made, 'sent', { occurredAt: secondsAgo(9) })),
      statuses.apply(report(made, 'delivered', { occurredAt: secondsAgo(8) })),
      statuses.apply(report(made, 'delivered', { occurredAt: secondsAgo(5) })),
      statuses.apply(report(made, 'read', { occurredAt: secondsAgo(7) })),
    ]);
    expect(await row(made.id)).toMatchObject({
      status: 'read',
      sent_at: secondsAgo(9),
      delivered_at: secondsAgo(8),
      read_at: secondsAgo(7),
    });
  });

  it('affect no other item where one of them can’t be stored', async () => {
    const made = await Promise.all(Array.from({ length: 40 }, () => make('outcome_unknown')));
    const poisoned = 17;
    const results = await Promise.allSettled(
      made.map((each, n) =>
        statuses.apply(report(each, 'sent', n === poisoned ? { metaMessageId: 'wamid.\u0000' } : {})),
      ),
    );
    expect(results.flatMap((result, n) => (result.status === 'rejected' ? n : []))).toEqual([poisoned]);
    const sent = await opened.database.query(`select id from message_view where status = 'sent' and id = any($1)`, [
      made.map((each) => each.id),
    ]);
    expect(sent).toHaveLength(39);
  });
});

/** The leases of all that is in flight run out. */
async function runOut(): Promise<void> {
  await opened.database.execute(
    `update message_queue set lease_until = now() - interval '1 s' where lease_until is not null`,
  );
  await new SendingSweepsRepository(opened.database, factsOf(opened.database)).expireLeases(1_000);
}

const PUT_BACK = { status: 'queued', metaMessageId: null, httpStatus: 503, delayMs: 60_000 } as const;
