import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../common/ids.js';
import { Database } from '../../infrastructure/database/database.js';
import type { ListCursor } from '../../infrastructure/http/page.query.js';
import { CLAIMS_BLOCKED } from '../../infrastructure/queue/claims-blocked.js';
import type { RowsOfWorkspaces } from '../../infrastructure/queue/turns.js';
import { recipientKey } from '../message-state/recipient-key.types.js';
import { HOLDS_BACK, queueTakes } from '../message-state/message-state.types.js';
import type { Fact } from '../message-state/facts.types.js';
import { FactsService } from '../message-state/facts.service.js';
import { ACTS, ASKED_AT, FIND, INSERT, LIST, NOTE, NOT_PAUSED, PAUSED, PUT, START, WAITS } from './tag-rows.js';
import { tagsErrors } from './tags.errors.js';
import { KEPT_FAILURES, type TagAction, type TagKey, type TagPlan, type TagRow } from './tags.types.js';

/** Rows that one statement moves. */
const BATCH = 2_000;
/** Messages set to failed in one transaction. */
const FAILED_AT_ONCE = 500;
/** Limit of journal messages that a search for failed ones reads, and of those that it returns for one transaction. */
const LOOK = 1_000;
const RETRIES = 250;
/** Limit of tags that get a step in one turn of a workspace. */
export const TAGS_OF_TURN = 100;
const NOT_RETRIED = `('${KEPT_FAILURES.join("', '")}')`;

/** Limit of a workspace's tags that hold messages back, by a pause, a future start or a pace; a tag may count twice. */
const MAX_HELD = 1_000;
/** An arbitrary number that no other lock uses. */
const HELD_LOCK = 720_413;

/** An unused pace releases at most as many messages as it allows in this time; at least one. */
const UNUSED_PACE_SECONDS = 2;

/** A tag with work to do. */
export interface TagWork extends TagKey {
  /** Paused, or not started. */
  isHeld: boolean;
  isPaced: boolean;
  isResuming: boolean;
  isCanceling: boolean;
  isRetrying: boolean;
}

/** The result of a step. */
export interface Moved {
  /** Changed messages; if there are no more, the tag itself counts. */
  rows: number;
  connectionIds: string[];
  /** The workspace, if messages have failed. */
  hasEvents: string | null;
}

/** A message's place in the journal. */
interface Place {
  at: string;
  id: string;
}

export interface FailedPage {
  failed: Place[];
  /** How many messages of the journal were read, if `failed` is not a full page; otherwise 0. */
  looked: number;
  before: string;
  /** Null after the last page. */
  last: Place | null;
}

interface MovedRow {
  messages: number;
  connectionIds: string[];
  failed: number;
}

@Injectable()
export class TagsRepository {
  constructor(
    private readonly database: Database,
    private readonly facts: FactsService,
  ) {}

  /** Null where there is no such tag. @throws TAG_LIMIT_REACHED (409) for a pause. */
  act({ organizationId, tag }: TagKey, action: TagAction, category: string | null): Promise<TagRow | null> {
    const params = [organizationId, tag, ...(action === 'retry' ? [category] : [])];
    return this.database.byIndex(async () => {
      await this.lock({ organizationId, tag });
      const row = await this.database.find<TagRow & Record<string, unknown>>(ACTS[action], params);
      if (row !== null && action === 'pause') await this.requireRoom(organizationId);
      return row;
    });
  }

  /**
   * Creates a tag, or changes one; absent fields of the plan stay unchanged.
   *
   * @returns null where it has started, and the plan has another start.
   * @throws TAG_LIMIT_REACHED (409).
   */
  put({ organizationId, tag }: TagKey, { paused, startAt, messagesPerMinute }: TagPlan): Promise<TagRow | null> {
    return this.database.transaction(async () => {
      const made = await this.database.execute(INSERT, [organizationId, tag]);
      const now = await this.database.row<TagRow & Record<string, unknown>>(`${FIND} for update`, [
        organizationId,
        tag,
      ]);
      const start = startAt === undefined ? now.startAt : startAt;
      if (now.isStarted && start?.getTime() !== now.startAt?.getTime()) return null;
      const isPaused = paused ?? now.isPaused;
      const pace = messagesPerMinute === undefined ? now.messagesPerMinute : messagesPerMinute;
      const action = isPaused === now.isPaused || made > 0 ? null : isPaused ? 'pause' : 'resume';
      const loses = now.messagesPerMinute !== null && pace === null;
      const params = [organizationId, tag, isPaused, start, pace, action, loses];
      const row = await this.database.row<TagRow & Record<string, unknown>>(PUT, params);
      if (isPaused || !row.isStarted || pace !== null) await this.requireRoom(organizationId);
      return row;
    });
  }

