import { recordIn, cancelMessage } from '../../../../test/support/facts.js';
import type pg from 'pg';
import { Factories } from '../../../../test/support/factories.js';
import { newMessage } from '../../../../test/support/new-message.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import {
  opened,
  sweeps,
  outcomes,
  accepts,
  connection,
  begin,
  claim,
  accepted,
  putOff,
} from '../../../../test/support/fixtures/queue-turns.js';
import { newId } from '../../../common/ids.js';
import { INSERT_MESSAGES } from '../../messages/accept/accept.repository.js';
import { enterContactObservations } from '../../conversations/conversations.repository.js';
import { type ClaimedMessage } from './claim.repository.js';

const TO = '4915100';

/** Resolves with what the statement answers once the other transaction, for which it waits, is over. */
async function blocked<T>(statement: Promise<T>): Promise<{ later: Promise<T> }> {
  let isOver = false;
  const over = statement.finally(() => (isOver = true));
  over.catch(() => undefined);
  await waitFor(async () => {
    const waits = await opened.database.count(
      `select count(*)::integer as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (isOver) throw new Error('it was to wait for a lock');
    return waits > 0;
  });
  return { later: over };
}

interface Row {
  id: string;
  due: boolean;
  sent: boolean;
}

/** The queue's rows of the recipient, in its order. */
function rowsOf(recipient = TO): Promise<Row[]> {
  return opened.database.query<Row & Record<string, unknown>>(
    `select message_id as id, due_at is not null as due, attempt_id is not null as sent from message_queue
     where connection_id = $1 and recipient = $2 order by (attempt_id is null), seq`,
    [connection.id, recipient],
  );
}

const waits = (id: string): Row => ({ id, due: false, sent: false });
const isDue = (id: string): Row => ({ id, due: true, sent: false });
const onWire = (id: string): Row => ({ id, due: false, sent: true });

async function accept(recipient = TO): Promise<string> {
  return (await accepts.accept(newMessage(connection, recipient))).messageId;
}

/** Inserts within the other process's transaction. */
async function acceptIn(client: pg.Client, recipient = TO): Promise<string> {
  const id = newId();
  await client.query(INSERT_MESSAGES.text, [JSON.stringify([newMessage(connection, recipient, { id })]), 24]);
  return id;
}

async function claimOne(): Promise<ClaimedMessage> {
  const [claimed] = await claim(1);
  if (claimed === undefined) throw new Error('nothing was claimed');
  return claimed;
}

/** The attempt of a message that is in flight. */
const claimedAgain = async (id: string): Promise<ClaimedMessage> => {
  const row = await opened.database.row<{ attempt_id: string }>(
    'select attempt_id from message_queue where message_id = $1',
    [id],
  );
  return { id, attemptId: row.attempt_id } as ClaimedMessage;
};

const isPutOff = async (id: string): Promise<boolean> =>
  (await opened.database.find('select from message_queue where message_id = $1 and due_at > clock_timestamp()', [
    id,
  ])) !== null;

const cancelIn = (client: pg.Client, id: string): Promise<unknown> =>
  client.query('delete from message_queue where message_id = $1 and attempt_id is null', [id]);

describe('a new message', () => {
  it('is due alone, and waits behind what waits or is in flight', async () => {
    const [first, second] = [await accept(), await accept()];
    expect(await rowsOf()).toEqual([isDue(first), waits(second)]);
    const claimed = await claimOne();
    const third = await accept();
    expect(await rowsOf()).toEqual([onWire(first), waits(second), waits(third)]);
    await outcomes.record(accepted(claimed));
    expect(await rowsOf()).toEqual([isDue(second), waits(third)]);
  });

  it('of a batch waits behind the one before it in the batch', async () => {
    const [first, second] = [newMessage(connection, TO), newMessage(connection, TO)];
    await accepts.acceptTogether([first, second], true);
    expect(await rowsOf()).toEqual([isDue(first.id), waits(second.id)]);
  });

  it('that is not committed yet holds up the outcome, which then passes the turn on to it', async () => {
    await accept();
    const claimed = await claimOne();
    const other = await begin();
    const second = await acceptIn(other);
    const { later } = await blocked(outcomes.record(accepted(claimed)));
    await other.query('commit');
    expect(await later).toBe('recorded');
    expect(await rowsOf()).toEqual([isDue(second)]);
  });

  it('that is released holds up the outcome no longer', async () => {
    await accept();
    const claimed = await claimOne();
    const other = await begin();
    await acceptIn(other);
    const { later } = await blocked(outcomes.record(accepted(claimed)));
    await other.query('rollback');
    expect(await later).toBe('recorded');
    expect(await rowsOf()).toEqual([]);
  });

  it('is due at once beside an outcome that is not committed yet, and is claimed only after it', async () => {
    const first = await accept();
    const claimed = await claimOne();
    const other = await begin();
    await recordIn(other, accepted(claimed));
    const second = await accept();
    expect(await rowsOf()).toEqual([onWire(first), isDue(second)]);
    expect(await claim()).toEqual([]);
    await other.query('commit');
    expect((await claim()).map(({ id }) => id)).toEqual([second]);
  });

  it('is claimed after the outcome comes again where the one that it met was released', async () => {
    const first = await accept();
    const claimed = await claimOne();
    const other = await begin();
    await recordIn(other, accepted(claimed));
    const second = await accept();
    await other.query('rollback');
    expect(await claim()).toEqual([]);
    await outcomes.record(accepted(claimed));
    expect((await claim()).map(({ id }) => id)).toEqual([second]);
    expect(first).not.toBe(second);
  });

  it('with a lower place than one that was committed before is due, and goes first', async () => {
    const other = await begin();
    // Its place in the order is taken before that of the other, and its row is there after it.
    await other.query(`select setval('message_queue_seq_seq', nextval('message_queue_seq_seq') + 10)`);
    const later = await acceptIn(other);
    await opened.database
      .query(`select setval('message_queue_seq_seq', currval('message_queue_seq_seq') - 5)`)
      .catch(() =>
        opened.database.query(`select setval('message_queue_seq_seq', last_value - 5) from message_queue_seq_seq`),
      );
    await other.query('commit');
    const earlier = await accept();
    await opened.database.query(`select setval('message_queue_seq_seq', last_value + 20) from message_queue_seq_seq`);
    expect(await rowsOf()).toEqual([isDue(earlier), isDue(later)]);
    const claimed = await claim();
    expect(claimed.map(({ id }) => id)).toEqual([earlier]);
    await outcomes.record(accepted(claimed[0] as ClaimedMessage));
    expect((await claim()).map(({ id }) => id)).toEqual([later]);
  });
});

describe('a removal', () => {
  it('of a message that is not the first leaves the turn where it is', async () => {
    const [first, second, third] = [await accept(), await accept(), await accept()];
    const [before] = await opened.database.query('select due_at from message_queue where message_id = $1', [first]);
    expect(await cancelMessage(opened.database, connection.organizationId, second)).toBe(true);
    expect(await rowsOf()).toEqual([isDue(first), waits(third)]);
    expect(await opened.database.query('select due_at from message_queue where message_id = $1', [first])).toEqual([
      before,
    ]);
  });

  it('of the next message while the outcome waits for it: the one behind it is eligible', async () => {
    await accept();
    const [second, third] = [await accept(), await accept()];
    const claimed = await claimOne();
    const other = await begin();
    await cancelIn(other, second);
    const { later } = await blocked(outcomes.record(accepted(claimed)));
    await other.query('commit');
    expect(await later).toBe('recorded');
    expect(await rowsOf()).toEqual([isDue(third)]);
  });

  it('of the first one beside a claim of another process that is not committed yet', async () => {
    const [first, second] = [await accept(), await accept()];
    const other = await begin();
    await cancelIn(other, first);
    expect(await claim()).toEqual([]);
    await other.query('commit');
    expect((await claim()).map(({ id }) => id)).toEqual([second]);
  });

  it('looks again where the next one was claimed while it waited for it', async () => {
    const [first, second] = [await accept(), await accept()];
    const other = await begin();
    // As a claim of another process that has met the second as its recipient's first.
    await other.query(
      `update message_queue set attempt_id = $2, due_at = null, claimed_at = now(), lease_until = now() + interval '1 hour'
       where message_id = $1`,
      [second, newId()],
    );
    const { later } = await blocked(cancelMessage(opened.database, connection.organizationId, first));
    await other.query('commit');
    expect(await later).toBe(true);
    expect(await rowsOf()).toEqual([onWire(second)]);
  });

  it('of two in flight at once: the next one is eligible, though neither sees the other', async () => {
    const ids = [await accept(), await accept(), await accept()];
    const [first] = [await claimOne()];
    const attemptId = newId();
    await opened.database.execute(
      `update message_queue set attempt_id = $2, due_at = null, claimed_at = now(), lease_until = now() + interval '1 hour'
       where message_id = $1`,
      [ids[1], attemptId],
    );
    const [one, two] = [await begin(), await begin()];
    await recordIn(one, accepted(first));
    const second = recordIn(two, accepted({ id: ids[1], attemptId } as ClaimedMessage));
    await one.query('commit');
    await second;
    await two.query('commit');
    expect(await rowsOf()).toEqual([isDue(ids[2] as string)]);
  });

  it('of one that is due too early, before the outcome that it met is committed: the next one is eligible', async () => {
    await accept();
    const claimed = await claimOne();
    const other = await begin();
    await recordIn(other, accepted(claimed));
    const [second, third] = [await accept(), await accept()];
    expect(await rowsOf()).toEqual([onWire(claimed.id), isDue(second), waits(third)]);
    expect(await cancelMessage(opened.database, connection.organizationId, second)).toBe(true);
    await other.query('commit');
    expect(await rowsOf()).toEqual([isDue(third)]);
  });

  it('of neighbours by two at once is tried again after a deadlock', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push(await accept());
    const canceled = await Promise.all(ids.map((id) => cancelMessage(opened.database, connection.organizationId, id)));
    expect(canceled).toEqual(ids.map(() => true));
    expect(await rowsOf()).toEqual([]);
  });
});

describe('a message that is deferred', () => {
  it('keeps its time, and those behind it wait', async () => {
    const [first, second] = [await accept(), await accept()];
    await outcomes.record(putOff(await claimOne()));
    expect(await rowsOf()).toEqual([isDue(first), waits(second)]);
    expect(await claim()).toEqual([]);
    await outcomes.record(putOff({ id: first, attemptId: newId() } as ClaimedMessage));
  });

  it('takes the turn of one that was accepted beside its outcome: the lane has no due message that cannot go', async () => {
    const first = await accept();
    const claimed = await claimOne();
    const attempt = await begin();
    await attempt.query('select 1 from message_queue where message_id = $1 for update', [first]);
    const second = await accept();
    expect(await rowsOf()).toEqual([onWire(first), isDue(second)]);
    await attempt.query('commit');
    await outcomes.record(putOff(claimed));
    expect(await rowsOf()).toEqual([isDue(first), waits(second)]);
  });

  it('lets one with an earlier place go first that came while it was in flight', async () => {
    const first = await accept();
    const claimed = await claimOne();
    const earlier = await accept();
    await opened.database.execute('update message_queue set seq = seq - 1000 where message_id = $1', [earlier]);
    await outcomes.record(putOff(claimed));
    expect(await rowsOf()).toEqual([isDue(earlier), isDue(first)]);
    expect((await claim()).map(({ id }) => id)).toEqual([earlier]);
    // That one is deferred as well, and sent.
    await outcomes.record(putOff(await claimedAgain(earlier)));
    expect(await rowsOf()).toEqual([isDue(earlier), waits(first)]);
    await opened.database.execute('update message_queue set due_at = now() where message_id = $1', [earlier]);
    await outcomes.record(accepted(await claimOne()));
    expect([await rowsOf(), await isPutOff(first)]).toEqual([[isDue(first)], true]);
  });

  it('by an answer that came late goes behind what was queued meanwhile, and keeps its time', async () => {
    const first = await accept();
    const claimed = await claimOne();
    await opened.database.execute('update message_queue set lease_until = now() where message_id = $1', [first]);
    expect(await sweeps.expireLeases(10)).toHaveLength(1);
    const second = await accept();
    await outcomes.record(putOff(claimed));
    const third = await accept();
    expect(await rowsOf()).toEqual([isDue(second), waits(first), waits(third)]);
    await outcomes.record(accepted(await claimOne()));
    expect([await rowsOf(), await isPutOff(first)]).toEqual([[isDue(first), waits(third)], true]);
    expect(await claim()).toEqual([]);
  });
});

describe('two names of one contact', () => {
  const toUser = { recipient: 'US.1', recipientUserId: 'US.1' };
  const known = () => new Factories(opened.database).conversation({ connection, userId: 'US.1', phone: null });
  const join = () =>
    opened.database.transaction(() =>
      enterContactObservations(
        [
          {
            connectionId: connection.id,
            organizationId: connection.organizationId,
            phone: TO,
            waId: TO,
            userId: 'US.1',
            profileName: null,
            lastInboundAt: null,
          } as never,
        ],
        opened.database,
      ),
    );

  it('become one order: what waited for the user id goes before what came later for the number', async () => {
    await known();
    const [a, b] = [newMessage(connection, 'US.1', toUser), newMessage(connection, 'US.1', toUser)];
    await accepts.accept(a);
    const number = await accept();
    await accepts.accept(b);
    await join();
    expect(await rowsOf('US.1')).toEqual([]);
    expect(await rowsOf()).toEqual([isDue(a.id), isDue(number), waits(b.id)]);
    const left: string[] = [];
    for (let n = 0; n < 3; n++) {
      const claimed = await claim();
      expect(claimed).toHaveLength(1);
      left.push(...claimed.map(({ id }) => id));
      await outcomes.record(accepted(claimed[0] as ClaimedMessage));
    }
    expect(left).toEqual([a.id, number, b.id]);
  });

  it('become one order: what was deferred keeps its time behind what came before it', async () => {
    await known();
    const number = await accept();
    const message = newMessage(connection, 'US.1', toUser);
    await accepts.accept(message);
    const claimed = (await claim()).find(({ id }) => id === message.id) as ClaimedMessage;
    await outcomes.record(putOff(claimed));
    await outcomes.record(putOff(await claimedAgain(number), 0));
    await join();
    expect(await rowsOf()).toEqual([isDue(number), waits(message.id)]);
    await outcomes.record(accepted(await claimOne()));
    expect([await rowsOf(), await isPutOff(message.id)]).toEqual([[isDue(message.id)], true]);
  });

  it('beside one that is accepted for the user id and not committed yet', async () => {
    await known();
    const first = newMessage(connection, 'US.1', toUser);
    await accepts.accept(first);
    const other = await begin();
    const second = newMessage(connection, 'US.1', toUser);
    await other.query(INSERT_MESSAGES.text, [JSON.stringify([second]), 24]);
    const { later } = await blocked(join());
    await other.query('commit');
    await later;
    expect(await rowsOf()).toEqual([isDue(first.id), waits(second.id)]);
    expect(await rowsOf('US.1')).toEqual([]);
  });

  it('beside the end of the message before: the join waits for it, and what is joined goes behind what came first', async () => {
    await known();
    const number = await accept();
    const [a, b] = [newMessage(connection, 'US.1', toUser), newMessage(connection, 'US.1', toUser)];
    await accepts.accept(a);
    await accepts.accept(b);
    const end = await begin();
    await end.query('delete from message_queue where message_id = $1', [a.id]);
    const joined = await blocked(join());
    await end.query('commit');
    await joined.later;
    expect([await rowsOf('US.1'), await rowsOf()]).toEqual([[], [isDue(number), waits(b.id)]]);
  });

  it('while one of their messages is in flight: it stays so, and the next waits for it', async () => {
    await known();
    const [a, b] = [newMessage(connection, 'US.1', toUser), newMessage(connection, 'US.1', toUser)];
    await accepts.accept(a);
    const claimed = await claimOne();
    await accepts.accept(b);
    const number = await accept();
    await join();
    expect(await rowsOf('US.1')).toEqual([]);
    expect((await rowsOf()).map(({ id }) => id)).toEqual([a.id, b.id, number]);
    expect(await rowsOf()).toContainEqual(onWire(a.id));
    expect(await claim()).toEqual([]);
    await outcomes.record(accepted(claimed));
    expect((await claim()).map(({ id }) => id)).toEqual([b.id]);
  });

  it('with a message that is held: it stays so under the new name, and holds up none', async () => {
    await known();
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const later = newMessage(connection, 'US.1', { ...toUser, sendAt });
    await accepts.accept(later);
    const number = await accept();
    await join();
    expect(await rowsOf()).toEqual([waits(later.id), isDue(number)]);
    const held = 'select held_until = $2 as held from message_queue where message_id = $1';
    expect(await opened.database.query(held, [later.id, sendAt])).toEqual([{ held: true }]);
    expect((await claim()).map(({ id }) => id)).toEqual([number]);
  });

  it('a row that goes to another lane while the end of the one before it waits for it: both lanes have one turn', async () => {
    const [first, moves, last] = [await accept(), await accept(), await accept()];
    const there = await accept('4915101');
    const [mover, end] = [await begin(), await begin()];
    await mover.query('select from message_queue where message_id = $1 for update', [moves]);
    await mover.query(`update message_queue set recipient = '4915101', due_at = now() where message_id = $1`, [moves]);
    const ended = await blocked(end.query('delete from message_queue where message_id = $1', [first]));
    await mover.query('commit');
    await ended.later;
    await end.query('commit');
    expect(await rowsOf()).toEqual([isDue(last)]);
    const [before, after] = await rowsOf('4915101');
    expect([before, after?.id]).toEqual([isDue(moves), there]);
  });
});

describe('the repair', () => {
  it('gives a turn to who has none, page by page, and says how many', async () => {
    const others = Array.from({ length: 5 }, (_none, n) => `49152${n}`);
    for (const recipient of [...others, ...others]) await accept(recipient);
    expect(await sweeps.repairTurns(new AbortController().signal)).toBe(0);
    await opened.database.execute('update message_queue set due_at = null where connection_id = $1', [connection.id]);
    expect(await sweeps.repairTurns(new AbortController().signal)).toBe(5);
    expect(await claim()).toHaveLength(5);
  });
});
