import { claimRequest } from '../../../../test/support/claim-request.js';
import { grantLane, livingOwner } from '../../../../test/support/grant-lane.js';
import { Factories } from '../../../../test/support/factories.js';
import {
  opened,
  lanes,
  outcomes,
  estimates,
  forgetEstimates,
  connection,
  newConnection,
  queue,
  waitingOf,
  aheadOf,
  claim,
  send,
} from '../../../../test/support/fixtures/queue-estimate.js';
import { newId } from '../../../common/ids.js';
import { type NewInQueue } from '../sending.types.js';
import { released } from '../outcome/outcome.repository.js';
import { type ClaimedMessage } from '../claim/claim.repository.js';

const newTo = (recipient: string, change: Partial<NewInQueue> = {}): NewInQueue => ({
  organizationId: connection.organizationId,
  connectionId: connection.id,
  recipient,
  recipientUserId: null,
  conversationId: null,
  ...change,
});

describe('the place in the queue', () => {
  // Some recipients have many messages, most have one.
  const crowd = (size: number): string[] =>
    Array.from({ length: size }, (_, n) => String(1_000 + ((n * 7_919) % (n % 3 === 0 ? 11 : size))));

  it('of each of 40 messages is the order in which they leave', async () => {
    const ids = await queue(crowd(40));
    const foretold = await aheadOf(ids);
    const left = await send(ids.length);
    expect(ids.map((id, index) => [left.indexOf(id), foretold[index]])).toEqual(
      ids.map((_id, index) => [foretold[index], foretold[index]]),
    );
  });

  it('is found by what is in flight where another process walks', async () => {
    const ids = await queue(crowd(60));
    const onWire = await claim(20);
    const rest = ids.filter((id) => !onWire.some((claimed) => claimed.id === id));
    const here = await aheadOf(rest);
    forgetEstimates();
    expect(await aheadOf(rest)).toEqual(here);
  });

  it('of a new message is behind what its recipient has waiting, by number and by user id', async () => {
    await queue(['1003', '1001', '1002', '1001']);
    expect(await estimates.ofNew(newTo('1001'))).toMatchObject({ ahead: 4 });
    expect(await estimates.ofNew(newTo('1002'))).toMatchObject({ ahead: 4 });
    expect(await estimates.ofNew(newTo('1004'))).toMatchObject({ ahead: 3 });
    expect(await estimates.ofNew(newTo('1000'))).toMatchObject({ ahead: 3 });
    const { id } = await new Factories(opened.database).conversation({ connection, phone: '1001', userId: 'US.1' });
    const byUserId = newTo('US.1', { recipientUserId: 'US.1', conversationId: id });
    expect(await estimates.ofNew(byUserId)).toMatchObject({ ahead: 4 });
    expect(await estimates.ofNew({ ...newTo('1001'), organizationId: newId() })).toBeNull();
  });

  it('is estimated by the pace of the number', async () => {
    const ids = await queue(Array.from({ length: 31 }, (_, n) => String(1_000 + n)));
    const { reason, ahead, until, estimatedSendAt } = await waitingOf(ids[30] ?? '');
    expect([reason, ahead, until]).toEqual(['number_pace', 30, estimatedSendAt]);
    const inMs = Number(estimatedSendAt) - Date.now();
    expect(inMs).toBeLessThanOrEqual(3_000);
    expect(await waitingOf(ids[0] ?? '')).toMatchObject({ reason: 'due', ahead: 0, until: null });
  });
});