  /**
   * Claims read all tags that hold messages, so these are limited. Call it in the transaction that adds one.
   * @throws TAG_LIMIT_REACHED (409).
   */
  private async requireRoom(organizationId: string): Promise<void> {
    // One transaction at a time, so that the next one counts this tag.
    await this.database.query(`select pg_advisory_xact_lock(hashtextextended($1, ${HELD_LOCK}))`, [organizationId]);
    if ((await this.database.count(COUNT_HELD, [organizationId])) > MAX_HELD)
      throw tagsErrors.TAG_LIMIT_REACHED({ limit: MAX_HELD });
  }

  find({ organizationId, tag }: TagKey): Promise<TagRow | null> {
    return this.database.find<TagRow & Record<string, unknown>>(FIND, [organizationId, tag]);
  }

  /** Newest first. */
  list(organizationId: string, { before, beforeId }: ListCursor, limit: number): Promise<TagRow[]> {
    return this.database.query<TagRow & Record<string, unknown>>(LIST, [organizationId, before, beforeId, limit]);
  }

  /** Starts tags whose time has come; returns how many. */
  start(): Promise<number> {
    return this.database.byIndex(() => this.database.execute(START));
  }

  /** Tags of a workspace with work to do, after this one; enough for one turn. */
  work(organizationId: string, after: string): Promise<TagWork[]> {
    return this.database.query<TagWork>(WORK, [organizationId, after]);
  }

  /** Holds the waiting messages of a paused tag, also scheduled ones, so that they do not block their recipients. */
  async hold(key: TagKey): Promise<Moved> {
    return sum(key, [await this.move(HOLD, key)]);
  }

  /** Holds new messages of a tag with a pace, and releases as many as the pace allows, oldest first. */
  async pace(key: TagKey): Promise<Moved> {
    const held = await this.move(HOLD_FOR_PACE, key);
    const { organizationId, tag } = key;
    const params = [organizationId, tag, UNUSED_PACE_SECONDS];
    const allowed = await this.database.find<{ messages: number }>(ALLOWANCE, params);
    // Less than 0: the clock was set back, and the pace counts as used up to now.
    if (allowed === null || allowed.messages <= 0) return sum(key, [held]);
    const expired = await this.fail(key, LATE_IN_PACE, expiredFact, [allowed.messages]);
    return sum(key, [held, expired, await this.free('pace', key, allowed.messages)]);
  }

  /**
   * Gives held messages new places in the queue, in the old order; expired ones fail, and scheduled ones wait for their
   * time again.
   */
  async resume(key: TagKey): Promise<Moved> {
    const expired = await this.fail(key, LATE, expiredFact);
    const moved = sum(key, [expired, await this.free('resume', key, BATCH)]);
    return moved.rows > 0 ? moved : this.end(RESUMED, key);
  }

  /** Sets the waiting messages of a tag to failed. */
  async cancel(key: TagKey): Promise<Moved> {
    const cancel = (messageId: string, before: number): Fact => ({ kind: 'canceled', messageId, before });
    const rows: MovedRow[] = [];
    for (const found of [WAITING, HELD]) rows.push(await this.fail(key, found, cancel, [], 'cancel'));
    const moved = sum(key, rows);
    return moved.rows > 0 ? moved : this.end(CANCELED, key);
  }

  /** The next failed messages to retry; null where there is nothing to retry, or no longer. */
  failed({ organizationId, tag }: TagKey): Promise<FailedPage | null> {
    return this.database.find<FailedPage & Record<string, unknown>>(FAILED, [organizationId, tag]);
  }

  /**
   * Whether this retry was neither canceled nor replaced. Locks the tag until the ambient transaction ends, so that a
   * cancel comes after it, and finds the messages that it queues.
   */
  async keepRetrying({ organizationId, tag }: TagKey, before: string): Promise<boolean> {
    return (await this.database.find(KEEP_RETRYING, [organizationId, tag, before])) !== null;
  }

