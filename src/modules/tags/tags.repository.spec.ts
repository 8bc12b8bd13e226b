import { cancelMessage, factsOf, recordIn, retryMessage } from '../../../test/support/facts.js';
import { attemptRows } from '../../../test/messages/attempt-row.js';
import { statusReport } from '../../../test/messages/platform-reports.js';
import { claimRequest } from '../../../test/support/claim-request.js';
import { testPhone } from '../../../test/support/factories.js';
import { LIMITED } from '../../../test/support/limits.js';
import { seedFailed, seedQueued } from '../../../test/support/rig/seed-messages.js';
import { rowsRead } from '../../../test/support/rows-read.js';
import { newMessage } from '../../../test/support/new-message.js';
import { holdInserts } from '../../../test/support/held-inserts.js';
import { gate } from '../../../test/support/gate.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { runOutLease } from '../../../test/support/run-out-lease.js';
import {
  OWNER,
  LIMITS,
  TAG,
  MANY,
  opened,
  tags,
  sends,
  sweeps,
  connection,
  keyOf,
  begin,
  claim,
  act,
  settle,
} from '../../../test/support/fixtures/tags.js';
import { newId } from '../../common/ids.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import { AcceptRepository, INSERT_MESSAGES } from '../messages/accept/accept.repository.js';
import { MessagesMaintenanceRepository } from '../messages/maintenance/messages-maintenance.repository.js';
import { applyStatusReports } from '../messages/reports/status-reports.repository.js';
import { CLAIM, claimParams, type ClaimedMessage } from '../sending/claim/claim.repository.js';
import { OutcomeRepository, released } from '../sending/outcome/outcome.repository.js';
import type { OutcomeRecord } from '../message-state/facts.types.js';
import { ALLOWANCE, type FailedPage } from './tags.repository.js';

const LONG_MS = 600_000;

let outcomes: OutcomeRepository;
let accepts: AcceptRepository;

beforeAll(() => {
  outcomes = new OutcomeRepository(opened.database, factsOf(opened.database));
  accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
});

async function accept(recipient: string, tag: string | null = TAG): Promise<string> {
  return (await accepts.accept(newMessage(connection, recipient, tag === null ? {} : { tag }))).messageId;
}

const putOff = (claimed: ClaimedMessage, delayMs: number): OutcomeRecord => ({
  ...released(claimed, delayMs),
  tries: 1,
});
const accepted = (claimed: ClaimedMessage): OutcomeRecord => ({
  ...released(claimed),
  status: 'accepted',
  metaMessageId: `wamid.${claimed.attemptId}`,
});

/** A message that was sent and deferred; what else is due is returned as it was. */
async function tried(
  recipient: string,
  { delayMs = 0, tag = TAG }: { delayMs?: number; tag?: string | null } = {},
): Promise<ClaimedMessage> {
  const id = await accept(recipient, tag);
  const claimed = await claim();
  for (const each of claimed) await outcomes.record(putOff(each, each.id === id ? delayMs : 0));
  return attemptOf(claimed, id);
}

/** A message without a tag, and behind it one that was tried, as where two lanes were joined. */
async function triedBehind(): Promise<[string, string]> {
  const to = testPhone();
  const { id } = await tried(to);
  const first = await accept(to, null);
  await opened.database.execute('update message_queue set seq = seq + 1000, due_at = null where message_id = $1', [id]);
  await fallDue(first);
  return [first, id];
}

/** Its time has come. */
async function fallDue(id: string): Promise<void> {
  await opened.database.execute('update message_queue set due_at = clock_timestamp() where message_id = $1', [id]);
}

