import { factsOf, retryMessage } from '../../../../test/support/facts.js';
import pg from 'pg';
import { newId } from '../../../common/ids.js';
import { attemptRows } from '../../../../test/messages/attempt-row.js';
import { statusReport } from '../../../../test/messages/platform-reports.js';
import { beside } from '../../../../test/support/beside.js';
import { testPhone } from '../../../../test/support/factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import {
  RETRYABLE,
  opened,
  factories,
  connection,
  take,
  Flow,
} from '../../../../test/support/fixtures/retries-and-reports.js';
import { MessagesRepository } from '../messages.repository.js';
import { applyStatusReports } from './status-reports.repository.js';

it('a retry may be barred by an attempt that was accepted, or may have been, and has not failed, and by an erasure', async () => {
  const make = (status: 'accepted' | 'failed' | 'outcome_unknown') =>
    factories.message({ connection, status, recipient: testPhone() });
  const [accepted, refused, erased] = [await make('accepted'), await make('failed'), await make('failed')];
  const [failed, unknown, resolved] = [
    await make('accepted'),
    await make('outcome_unknown'),
    await make('outcome_unknown'),
  ];
  for (const { id } of [failed, resolved])
    await opened.database.execute('update message_attempt set failed_at = started_at where message_id = $1', [id]);
  await opened.database.execute('update message set recipient = null where id = $1', [erased.id]);
  const ids = [accepted, refused, erased, failed, unknown, resolved].map(({ id }) => id);
  const messages = new MessagesRepository(opened.database, factsOf(opened.database));
  expect(await messages.barred(connection.organizationId, ids)).toEqual(
    new Map([
      [accepted.id, 'accepted'],
      [erased.id, 'erased'],
      [unknown.id, 'unknown'],
    ]),
  );
  expect(await messages.barred(newId(), ids)).toEqual(new Map());
  expect(await retryMessage(opened.database, connection.organizationId, erased.id, RETRYABLE)).toBe(false);
});

/** A message whose second attempt has an unknown outcome. */
async function doubtful(): Promise<Flow> {
  const flow = await take();
  await flow.report('failed');
  await flow.retry();
  await flow.claim();
  await flow.answer('unknown');
  return flow;
}