  /**
   * The retry continues after the place `last`, or has ended (null). Does nothing if another retry was requested
   * meanwhile. `skipped`: messages left out, by error code.
   */
  async retried(
    { organizationId, tag }: TagKey,
    before: string,
    last: Place | null,
    done: number,
    skipped: Record<string, number>,
  ): Promise<void> {
    await this.database.execute(RETRIED, [
      organizationId,
      tag,
      before,
      last?.at ?? null,
      last?.id ?? null,
      done,
      JSON.stringify(skipped),
    ]);
  }

  /** Counts messages for which the action is done. */
  async note({ organizationId, tag }: TagKey, action: TagAction, messages: number): Promise<void> {
    await this.database.execute(NOTE, [organizationId, tag, action, messages]);
  }

  /** Leaves locked messages to the next step. */
  private fail(
    { organizationId, tag }: TagKey,
    find: string,
    factOf: (messageId: string, before: number) => Fact,
    params: readonly unknown[] = [],
    action?: TagAction,
  ): Promise<MovedRow> {
    return this.database.byIndex(async () => {
      const found = await this.database.query<{ id: string; before: number }>(find, [organizationId, tag, ...params]);
      const facts = found.map(({ id, before }) => factOf(id, before));
      const applied = await this.facts.apply(facts, this.database, { skipLocked: true });
      const failed = applied.flatMap(({ moved, message }) => (moved && message !== null ? [message.connectionId] : []));
      if (action !== undefined && failed.length > 0) await this.note({ organizationId, tag }, action, failed.length);
      return { messages: failed.length, connectionIds: [...new Set(failed)], failed: failed.length };
    });
  }

  private async end(statement: string, { organizationId, tag }: TagKey): Promise<Moved> {
    const rows = await this.database.byIndex(async () => {
      await this.lock({ organizationId, tag });
      return this.database.execute(statement, [organizationId, tag]);
    });
    return { rows, connectionIds: [], hasEvents: null };
  }

  /** A separate statement, so that the next one sees messages queued by a transaction that held the tag. */
  private async lock({ organizationId, tag }: TagKey): Promise<void> {
    await this.database.execute(LOCK, [organizationId, tag]);
  }

  /** Locks the rows in a first statement, so that the releasing one sees the present first row of each recipient. */
  private free(why: keyof typeof FREE, { organizationId, tag }: TagKey, limit: number): Promise<MovedRow> {
    const { lock, free } = FREE[why];
    return this.database.byIndex(async () => {
      const rows = await this.database.query<{ id: string }>(lock, [organizationId, tag, limit]);
      const params = [organizationId, tag, rows.map(({ id }) => id)];
      return this.database.row<MovedRow & Record<string, unknown>>(free, params);
    });
  }

  /** Deletions of neighbouring rows in the queue may deadlock, so they are repeated. */
  private move(statement: string, { organizationId, tag }: TagKey): Promise<MovedRow> {
    return this.database.byIndex(() =>
      this.database.row<MovedRow & Record<string, unknown>>(statement, [organizationId, tag]),
    );
  }
}

const expiredFact = (messageId: string): Fact => ({ kind: 'expired', messageId, resumed: true });

function sum({ organizationId }: TagKey, rows: readonly MovedRow[]): Moved {
  return {
    rows: rows.reduce((total, { messages }) => total + messages, 0),
    connectionIds: [...new Set(rows.flatMap(({ connectionIds }) => connectionIds))],
    hasEvents: rows.some(({ failed }) => failed > 0) ? organizationId : null,
  };
}

const IS_HELD_BACK = '(t.paused or t.started_at is null)';
const HAS_WORK = `(t.resuming or t.cancel_before is not null or t.retry_before is not null)`;
// offset 0: reads the tag first, and then its rows. The planner might otherwise begin with all held rows.
const someOf = (condition: string): string =>
  `exists (select from message_queue q where q.organization_id = t.organization_id and q.tag = t.tag and ${condition} offset 0)`;
const IS_TO_BE_HELD = `${IS_HELD_BACK} and ${someOf(WAITS)}`;
const IS_PACED = `t.messages_per_minute is not null and not t.paused and t.started_at is not null and t.cancel_before is null`;
/** Rows that a pace applies to: without a time of their own, and not released yet. */
const UNPACED = `${WAITS} and q.scheduled_for is null and q.not_before is null`;