describe('the reason', () => {
  it('earlier_message_to_recipient: behind one in flight, and behind one that is deferred', async () => {
    const [first = '', second = '', third = ''] = await queue(['1001', '1001', '1001']);
    const [claimed] = await claim(10);
    expect(await waitingOf(second)).toMatchObject({ reason: 'earlier_message_to_recipient', ahead: 1, until: null });
    await outcomes.record({ ...released(claimed as ClaimedMessage), delayMs: 60_000, tries: 1 });
    const head = await waitingOf(first);
    const behind = await waitingOf(third);
    expect(head).toMatchObject({ reason: 'retry', ahead: 0 });
    expect(behind).toMatchObject({ reason: 'earlier_message_to_recipient', ahead: 2, until: head.until });
    expect(behind.estimatedSendAt?.getTime()).toBeGreaterThanOrEqual(head.until?.getTime() ?? Infinity);
  });

  it.each([
    ['pair_limit', 131056],
    ['retry', 131057],
    ['retry', null],
  ])('%s: deferred with the code %s', async (reason, platformCode) => {
    const [id = ''] = await queue(['1001']);
    const [claimed] = await claim(1);
    await outcomes.record({ ...released(claimed as ClaimedMessage), platformCode, delayMs: 60_000, tries: 1 });
    const waiting = await waitingOf(id);
    expect(waiting).toMatchObject({ reason, estimatedSendAt: waiting.until });
    expect(waiting.until?.getTime()).toBeGreaterThan(Date.now());
  });

  it('number_paused: until the pause ends, unless its own next try is later', async () => {
    const [id = '', other = ''] = await queue(['1001', '1002']);
    await lanes.pause(connection.id, 'rate_limited', { leastMs: 30_000 });
    const waiting = await waitingOf(id);
    expect(waiting.reason).toBe('number_paused');
    expect(waiting.estimatedSendAt).toEqual(waiting.until);
    await opened.database.execute(
      `update message_queue set due_at = clock_timestamp() + interval '10 minutes' where message_id = $1`,
      [other],
    );
    const putOff = await waitingOf(other);
    expect(putOff.reason).toBe('retry');
    expect(Number(putOff.until)).toBeGreaterThan(Number(waiting.until));
  });

  it('tag_paused: deferred before, and what waited behind it goes', async () => {
    const [id = '', behind = ''] = await queue(['1001', '1001']);
    const [claimed] = await claim(1);
    await outcomes.record({ ...released(claimed as ClaimedMessage), delayMs: 60_000, tries: 1 });
    await opened.database.execute(
      `update message_queue set held_until = 'infinity', due_at = null where message_id = $1`,
      [id],
    );
    expect(await waitingOf(id)).toMatchObject({ reason: 'tag_paused', until: null, ahead: 0, estimatedSendAt: null });
    expect(await waitingOf(behind)).toMatchObject({ reason: 'due', until: null, ahead: 0 });
    expect(await estimates.ofNew(newTo('1001'))).toMatchObject({ ahead: 1 });
  });

  it.each([null, '1 hour', '-1 second'])(
    'tag_paused: from the commit of the pause on, scheduled in %s',
    async (inTime) => {
      const [id = ''] = await queue(['1001']);
      await opened.database.execute(
        `update message_queue set tag = 'sale', held_until = now() + $2::interval, scheduled_for = now() + $2::interval,
         due_at = case when $2::interval is null then due_at end
       where message_id = $1`,
        [id, inTime],
      );
      const reason = inTime === '1 hour' ? 'scheduled' : 'due';
      expect(await waitingOf(id)).toMatchObject({ reason });
      await opened.database.execute(
        `insert into message_tag (organization_id, tag, paused, acted_at) values ($1, 'sale', true, now())`,
        [connection.organizationId],
      );
      expect(await waitingOf(id)).toMatchObject({ reason: 'tag_paused', until: null, ahead: 0, estimatedSendAt: null });
      await opened.database.execute('update message_tag set paused = false where organization_id = $1', [
        connection.organizationId,
      ]);
      expect(await waitingOf(id)).toMatchObject({ reason });
    },
  );

  it('tag_pace: held by the pace of its tag; scheduled: until the start of its tag', async () => {
    const [id = ''] = await queue(['1001']);
    await opened.database.execute(
      `update message_queue set tag = 'paced', held_until = 'infinity', due_at = null where message_id = $1`,
      [id],
    );
    const { organizationId } = connection;
    const { at } = await opened.database.row<{ at: Date }>(
      `insert into message_tag (organization_id, tag, messages_per_minute, start_at, started_at, acted_at)
       values ($1, 'paced', 60, date_trunc('second', now() + interval '1 hour'), null, now()) returning start_at as at`,
      [organizationId],
    );
    expect(await waitingOf(id)).toMatchObject({ reason: 'scheduled', until: at, estimatedSendAt: at });
    await opened.database.execute(
      `update message_tag set started_at = now() where tag = 'paced' and organization_id = $1`,
      [organizationId],
    );
    expect(await waitingOf(id)).toMatchObject({ reason: 'tag_pace', until: null, estimatedSendAt: null });
    await opened.database.execute(`update message_tag set paused = true where tag = 'paced' and organization_id = $1`, [
      organizationId,
    ]);
    expect(await waitingOf(id)).toMatchObject({ reason: 'tag_paused' });
  });

  it('number_disconnected: no end is known', async () => {
    const pending = await newConnection('pending');
    const [id = ''] = await queue(['1001'], pending);
    expect(await waitingOf(id, pending)).toMatchObject({
      reason: 'number_disconnected',
      until: null,
      estimatedSendAt: null,
    });
    const restricted = await newConnection('restricted');
    const [sends = ''] = await queue(['1001'], restricted);
    expect(await waitingOf(sends, restricted)).toMatchObject({ reason: 'due' });
  });

  it('number_paused without an end, while every lane is held after a restore', async () => {
    const [id = ''] = await queue(['1001']);
    await opened.database.transaction(async () => {
      await opened.database.execute(`update database_identity set identity = 'another'`);
      expect(await waitingOf(id)).toMatchObject({ reason: 'number_paused', until: null, estimatedSendAt: null });
      await opened.database.execute('update database_identity set identity = identity_of_database()');
    });
    expect(await waitingOf(id)).toMatchObject({ reason: 'due' });
  });

  it('due: an estimate as long as it is not due for long without a worker', async () => {
    const [id = ''] = await queue(['1001']);
    const fresh = await waitingOf(id);
    expect(fresh.estimatedSendAt).not.toBeNull();
    await opened.database.execute(
      `update message_queue set queued_at = queued_at - interval '1 minute', due_at = due_at - interval '1 minute' where message_id = $1`,
      [id],
    );
    expect(await waitingOf(id)).toMatchObject({ reason: 'due', ahead: 0, estimatedSendAt: null });
    await grantLane(opened.database, claimRequest(connection.id, (await livingOwner(opened.database)).id, 1));
    expect((await waitingOf(id)).estimatedSendAt).not.toBeNull();
  });

  it('is none of another workspace, nor of what is in flight', async () => {
    const [id = ''] = await queue(['1001']);
    const { organizationId } = connection;
    expect(await estimates.ofMessage({ id, organizationId: newId() })).toBeNull();
    const { expiresAt } = await waitingOf(id);
    expect(Math.abs(expiresAt.getTime() - Date.now() - 86_400_000)).toBeLessThan(600_000);
    await claim(1);
    expect(await estimates.ofMessage({ id, organizationId })).toBeNull();
  });
});