describe('a retry after a reported failure', () => {
  it('is not withdrawn by a "sent" of the failed attempt, late or repeated', async () => {
    const flow = await take();
    await flow.report('failed');
    expect(await flow.retry()).toBe(true);
    await flow.report('sent');
    await flow.report('failed');
    await flow.report('sent');
    expect(await flow.row()).toMatchObject({ status: 'queued', sent_at: null, next_attempt_at: expect.any(Date) });
  });

  it('is not withdrawn where it was returned once meanwhile', async () => {
    const flow = await take();
    await flow.report('failed');
    await flow.retry();
    expect(await flow.claim()).toBe(true);
    await flow.answer('deferred');
    await flow.report('sent');
    expect(await flow.row()).toMatchObject({ status: 'queued' });
  });

  it('is not withdrawn where the failure was reported before the answer of the attempt itself', async () => {
    const flow = await take();
    await flow.report('failed');
    await flow.retry();
    await flow.claim();
    await flow.report('failed', 1);
    await flow.answer('accepted');
    expect(await flow.attempt(1)).toMatchObject({ failure_category: 'recipient_unreachable', platform_code: 131026 });
    expect(await flow.retry()).toBe(true);
    await flow.report('sent', 1);
    expect(await flow.row()).toMatchObject({ status: 'queued' });
  });

  it('is not withdrawn where the attempt that failed had been put back', async () => {
    const flow = await take();
    await flow.report('failed');
    await flow.retry();
    await flow.claim();
    await flow.answer('deferred');
    await flow.report('failed', 1);
    expect(await flow.attempt(1)).toMatchObject({ status: 'rejected', failure_category: 'recipient_unreachable' });
    await flow.report('sent', 1);
    expect(await flow.row()).toMatchObject({ status: 'queued' });
  });

  it.each([true, false])(
    'is not withdrawn where the failure was reported before the attempt was returned (retried before: %s)',
    async (before) => {
      const flow = await take();
      await flow.report('failed');
      await flow.retry();
      await flow.claim();
      await flow.report('failed', 1);
      if (before) await flow.retry();
      await flow.answer('deferred');
      if (!before) await flow.retry();
      await flow.report('sent', 1);
      expect(await flow.row()).toMatchObject({ status: 'queued' });
    },
  );

  it('ends where the failed attempt arrived after all', async () => {
    const flow = await take();
    await flow.report('failed');
    await flow.retry();
    await flow.report('delivered');
    expect(await flow.row()).toMatchObject({ status: 'delivered', next_attempt_at: null });
  });

  it('is not withdrawn by a batch that read its attempts before the failure and waited for another row', async () => {
    const first = await take();
    const second = await take();
    const holder = new pg.Client({ connectionString: opened.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from message_state where message_id = $1 for update', [first.messageId]);
      const together = Promise.all([first.report('sent'), second.report('sent')]);
      await waitFor(
        async () => {
          const { rows } = await holder.query(
            'select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))',
          );
          return rows.length > 0;
        },
        { what: 'a batch that waits for the row' },
      );
      await second.report('failed');
      expect(await second.retry()).toBe(true);
      await holder.query('rollback');
      await together;
    } finally {
      await holder.end();
    }
    expect(await first.row()).toMatchObject({ status: 'sent' });
    expect(await second.row()).toMatchObject({ status: 'queued' });
  });
});

describe('a retry after an unknown outcome', () => {
  it('does not get WhatsApp’s id of the attempt before it', async () => {
    const made = await factories.message({ connection, status: 'outcome_unknown', recipient: testPhone() });
    const flow = new Flow(made.id, [{ id: made.attemptId ?? '', metaMessageId: `wamid.${newId()}`, failed: false }]);
    await flow.retry();
    await flow.claim();
    await flow.answer('unknown');
    await flow.report('sent', 0);
    expect(await flow.row()).toMatchObject({ status: 'outcome_unknown', meta_message_id: null });
    expect(await flow.attempt(0)).toMatchObject({
      status: 'accepted',
      meta_message_id: flow.attempts[0]?.metaMessageId,
    });
    expect(await flow.attempt(1)).toMatchObject({ status: 'unknown', meta_message_id: null });
  });

  it('is withdrawn by a "sent" of any attempt with an unknown outcome, whose later reports then count', async () => {
    const flow = await doubtful();
    await flow.retry();
    await flow.claim();
    await flow.answer('deferred');
    await flow.report('sent', 1);
    expect(await flow.row()).toMatchObject({ status: 'sent', meta_message_id: flow.attempts[1]?.metaMessageId });
    await flow.report('failed', 1);
    expect(await flow.row()).toMatchObject({ status: 'failed' });
  });

  it('is withdrawn by the late answer that the platform took the earlier attempt, while it waits', async () => {
    const flow = await doubtful();
    await flow.retry();
    expect(await flow.answer('accepted', 1)).toBe(true);
    const { metaMessageId } = flow.attempts[1] ?? {};
    expect(await flow.row()).toMatchObject({
      status: 'accepted',
      meta_message_id: metaMessageId,
      accepted_at: expect.any(Date),
      next_attempt_at: null,
      attempt_count: 2,
    });
    expect(await flow.attempt(1)).toMatchObject({ status: 'accepted', http_status: 200, failure_category: null });
    expect(await flow.claim()).toBe(false);
    await flow.report('delivered', 1);
    expect(await flow.row()).toMatchObject({ status: 'delivered' });
  });

  it('is withdrawn by the late answer of the only attempt', async () => {
    const made = await factories.message({ connection, status: 'outcome_unknown', recipient: testPhone() });
    const flow = new Flow(made.id, [{ id: made.attemptId ?? '', metaMessageId: 'wamid.only', failed: false }]);
    await flow.retry();
    expect(await flow.answer('accepted', 0)).toBe(true);
    expect(await flow.row()).toMatchObject({ status: 'accepted', attempt_count: 1 });
  });

  it('is not made again by its own "not now" where it was under way when that answer came', async () => {
    const flow = await doubtful();
    await flow.retry();
    await flow.claim();
    expect(await flow.answer('accepted', 1)).toBe(true);
    expect(await flow.answer('deferred', 2)).toBe(false);
    const { metaMessageId } = flow.attempts[1] ?? {};
    expect(await flow.row()).toMatchObject({ status: 'accepted', meta_message_id: metaMessageId, attempt_count: 3 });
    const attempts = await attemptRows(opened.database, flow.messageId);
    expect(attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 'accepted'],
      [2, 'accepted'],
      [3, 'deferred'],
    ]);
  });

  it('is not made again by its own "not now" where it was under way when the earlier attempt was reported "sent"', async () => {
    const flow = await doubtful();
    await flow.retry();
    await flow.claim();
    await flow.report('sent', 1);
    expect((await flow.row()).status).toBe('processing');
    expect(await flow.answer('deferred', 2)).toBe(true);
    const { metaMessageId } = flow.attempts[1] ?? {};
    expect(await flow.row()).toMatchObject({ status: 'accepted', meta_message_id: metaMessageId, attempt_count: 3 });
    expect(await flow.claim()).toBe(false);
    await flow.report('failed', 1);
    expect((await flow.row()).status).toBe('failed');
  });

  it.each([
    ['refused', true, 'accepted'],
    ['not known', false, 'outcome_unknown'],
  ] as const)(
    'leaves the message with the earlier attempt, which was reported "sent" while it was in flight, where it is %s: %s',
    async (answer, isWithdrawn, status) => {
      const flow = await doubtful();
      await flow.retry();
      await flow.claim();
      await flow.report('sent', 1);
      // Refused for good, or "not now" for the tenth time: both are this outcome.
      expect(await flow.answer(answer === 'refused' ? 'rejected' : 'unknown', 2)).toBe(true);
      const { metaMessageId = null } = flow.attempts[isWithdrawn ? 1 : 2] ?? {};
      expect(await flow.row()).toMatchObject({
        status,
        failed_at: null,
        error_code: null,
        meta_message_id: isWithdrawn ? metaMessageId : null,
        attempt_count: 3,
      });
      const attempts = await attemptRows(opened.database, flow.messageId);
      expect(attempts.map(({ number, status }) => [number, status])).toEqual([
        [1, 'accepted'],
        [2, 'accepted'],
        [3, answer === 'refused' ? 'rejected' : 'unknown'],
      ]);
      await flow.report('delivered', 1);
      expect((await flow.row()).status).toBe('delivered');
    },
  );

  it('leaves the message with that attempt also where it is refused after its lease', async () => {
    const flow = await doubtful();
    await flow.retry();
    await flow.claim();
    await flow.report('sent', 1);
    await flow.answer('unknown', 2);
    expect(await flow.answer('rejected', 2)).toBe(true);
    const { metaMessageId } = flow.attempts[1] ?? {};
    expect(await flow.row()).toMatchObject({ status: 'accepted', meta_message_id: metaMessageId, attempt_count: 3 });
    expect(await flow.attempt(2)).toMatchObject({ status: 'rejected', http_status: 400 });
  });

  it('is refused, and so is the message, where the earlier attempt was reported "sent" and then "failed"', async () => {
    const flow = await doubtful();
    await flow.retry();
    await flow.claim();
    await flow.report('sent', 1);
    await flow.report('failed', 1);
    expect(await flow.answer('rejected', 2)).toBe(true);
    expect((await flow.row()).status).toBe('failed');
  });

  it('is made again by its own "not now" where the earlier attempt was reported "sent", and then "failed"', async () => {
    const flow = await doubtful();
    await flow.retry();
    await flow.claim();
    await flow.report('sent', 1);
    await flow.report('failed', 1);
    expect(await flow.answer('deferred', 2)).toBe(true);
    expect((await flow.row()).status).toBe('queued');
  });

  it('is withdrawn where its refusal and the late answer of the earlier attempt are recorded together', async () => {
    const flow = await doubtful();
    await flow.retry();
    await flow.claim();
    await Promise.all([flow.answer('rejected', 2), flow.answer('accepted', 1)]);
    expect(await flow.row()).toMatchObject({ status: 'accepted', failed_at: null, attempt_count: 3 });
    expect(await flow.attempt(2)).toMatchObject({ status: 'rejected', http_status: 400 });
  });

  it('leaves no answer out of an attempt that a report moves at that moment', async () => {
    const flow = await doubtful();
    await flow.retry();
    const { database } = opened;
    const reported = { id: flow.messageId, attemptId: flow.attempts[1]?.id ?? '', metaMessageId: 'wamid.moved' };
    await beside(
      database,
      () => applyStatusReports([statusReport(connection.id, reported, 'sent')], database, factsOf(database)),
      () => flow.answer('accepted', 1),
    );
    expect(await flow.row()).toMatchObject({ status: 'sent' });
    expect(await flow.attempt(1)).toMatchObject({ status: 'accepted', http_status: 200 });
  });

  it('is withdrawn once where the late answer, a report of the attempt and the claim of the retry come together', async () => {
    const flows: Flow[] = [];
    // One after the other: a claim takes all that waits.
    for (let n = 0; n < 10; n++) flows.push(await doubtful());
    for (const flow of flows) await flow.retry();
    await Promise.all([
      ...flows.flatMap((flow) => [flow.answer('accepted', 1), flow.report('sent', 1)]),
      flows[0]?.claim(),
    ]);
    for (const flow of flows) {
      expect(['accepted', 'sent']).toContain((await flow.row()).status);
      const attempts = await attemptRows(opened.database, flow.messageId);
      expect(attempts.slice(0, 2).map(({ number, status }) => [number, status])).toEqual([
        [1, 'accepted'],
        [2, 'accepted'],
      ]);
    }
  });

  it('is not withdrawn by the late answer of an attempt that failed by a report', async () => {
    const flow = await doubtful();
    await flow.report('failed', 1);
    await flow.retry();
    expect(await flow.answer('accepted', 1)).toBe(false);
    expect(await flow.row()).toMatchObject({ status: 'queued' });
  });

  it('whose attempt turns out to be taken leaves no failure on that attempt', async () => {
    for (const settles of ['sent', 'delivered', 'read'] as const) {
      const flow = await doubtful();
      expect(await flow.attempt(1)).toMatchObject({ status: 'unknown', failure_category: 'platform_unavailable' });
      await flow.report(settles, 1);
      expect(await flow.attempt(1)).toMatchObject({ status: 'accepted', failure_category: null });
    }
  });
});