/** Tags with work to do, by the indexes for them. */
export const WORK_ROWS: readonly RowsOfWorkspaces[] = [
  { table: 'message_tag t', where: HAS_WORK },
  { table: 'message_tag t', where: IS_TO_BE_HELD },
  { table: 'message_tag t', where: `${IS_PACED} and ${someOf(UNPACED)}` },
  { table: 'message_tag t', where: `${IS_PACED} and ${someOf(`${PAUSED} and q.scheduled_for is null`)}` },
];

const WORK = `${WORK_ROWS.map(
  ({ table, where }) => `(
select t.organization_id as "organizationId", t.tag, ${IS_HELD_BACK} as "isHeld", ${IS_PACED} as "isPaced", t.resuming as "isResuming",
  t.cancel_before is not null as "isCanceling", t.retry_before is not null as "isRetrying"
from ${table} where t.organization_id = $1 and t.tag > $2 and ${where} order by t.organization_id, t.tag limit ${TAGS_OF_TURN})`,
).join(' union ')}
order by tag limit ${TAGS_OF_TURN}`;

// Actions on a tag change before or after a step, not during it: the step locks the row.
const locked = (condition: string): string => `tag as materialized (
  select t.cancel_before, t.started_at, t.messages_per_minute is not null as is_paced from message_tag t
  where t.organization_id = $1 and t.tag = $2 and ${condition} for no key update
)`;

/** SQL: the rows moved by a step, counted for its action where `means` holds. */
const moved = (rows: string, action: TagAction, means = 'true'): string => `, noted as (
  update message_tag t set done = t.done + (select count(*) from ${rows} where ${means})
  where t.organization_id = $1 and t.tag = $2 and t.action = '${action}' and exists (select from ${rows})
)
select (select count(*)::integer from ${rows}) as messages, 0 as failed,
  coalesce((select array_agg(distinct connection_id) from ${rows}), '{}') as "connectionIds"`;

// Locks rows as for a deletion first: a plain update would not wait for messages being accepted behind a row, and would
// leave them without a turn. The triggers of message_queue pass the turn on (migrations/1770600000000-messages.ts).
const hold = (condition: string, rows: string): string => `
with ${locked(condition)}, picked as materialized (
  select q.ctid as row_ctid from message_queue q
  where exists (select from tag) and q.organization_id = $1 and q.tag = $2 and ${rows}
  order by q.organization_id, q.tag, q.scheduled_for nulls first, q.seq limit ${BATCH} for update skip locked
), held as (
  update message_queue q set held_until = 'infinity', due_at = null
  where q.ctid = any(array(select row_ctid from picked)) and ${queueTakes('canceled')}
  returning q.connection_id
)${moved('held', 'pause')}`;

const HOLD = hold(IS_HELD_BACK, WAITS);
const HOLD_FOR_PACE = hold(IS_PACED, UNPACED);

// Time that no message used is kept only briefly: $3 seconds of it.
export const ALLOWANCE = `
with since as materialized (
  select greatest(t.paced_at, clock_timestamp() - make_interval(secs => greatest($3::float8, 60.0 / t.messages_per_minute))) as at,
    t.messages_per_minute as pace
  from message_tag t where t.organization_id = $1 and t.tag = $2 and ${IS_PACED} and not (${CLAIMS_BLOCKED}) for no key update
), allowed as (
  select at, pace, least(${BATCH}, floor(extract(epoch from clock_timestamp() - at) * pace / 60))::integer as messages from since
)
update message_tag t set paced_at = allowed.at + make_interval(secs => allowed.messages * 60.0 / allowed.pace)
from allowed where t.organization_id = $1 and t.tag = $2
returning allowed.messages`;

// Before the tag's start no time to live runs: messages count as queued, or scheduled, at the start at the earliest.
const SINCE = 'coalesce(q.scheduled_for, q.queued_at)';
const DEADLINE = `q.expires_at + greatest((select started_at from tag) - ${SINCE}, interval '0')`;
// While claims are blocked nothing counts as expired, since it may have been sent.
const IS_LATE = `q.scheduled_for is null and ${DEADLINE} <= statement_timestamp() and not (${CLAIMS_BLOCKED})`;
// Like PAUSED, for rows found by id or ctid: with PAUSED itself the planner might read the whole index of paused rows.
const IS_HELD = 'not isfinite(q.held_until)';
const IS_RESUMING = 't.resuming and not t.paused and t.cancel_before is null and t.started_at is not null';
/** The held rows that a resume releases: with a pace, only those with a time of their own. */
const RESUMED_PART = '(q.scheduled_for is not null or not (select is_paced from tag))';