/** Statements that wait for another transaction. */
function waiting(): Promise<number> {
  return opened.database.count(
    `select count(*)::integer as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
}

function attemptOf(claimed: readonly ClaimedMessage[], id: string): ClaimedMessage {
  const found = claimed.find((each) => each.id === id);
  if (found === undefined) throw new Error('it was not claimed');
  return found;
}

/** Rows that a claim or a look for due lanes reads now, or as soon as their time has come. */
function dueRows(): Promise<{ id: string }[]> {
  return opened.database.query(
    `select message_id as id from message_queue where connection_id = $1 and due_at is not null order by due_at, seq`,
    [connection.id],
  );
}

const dueIds = async (): Promise<string[]> => (await dueRows()).map(({ id }) => id);
const isFound = async (): Promise<boolean> => (await sends.dueConnections(2_000, null)).lanes.includes(connection.id);

/** Sends all that may go, one claim after the other. */
async function sendAll(): Promise<string[]> {
  const left: string[] = [];
  for (let claimed = await claim(); claimed.length > 0; claimed = await claim()) {
    left.push(...claimed.map(({ id }) => id));
    for (const each of claimed) await outcomes.record(accepted(each));
  }
  return left;
}

describe('a pause', () => {
  it('leaves no row of the tag due: the lane is not found, its mark passes, and the sweep has nothing to do', async () => {
    const [first, second, third] = [testPhone(), testPhone(), testPhone()];
    await tried(first);
    await accept(first);
    await tried(second, { delayMs: LONG_MS });
    await accept(third);
    expect(await isFound()).toBe(true);
    expect(await act('pause')).toBe('paused');

    expect(await dueRows()).toEqual([]);
    expect(await isFound()).toBe(false);
    expect(await claim()).toEqual([]);
    expect(await tags.work(connection.organizationId, '')).toEqual([]);
    await opened.database.execute(
      `update lane set low_at = clock_timestamp() - interval '1 hour',
         next_slot_at = clock_timestamp() - interval '1 minute' where key = $1`,
      [connection.id],
    );
    await sends.dueConnections.moveMarks();
    const { age } = await opened.database.row<{ age: number }>(
      'select extract(epoch from clock_timestamp() - low_at)::float8 as age from lane where key = $1',
      [connection.id],
    );
    expect(age).toBeLessThan(1_800);
    const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    expect(await maintenance.oldestDueSeconds()).toBe(0);
  });

  it('and a resume let all go once, in the order of each recipient', async () => {
    const recipients = [testPhone(), testPhone(), testPhone()];
    const placed = new Map<string, string[]>();
    for (const recipient of recipients) {
      const { id } = await tried(recipient);
      placed.set(recipient, [id, await accept(recipient), await accept(recipient)]);
    }
    await act('pause');
    expect(await act('resume')).toBe('active');
    const left = await sendAll();
    expect(left).toHaveLength(9);
    for (const ids of placed.values()) expect(left.filter((id) => ids.includes(id))).toEqual(ids);
  });

  it('keeps the time of what was deferred; what waits behind it passes', async () => {
    const to = testPhone();
    const [soon, later] = [await tried(testPhone()), await tried(to, { delayMs: LONG_MS })];
    const passing = [await accept(to, null), await accept(to, null)];
    const behind = await accept(to);
    await act('pause');
    passing.push(await accept(to, null));
    expect(await sendAll()).toEqual(passing);
    const last = await accept(to, null);
    expect(await act('resume')).toBe('active');
    expect((await sendAll()).sort()).toEqual([soon.id, last].sort());
    const rows = await opened.database.query<{ id: string; seconds: number | null }>(
      `select message_id as id, extract(epoch from due_at - clock_timestamp())::float8 as seconds
       from message_queue where connection_id = $1 order by seq`,
      [connection.id],
    );
    expect(rows.map(({ id }) => id)).toEqual([later.id, behind]);
    expect(rows[0]?.seconds).toBeGreaterThan(LONG_MS / 2_000);
    expect(rows[1]?.seconds).toBeNull();
    await fallDue(later.id);
    expect(await sendAll()).toEqual([later.id, behind]);
  });

  it('after a resume, and before all went back, holds all again', async () => {
    const ids = [(await tried(testPhone())).id, (await tried(testPhone())).id];
    await act('pause');
    await tags.act(keyOf(), 'resume', null);
    expect(await act('pause')).toBe('paused');
    expect(await dueRows()).toEqual([]);
    await act('resume');
    expect((await sendAll()).sort()).toEqual(ids.sort());
  });

  it('of one tag leaves rows of others, and those without one, as they are', async () => {
    await tried(testPhone());
    const others = [await tried(testPhone(), { tag: 'other' }), await tried(testPhone(), { tag: null })];
    await act('pause');
    expect((await sendAll()).sort()).toEqual(others.map(({ id }) => id).sort());
  });
});

describe('what comes back to a paused tag', () => {
  const delays = [
    ['at once', 0],
    ['for a time', LONG_MS],
  ] as const;

  it.each(delays)('from the wire, deferred %s, is not due', async (_name, delayMs) => {
    const to = testPhone();
    const id = await accept(to);
    const behind = await accept(to, null);
    const [claimed] = await claim();
    await act('pause');
    await outcomes.record(putOff(claimed as ClaimedMessage, delayMs));
    expect(await settle()).toBe('paused');
    expect(await sendAll()).toEqual([behind]);
    await act('resume');
    expect(await dueIds()).toEqual([id]);
    await fallDue(id);
    expect(await sendAll()).toEqual([id]);
  });

  it('beside a message that is accepted for its recipient: that one is eligible', async () => {
    const to = testPhone();
    const id = await accept(to);
    const [claimed] = await claim();
    const outcome = await begin();
    await recordIn(outcome, putOff(claimed as ClaimedMessage, LONG_MS));
    const plain = await accept(to, null);
    // Behind the one that is deferred.
    expect(await dueIds()).toEqual([]);
    await outcome.query('commit');
    expect(await dueIds()).toEqual([id]);
    await act('pause');
    expect(await sendAll()).toEqual([plain]);
    expect(await isFound()).toBe(false);
  });

  it('by a retry', async () => {
    const to = testPhone();
    const id = await accept(to);
    const [claimed] = await claim();
    await outcomes.record({ ...released(claimed as ClaimedMessage), status: 'failed' });
    await act('pause');
    await retryMessage(opened.database, connection.organizationId, id, ['failed'], 'hello');
    expect(await settle()).toBe('paused');
    expect(await dueRows()).toEqual([]);
    await act('resume');
    expect(await sendAll()).toEqual([id]);
  });

  it('by an answer that comes after the lease', async () => {
    const id = await accept(testPhone());
    const [claimed] = await claim();
    await runOutLease(opened.database, id);
    expect(await sweeps.expireLeases(10)).toHaveLength(1);
    await act('pause');
    expect(await outcomes.record(putOff(claimed as ClaimedMessage, 0))).toBe('recorded');
    expect(await settle()).toBe('paused');
    expect(await dueRows()).toEqual([]);
    await act('resume');
    expect(await sendAll()).toEqual([id]);
  });

  it('by its turn: what was tried and stands behind another message is held before it has one', async () => {
    const [first, id] = await triedBehind();
    await act('pause');
    expect(await dueIds()).toEqual([first]);
    expect(await sendAll()).toEqual([first]);
    expect(await dueRows()).toEqual([]);
    await act('resume');
    expect(await sendAll()).toEqual([id]);
  });
});

describe('a resume', () => {
  it('gives each recipient one turn, whatever stands before what was held', async () => {
    const to = testPhone();
    const [{ id: first }, { id: second }] = [await tried(to, { delayMs: LONG_MS }), await tried(testPhone())];
    await opened.database.execute('update message_queue set recipient = $2, due_at = null where message_id = $1', [
      second,
      to,
    ]);
    await act('pause');
    const plain = await accept(to, null);
    await act('resume');
    // The names of the recipients are those of the messages.
    expect(await sendAll()).toEqual([plain, second]);
    await fallDue(first);
    expect(await sendAll()).toEqual([first]);
  });

  it('gives a recipient one turn where all its messages were tried', async () => {
    const to = testPhone();
    const ids = [(await tried(to)).id, (await tried(testPhone())).id, (await tried(testPhone())).id];
    await opened.database.execute('update message set recipient = $2 where id = any($1)', [ids, to]);
    await act('pause');
    await act('resume');
    expect(await dueIds()).toEqual(ids.slice(0, 1));
    expect(await sendAll()).toEqual(ids);
  });

  it('gives many to few recipients new places in the old order, and each recipient one turn', async () => {
    await seedQueued(opened.database, connection, { count: MANY, recipients: 7, tag: TAG });
    const inOrder = `select message_id as id, seq, recipient, due_at is not null as due from message_queue order by seq`;
    const before = await opened.database.query<{ id: string; seq: string; recipient: string }>(inOrder);
    await act('pause');
    expect(await act('resume')).toBe('active');
    const after = await opened.database.query<{ id: string; seq: string; recipient: string; due: boolean }>(inOrder);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(Number(after[0]?.seq)).toBeGreaterThan(Number(before.at(-1)?.seq));
    const turns = after.filter(({ due }) => due).map(({ id }) => id);
    expect(turns).toEqual(after.slice(0, 7).map(({ id }) => id));
  });

  it('beside the end of the message before it strands none', async () => {
    const [first, id] = await triedBehind();
    await act('pause');
    const end = await begin();
    await end.query('delete from message_queue where message_id = $1', [first]);
    await act('resume');
    await end.query('commit');
    expect(await sendAll()).toEqual([id]);
  });
});

describe('beside a pause', () => {
  it('a claim under way has its message, which is held when it comes back', async () => {
    const { id } = await tried(testPhone());
    const other = await begin();
    const request = claimRequest(connection.id, OWNER, 1);
    await other.query(CLAIM.text, claimParams([request], [newId()], LIMITS.leaseMs));
    await tags.act(keyOf(), 'pause', null);
    expect(await tags.hold(keyOf())).toMatchObject({ rows: 0 });
    await other.query('commit');
    expect(await settle()).toBe('paused');
    const { attemptId } = await opened.database.row<{ attemptId: string }>(
      'select attempt_id as "attemptId" from message_queue where message_id = $1 and due_at is null',
      [id],
    );
    expect(await outcomes.record(released({ id, attemptId }))).toBe('recorded');
    await settle();
    expect(await dueRows()).toEqual([]);
    expect(await claim()).toEqual([]);
  });

  it('a claim passes over what is being held, and a new message does not wait for it', async () => {
    const to = testPhone();
    const { id } = await tried(to);
    const [claimer, acceptor] = [await begin(), await begin()];
    await tags.act(keyOf(), 'pause', null);
    const plain = newMessage(connection, to);
    await opened.database.transaction(async () => {
      expect(await tags.hold(keyOf())).toMatchObject({ rows: 1 });
      const request = claimRequest(connection.id, OWNER, 1);
      await claimer.query(CLAIM.text, claimParams([request], [newId()], LIMITS.leaseMs));
      await claimer.query('commit');
      await acceptor.query(INSERT_MESSAGES.text, [JSON.stringify([plain]), 24]);
      await acceptor.query('commit');
    });
    expect(await dueIds()).toEqual([plain.id]);
    expect(await sendAll()).toEqual([plain.id]);
    await act('resume');
    expect(await sendAll()).toEqual([id]);
  });

  it('a message that is being accepted behind it: it is held afterwards, and that one is eligible', async () => {
    const to = testPhone();
    const id = await accept(to);
    const acceptor = await begin();
    const plain = newMessage(connection, to);
    await acceptor.query(INSERT_MESSAGES.text, [JSON.stringify([plain]), 24]);
    await tags.act(keyOf(), 'pause', null);
    // It is locked by what is being accepted.
    expect(await tags.hold(keyOf())).toMatchObject({ rows: 0 });
    await acceptor.query('commit');
    expect(await settle()).toBe('paused');
    expect(await dueIds()).toEqual([plain.id]);
    expect(await sendAll()).toEqual([plain.id]);
    await act('resume');
    expect(await sendAll()).toEqual([id]);
  });

  it('the end of the message before it, at once: what waits behind both is eligible', async () => {
    const to = testPhone();
    const first = await accept(to, null);
    const held = await accept(to);
    const last = await accept(to, null);
    const end = await begin();
    await tags.act(keyOf(), 'pause', null);
    let over: Promise<unknown> = Promise.resolve();
    await opened.database.transaction(async () => {
      expect(await tags.hold(keyOf())).toMatchObject({ rows: 1 });
      // It passes the turn on to the row that is being held, and waits for it.
      over = end.query('delete from message_queue where message_id = $1', [first]);
      await waitFor(async () => (await waiting()) > 0);
    });
    await over;
    await end.query('commit');
    expect(await dueIds()).toEqual([last]);
    expect(await sendAll()).toEqual([last]);
    await act('resume');
    expect(await sendAll()).toEqual([held]);
  });

  it('the end of a message behind it, at once: what waits behind both is eligible', async () => {
    const to = testPhone();
    const held = await accept(to);
    const next = await accept(to, null);
    const last = await accept(to, null);
    const end = await begin();
    await end.query('delete from message_queue where message_id = $1', [next]);
    await tags.act(keyOf(), 'pause', null);
    const settled = settle();
    await waitFor(async () => (await waiting()) > 0);
    await end.query('commit');
    expect(await settled).toBe('paused');
    expect(await dueIds()).toEqual([last]);
    expect(await sendAll()).toEqual([last]);
    await act('resume');
    expect(await sendAll()).toEqual([held]);
  });

  it('what is scheduled keeps its time, and returns to it', async () => {
    const sendAt = new Date(Date.now() + LONG_MS).toISOString();
    const { messageId: id } = await accepts.accept(newMessage(connection, testPhone(), { tag: TAG, sendAt }));
    const held = `select held_until = 'infinity' as paused, scheduled_for = $2 as kept, held_until = scheduled_for as waits
      from message_queue where message_id = $1`;
    await act('pause');
    expect(await opened.database.query(held, [id, sendAt])).toEqual([{ paused: true, kept: true, waits: false }]);
    await act('resume');
    expect(await opened.database.query(held, [id, sendAt])).toEqual([{ paused: false, kept: true, waits: true }]);
    expect(await dueRows()).toEqual([]);
  });
});

describe('what is held', () => {
  it('is canceled with its tag', async () => {
    const { id } = await tried(testPhone());
    const behind = await accept(testPhone());
    await act('pause');
    expect(await act('cancel')).toBe('active');
    const rows = await opened.database.query<{ id: string; failure_category: string }>(
      'select message_id as id, failure_category from message_state where message_id = any($1) order by 1',
      [[id, behind]],
    );
    expect(rows).toEqual([id, behind].sort().map((each) => ({ id: each, failure_category: 'canceled' })));
    expect(await sendAll()).toEqual([]);
  });

  it('does not expire; the resume fails what has', async () => {
    const [{ id }, untried] = [await tried(testPhone()), await accept(testPhone())];
    const goes = await accept(testPhone());
    await act('pause');
    await opened.database.execute(
      `update message_queue set expires_at = clock_timestamp() - interval '1 second' where message_id = any($1)`,
      [[id, untried]],
    );
    expect(await sweeps.expireQueued(10)).toEqual([]);
    await act('resume');
    expect(await sendAll()).toEqual([goes]);
    const rows = await opened.database.query<{ id: string }>(
      `select message_id as id, failure_category as category, attempt_number as attempts from message_state
       where message_id = any($1) order by 1`,
      [[id, untried]],
    );
    expect(rows).toEqual([
      { id, category: 'expired', attempts: 1 },
      { id: untried, category: 'expired', attempts: 0 },
    ]);
  });

  it('does not expire before its start either, though no step has held it yet', async () => {
    await tags.put(keyOf(), { paused: true });
    const id = await accept(testPhone());
    await opened.database.execute(
      `update message_queue set queued_at = queued_at - interval '2 minutes', expires_at = clock_timestamp() - interval '1 second'
       where message_id = $1`,
      [id],
    );
    expect(await sweeps.expireQueued(10)).toEqual([]);
    await settle();
    await act('resume');
    expect(await sendAll()).toEqual([id]);
  });

  it('is all that came before the start, however late that is: its time to live runs from then on', async () => {
    await tags.put(keyOf(), { startAt: new Date(Date.now() + LONG_MS) });
    const id = await accept(testPhone());
    await opened.database.execute(`update message_tag set start_at = clock_timestamp()`);
    await opened.database.execute(
      `update message_queue set queued_at = queued_at - interval '2 minutes', expires_at = clock_timestamp() - interval '1 second'
       where message_id = $1`,
      [id],
    );
    expect(await tags.start()).toBe(0);
    await settle();
    expect(await tags.start()).toBe(1);
    expect(await settle()).toBe('active');
    expect(await sendAll()).toEqual([id]);
  });

  it('is neither freed nor called expired while claims are blocked', async () => {
    const { id } = await tried(testPhone());
    await act('pause');
    await opened.database.execute(
      `update message_queue set expires_at = clock_timestamp() - interval '1 second' where message_id = $1`,
      [id],
    );
    await opened.database.execute(`update database_identity set identity = 'another/1/1'`);
    try {
      await tags.act(keyOf(), 'resume', null);
      expect((await tags.resume(keyOf())).rows).toBe(0);
      expect(await dueIds()).toEqual([]);
    } finally {
      await opened.database.execute('update database_identity set identity = identity_of_database()');
    }
  });

  it('is found by a report of its attempt, and by the attempt’s late answer', async () => {
    const [reported, answered] = [await tried(testPhone()), await tried(testPhone())];
    await act('pause');
    const { id, attemptId } = reported;
    const report = statusReport(connection.id, { id, attemptId, metaMessageId: `wamid.${attemptId}` }, 'delivered');
    await opened.database.transaction(() => applyStatusReports([report], opened.database, factsOf(opened.database)));
    expect(await outcomes.record(accepted(answered))).toBe('retry_canceled');
    const rows = await opened.database.query<{ id: string; status: string }>(
      'select id, status from message_view where connection_id = $1',
      [connection.id],
    );
    expect(new Map(rows.map(({ id, status }) => [id, status]))).toEqual(
      new Map([
        [reported.id, 'delivered'],
        [answered.id, 'accepted'],
      ]),
    );
    expect(await attemptRows(opened.database, answered.id)).toHaveLength(1);
    await act('resume');
    expect(await sendAll()).toEqual([]);
  });
});

describe('on a restored database', () => {
  const block = () => opened.database.execute(`update database_identity set identity = 'another/1/1'`);
  const unblock = () => opened.database.execute('update database_identity set identity = identity_of_database()');
  afterEach(unblock);

  async function markBefore(before: Date): Promise<number> {
    const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    return opened.database.transaction(() => maintenance.markUncertain(before));
  }
  /** The next millisecond: a Date without its microseconds would be before what was accepted just now. */
  const now = async () =>
    (await opened.database.row<{ now: Date }>(`select clock_timestamp() + interval '1 ms' as now`)).now;
  const statuses = (ids: readonly string[]) =>
    opened.database.query<{ status: string }>(
      'select status from message_state where message_id = any($1) order by message_id',
      [ids],
    );

  it('a tag whose start has passed does not start, and what it holds is marked', async () => {
    const startAt = new Date((await now()).getTime() + 3_600_000);
    await tags.put(keyOf(), { startAt });
    const id = await accept(testPhone());
    await settle();
    await opened.database.execute(`update message_tag set start_at = clock_timestamp() - interval '1 hour'`);
    await block();
    const since = await now();
    expect(await tags.start()).toBe(0);
    await settle();
    expect([await dueIds(), await markBefore(since)]).toEqual([[], 1]);
    expect(await statuses([id])).toEqual([{ status: 'outcome_unknown' }]);
  });

  it('a tag with a pace lets nothing pass, and what it holds is marked', async () => {
    await tags.put(keyOf(), { messagesPerMinute: 60_000 });
    const id = await accept(testPhone());
    await block();
    const since = await now();
    await tags.pace(keyOf());
    expect([await dueIds(), await markBefore(since)]).toEqual([[], 1]);
    expect(await statuses([id])).toEqual([{ status: 'outcome_unknown' }]);
  });

  it('a retry of a tag does not go on until claims do', async () => {
    await seedFailed(opened.database, connection, { count: 3, tag: TAG });
    await tags.act(keyOf(), 'retry', null);
    const page = await tags.failed(keyOf());
    await block();
    expect(await tags.failed(keyOf())).toBeNull();
    expect(await opened.database.transaction(() => tags.keepRetrying(keyOf(), page?.before ?? ''))).toBe(false);
    await unblock();
    expect((await tags.failed(keyOf()))?.failed).toHaveLength(3);
  });
});

describe('a pace', () => {
  it('gives no more than it has to two steps at once', async () => {
    await tags.put(keyOf(), { messagesPerMinute: 6 });
    await opened.database.execute(`update message_tag set paced_at = clock_timestamp() - interval '1 minute'`);
    const other = await begin();
    await other.query('select from message_tag for update');
    const params = [connection.organizationId, TAG, 60];
    const allow = () => opened.database.find<{ messages: number }>(ALLOWANCE, params);
    const steps = [allow(), allow()];
    await waitFor(async () => (await waiting()) === 2);
    await other.query('commit');
    const allowed = (await Promise.all(steps)).map((row) => row?.messages ?? 0);
    expect(new Set(allowed)).toEqual(new Set([0, 6]));
  });

  it('frees what comes after a resume, and that resume has not done it', async () => {
    await tags.put(keyOf(), { messagesPerMinute: 6_000 });
    await accept(testPhone());
    await act('pause');
    await tags.act(keyOf(), 'resume', null);
    await opened.database.execute(`update message_tag set acted_at = acted_at - interval '1 second'`);
    await opened.database.execute(`update message_queue set created_at = created_at - interval '2 seconds'`);
    await accept(testPhone());
    await tags.pace(keyOf());
    expect(await sendAll()).toHaveLength(2);
    expect(await tags.find(keyOf())).toMatchObject({ action: 'resume', done: 1 });
  });

  it('goes on at once after the clock of the database stepped back', async () => {
    await tags.put(keyOf(), { paused: false, messagesPerMinute: 600 });
    const id = await accept(testPhone());
    await opened.database.execute(`update message_tag set paced_at = clock_timestamp() + interval '1 hour'`);
    expect(await tags.pace(keyOf())).toMatchObject({ rows: 1 });
    await opened.database.execute(`update message_tag set paced_at = paced_at - interval '1 second'`);
    expect(await tags.pace(keyOf())).toMatchObject({ rows: 1 });
    expect(await sendAll()).toEqual([id]);
  });
});

describe('a cancel', () => {
  const canceled = async (): Promise<string[]> =>
    (
      await opened.database.query<{ id: string }>(
        `select message_id as id from message_state where failure_category = 'canceled' and connection_id = $1 order by 1`,
        [connection.id],
      )
    ).map(({ id }) => id);

  it('ends what comes back to the queue after it', async () => {
    const id = await accept(testPhone());
    const [claimed] = await claim();
    await runOutLease(opened.database, id);
    await sweeps.expireLeases(10);
    expect(await act('cancel')).toBe('active');
    const later = await accept(testPhone());
    expect(await outcomes.record(putOff(claimed as ClaimedMessage, 0))).toBe('recorded');
    expect(await tags.find(keyOf())).toMatchObject({ status: 'canceling' });
    expect(await settle()).toBe('active');
    expect(await canceled()).toEqual([id]);
    expect(await sendAll()).toEqual([later]);
  });

  it('ends also what comes back by a statement that began before it', async () => {
    const id = await accept(testPhone());
    const [claimed] = await claim();
    await runOutLease(opened.database, id);
    await sweeps.expireLeases(10);
    const inserts = await holdInserts(opened.database, opened.url);
    const comesBack = outcomes.record(putOff(claimed as ClaimedMessage, 0));
    try {
      await inserts.waiting(1);
      let isAsked = false;
      const asked = act('cancel').finally(() => (isAsked = true));
      // It ends, or waits for what comes back.
      await Promise.race([asked, inserts.waiting(2)]);
      await inserts.release();
      expect([await comesBack, await asked, isAsked]).toEqual(['recorded', 'active', true]);
    } finally {
      await inserts.release();
    }
    expect(await settle()).toBe('active');
    expect(await canceled()).toEqual([id]);
    expect(await sendAll()).toEqual([]);
  });

  it('ends also what a step of a retry, which holds the tag, queues while the cancel waits for it', async () => {
    const id = await accept(testPhone());
    for (const each of await claim()) await outcomes.record({ ...released(each), status: 'failed' });
    await tags.act(keyOf(), 'retry', null);
    const before = (await tags.failed(keyOf()))?.before ?? '';
    const [kept, queues] = [gate(), gate()];
    const step = opened.database.transaction(async () => {
      expect(await tags.keepRetrying(keyOf(), before)).toBe(true);
      kept.open();
      await queues.opened;
      return retryMessage(opened.database, connection.organizationId, id, ['failed']);
    });
    await kept.opened;
    const asked = tags.act(keyOf(), 'cancel', null);
    await waitFor(waiting, { what: 'the cancel to wait for the step' });
    queues.open();
    expect(await step).toBe(true);
    expect(await asked).toMatchObject({ status: 'canceling' });
    expect(await settle()).toBe('active');
    expect(await canceled()).toEqual([id]);
    expect(await sendAll()).toEqual([]);
  });

  it('and a retry mean what was accepted before the clock of the database stepped back', async () => {
    const [waits, held, retried] = [await accept(testPhone()), await accept(testPhone()), await accept(testPhone())];
    const returns = await accept(testPhone());
    const claimed = await claim();
    for (const each of claimed) {
      if (each.id === returns) continue;
      await outcomes.record({ ...released(each), ...(each.id === retried && { status: 'failed' }) });
    }
    await runOutLease(opened.database, returns);
    await sweeps.expireLeases(10);
    await opened.database.execute(
      `update message_queue set held_until = 'infinity', due_at = null where message_id = $1`,
      [held],
    );
    for (const table of ['message', 'message_state', 'message_queue']) {
      await opened.database.execute(
        `update ${table} set created_at = created_at + interval '1 hour' where connection_id = $1`,
        [connection.id],
      );
    }
    for (const [table, column] of [
      ['message_state', 'queued_at'],
      ['message_state', 'failed_at'],
      ['message_state', 'changed_at'],
      ['message_tag_count', 'last_at'],
    ]) {
      await opened.database.execute(
        `update ${table} set ${column} = ${column} + interval '1 hour' where connection_id = $1`,
        [connection.id],
      );
    }
    await tags.act(keyOf(), 'retry', null);
    expect((await tags.failed(keyOf()))?.failed.map(({ id }) => id)).toEqual([retried]);
    expect(await act('cancel')).toBe('active');
    expect(await canceled()).toEqual([waits, held].sort());
    expect(await outcomes.record(putOff(attemptOf(claimed, returns), 0))).toBe('recorded');
    expect(await settle()).toBe('active');
    expect(await canceled()).toEqual([waits, held, returns].sort());
    expect(await sendAll()).toEqual([]);
  });

  it('is applied again after a retry by hand, although the clock of the database stepped back between the two', async () => {
    const id = await accept(testPhone());
    const cancel = () => cancelMessage(opened.database, connection.organizationId, id);
    expect(await cancel()).toBe(true);
    for (const [table, column] of [
      ['message_state', 'failed_at'],
      ['message_state', 'changed_at'],
      ['message_act', 'at'],
    ]) {
      await opened.database.execute(
        `update ${table} set ${column} = ${column} + interval '1 hour' where message_id = $1`,
        [id],
      );
    }
    expect(await retryMessage(opened.database, connection.organizationId, id, ['failed'])).toBe(true);
    expect(await cancel()).toBe(true);
    const acts = await opened.database.query('select act from message_act where message_id = $1 order by at', [id]);
    expect(acts).toEqual([{ act: 'canceled' }, { act: 'retried' }, { act: 'canceled' }]);
  });
});

describe('a retry', () => {
  it('that is asked for after a cancel of the tag, by hand, is not canceled by its steps', async () => {
    const retry = (id: string) => retryMessage(opened.database, connection.organizationId, id, ['failed']);
    const [before, after] = [await accept(testPhone()), await accept(testPhone())];
    for (const each of await claim()) await outcomes.record({ ...released(each), status: 'failed' });
    expect(await retry(before)).toBe(true);
    const waits = await accept(testPhone());
    await tags.act(keyOf(), 'cancel', null);
    expect(await retry(after)).toBe(true);
    expect(await settle()).toBe('active');
    const rows = await opened.database.query<{ id: string }>(
      `select message_id as id from message_state where failure_category = 'canceled' and connection_id = $1 order by 1`,
      [connection.id],
    );
    expect(rows.map(({ id }) => id)).toEqual([before, waits].sort());
    expect(await sendAll()).toEqual([after]);
  });

  it('finds what has failed page by page, as much as a turn may do, and reads no more of it', async () => {
    await seedFailed(opened.database, connection, { count: 1_500, tag: TAG });
    await opened.database.execute(
      `update message_state set failure_category = 'canceled' where connection_id = $1 and message_id = any(array(
         select id from message where connection_id = $1 order by created_at, id limit 1150))`,
      [connection.id],
    );
    await opened.database.execute('vacuum analyze message_state');
    await tags.act(keyOf(), 'retry', null);
    const pages: FailedPage[] = [];
    let reads = 0;
    for (let page = await tags.failed(keyOf()); page !== null; page = await tags.failed(keyOf())) {
      pages.push(page);
      const look = () => tags.failed(keyOf());
      if (page.failed.length === 250) reads = await rowsRead(opened.database, 'message_state', look);
      await tags.retried(keyOf(), page.before, page.last, page.failed.length, {});
    }
    expect(pages.map(({ failed, looked }) => [failed.length, looked])).toEqual([
      [0, 1_000],
      [250, 0],
      [100, 100],
    ]);
    const found = pages.flatMap(({ failed }) => failed.map(({ id }) => id));
    const { ids } = await opened.database.row<{ ids: string[] }>(
      `select array_agg(message_id order by created_at, message_id) as ids from message_state
       where connection_id = $1 and failure_category = 'expired'`,
      [connection.id],
    );
    expect(found).toEqual(ids);
    // 150 not to be retried are before them.
    expect(reads).toBeLessThan(600);
    expect(await tags.find(keyOf())).toMatchObject({ status: 'active', action: 'retry', done: 350 });
  });
});