// In the old order: nextval runs in the order of `ordered`. The new time is not before the lane's low-water mark, which
// has passed these rows. Nothing is released while claims are blocked: it may have been sent, and a restore marks it by
// \`queued_at\`. $3 messages.
const lockHeld = (condition: string, rows: string): string => `
with ${locked(condition)}
select q.message_id as id from message_queue q
where exists (select from tag) and q.organization_id = $1 and q.tag = $2 and ${PAUSED} and ${rows} and not (${IS_LATE})
  and not (${CLAIMS_BLOCKED})
order by q.organization_id, q.tag, q.scheduled_for nulls first, q.seq limit $3::integer for update of q skip locked`;

// $3 the rows found by \`lockHeld\`.
const free = (condition: string): string => `
with ${locked(condition)}, picked as materialized (
  select q.ctid as row_ctid, q.message_id, q.connection_id, q.scheduled_for, q.seq, ${DEADLINE} as deadline,
    greatest(${SINCE}, (select started_at from tag)) as since
  from message_queue q where exists (select from tag) and q.message_id = any($3::uuid[]) and ${IS_HELD}
), placed as materialized (
  select ordered.*, nextval('message_queue_seq_seq') as new_seq from (
    select p.row_ctid, p.deadline, p.since, r.key as lane,
      row_number() over (partition by p.connection_id, r.key order by p.seq) = 1 as is_first
    from picked p join message m on m.id = p.message_id and m.organization_id = $1
    cross join lateral (select ${recipientKey('m')} as key) as r
    where p.scheduled_for is null order by p.seq) as ordered
), freed as (
  update message_queue q set held_until = null, seq = placed.new_seq, recipient = placed.lane, expires_at = placed.deadline,
    queued_at = placed.since, due_at = case when placed.is_first then greatest(q.not_before, clock_timestamp()) end,
    not_before = case when (select is_paced from tag) then coalesce(q.not_before, clock_timestamp()) else q.not_before end
  from placed where q.ctid = placed.row_ctid and ${IS_HELD}
  returning q.connection_id, q.created_at
), rescheduled as (
  update message_queue q set held_until = greatest(picked.since, clock_timestamp()), scheduled_for = picked.since,
    expires_at = picked.deadline
  from picked where q.ctid = picked.row_ctid and picked.scheduled_for is not null and ${IS_HELD}
  returning q.connection_id, q.created_at
), resumed as (
  select * from freed union all select * from rescheduled
)${moved('resumed', 'resume', 'created_at <= t.acted_at')}`;

const FREE = {
  resume: { lock: lockHeld(IS_RESUMING, RESUMED_PART), free: free(IS_RESUMING) },
  pace: { lock: lockHeld(IS_PACED, 'q.scheduled_for is null'), free: free(IS_PACED) },
} as const;

/** SQL: waiting rows of the tag, under its lock; `before`: the time of its cancel, in microseconds. */
const waiting = (action: string, condition: string, limit = String(FAILED_AT_ONCE)): string => `
with ${locked(action)}
select q.message_id as id, (select extract(epoch from cancel_before) * 1000000 from tag)::float8 as before from message_queue q
where exists (select from tag) and q.organization_id = $1 and q.tag = $2 and ${condition}
order by q.organization_id, q.tag, q.scheduled_for nulls first, q.seq limit ${limit}`;

const LATE = waiting(IS_RESUMING, `${PAUSED} and ${RESUMED_PART} and ${IS_LATE}`);
// Those among the rows that it is about to release. $3 messages.
const LATE_IN_PACE = `
with ${locked(IS_PACED)}
select q.message_id as id, 0::float8 as before from (
  select q.* from message_queue q where exists (select from tag) and q.organization_id = $1 and q.tag = $2
    and ${PAUSED} and q.scheduled_for is null
  order by q.organization_id, q.tag, q.scheduled_for nulls first, q.seq limit least($3::integer, ${FAILED_AT_ONCE})) as q
where ${IS_LATE}`;

const ENDS = (action: TagAction): string =>
  `ended_at = case when t.action = '${action}' then clock_timestamp() else t.ended_at end`;

const COUNT_HELD = `
select count(*)::integer as count from (
  (select from message_tag t where t.organization_id = $1 and (${HOLDS_BACK}) limit ${MAX_HELD + 1})
  union all (select from message_tag where organization_id = $1 and messages_per_minute is not null limit ${MAX_HELD + 1})) as held`;

const LOCK = 'select from message_tag where organization_id = $1 and tag = $2 for update';

const RESUMED = `
update message_tag t set resuming = false, ${ENDS('resume')}
where t.organization_id = $1 and t.tag = $2 and t.resuming and t.started_at is not null and not exists (
  select from message_queue q where q.organization_id = t.organization_id and q.tag = t.tag and ${PAUSED}
    and (q.scheduled_for is not null or t.messages_per_minute is null))`;

const IS_CANCELING = `t.cancel_before is not null and not (${CLAIMS_BLOCKED})`;
const IS_BEFORE = `${ASKED_AT} <= (select cancel_before from tag)`;
const WAITING = waiting(IS_CANCELING, `${WAITS} and ${IS_BEFORE}`);
const HELD = waiting(IS_CANCELING, `${PAUSED} and ${IS_BEFORE}`);

// A message in flight may return to the queue.
const CANCELED = `
update message_tag t set cancel_before = null, ${ENDS('cancel')}
where t.organization_id = $1 and t.tag = $2 and t.cancel_before is not null
  and not exists (select from message_queue q where q.organization_id = t.organization_id and q.tag = t.tag
    and ${NOT_PAUSED} and ${ASKED_AT} <= t.cancel_before)
  and not exists (select from message_queue q where q.organization_id = t.organization_id and q.tag = t.tag
    and ${PAUSED} and ${ASKED_AT} <= t.cancel_before)`;

const JOURNAL = `(
    select m.id, m.created_at from message m
    where m.organization_id = $1 and m.tag = $2 and (m.created_at, m.id) > ((select at from tag), (select id from tag))
      and m.created_at <= (select retry_before from tag)
    order by m.created_at, m.id limit ${LOOK})`;
const lastOf = (rows: string): string =>
  `(select json_build_object('at', created_at, 'id', id) from ${rows} order by created_at desc, id desc limit 1)`;

// Rows after a full page are not read.
const FAILED = `
with tag as materialized (
  select t.retry_before, t.retry_category, coalesce(t.retry_at, '-infinity') as at, coalesce(t.retry_id, '${FIRST_ID}') as id
  from message_tag t where t.organization_id = $1 and t.tag = $2 and t.retry_before is not null and not (${CLAIMS_BLOCKED})
), found as materialized (
  select journal.id, journal.created_at from tag cross join ${JOURNAL} as journal cross join lateral (
    select from message_state s where s.message_id = journal.id and s.status = 'failed'
      and (s.failed_at <= tag.retry_before or s.failed_at > clock_timestamp())
      and case when tag.retry_category is null then coalesce(s.failure_category, 'unknown') not in ${NOT_RETRIED}
        else coalesce(s.failure_category, 'unknown') = tag.retry_category end offset 0) as failed
  order by journal.created_at, journal.id limit ${RETRIES}
), size as materialized (
  select count(*) = ${RETRIES} as is_full from found
), looked as materialized (
  select id, created_at from ${JOURNAL} as journal where not (select is_full from size)
)
select tag.retry_before::text as before, (select count(*)::integer from looked) as looked,
  coalesce((
    select json_agg(json_build_object('at', created_at, 'id', id) order by created_at, id) from found), '[]') as failed,
  case when size.is_full then ${lastOf('found')}
    when (select count(*) from looked) = ${LOOK} then ${lastOf('looked')} end as last
from tag, size`;

// Messages that failed before a restore may have been retried and sent since.
const KEEP_RETRYING = `
select from message_tag where organization_id = $1 and tag = $2 and retry_before = $3::timestamptz
  and not (${CLAIMS_BLOCKED}) for no key update`;

// $3 the retry, $4 and $5 the place after which it continues, $6 messages, $7 those left out, by error code.
const RETRIED = `
update message_tag t set retry_at = $4, retry_id = $5, retry_before = case when $5::uuid is not null then retry_before end,
  ended_at = case when $5::uuid is null and t.action = 'retry' then clock_timestamp() else t.ended_at end,
  done = t.done + case when t.action = 'retry' then $6 else 0 end,
  skipped = case when t.action = 'retry' then t.skipped || coalesce((
    select jsonb_object_agg(s.key, s.value::integer + coalesce((t.skipped ->> s.key)::integer, 0)) from jsonb_each_text($7) as s), '{}')
    else t.skipped end
where t.organization_id = $1 and t.tag = $2 and t.retry_before = $3::timestamptz`;
