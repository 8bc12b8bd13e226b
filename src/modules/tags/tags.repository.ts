import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../common/ids.js';
import { Database } from '../../infrastructure/database/database.js';
import { CLAIMS_BLOCKED } from '../../infrastructure/queue/claims-blocked.js';
import type { RowsOfWorkspaces } from '../../infrastructure/queue/turns.js';
import { recipientKey } from '../message-state/recipient-key.types.js';
import { queueTakes } from '../message-state/message-state.types.js';
import type { Fact } from '../message-state/facts.types.js';
import { FactsService } from '../message-state/facts.service.js';
import type { TagAction, TagKey, TagPart, TagStatus } from './tags.types.js';

/** Messages of a tag that are counted. */
export const MAX_COUNTED = 200_000;

/** Rows that one statement moves. */
const BATCH = 2_000;
/** Messages that fail in one transaction. */
const FAILED_AT_ONCE = 500;
/** Messages of the journal that one look for failed ones passes, and of which it finds no more than one transaction retries. */
const LOOK = 1_000;
const RETRIES = 250;
/** Tags of which one turn of a workspace may do a step. */
export const TAGS_OF_TURN = 100;
/** What a retry without a category leaves out: the caller's and the recipient's own will. */
const NOT_RETRIED = `('canceled', 'opted_out')`;

/** A tag that something is to be done with. */
export interface TagWork extends TagKey {
  isPaused: boolean;
  isResuming: boolean;
  isCanceling: boolean;
  isRetrying: boolean;
}

/** What a step has done. */
export interface Moved {
  /** Messages, and where there are no more the tag itself. */
  rows: number;
  connectionIds: string[];
  /** The workspace, where messages have failed. */
  hasEvents: string | null;
}

/** A message's place in the journal. */
interface Place {
  at: string;
  id: string;
}

export interface FailedPage {
  failed: Place[];
  /** Messages of the journal where there are no more failed ones among them. */
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

  /** Null where no message has the tag. */
  async act({ organizationId, tag }: TagKey, action: TagAction, category: string | null): Promise<TagStatus | null> {
    const params = [organizationId, tag, ...(action === 'retry' ? [category] : [])];
    const row = await this.database.byIndex(() => this.database.find<{ status: TagStatus }>(ACTS[action], params));
    return row?.status ?? null;
  }

  async status({ organizationId, tag }: TagKey): Promise<TagStatus> {
    const row = await this.database.find<{ status: TagStatus }>(
      `select ${STATUS} as status from message_tag t where t.organization_id = $1 and t.tag = $2`,
      [organizationId, tag],
    );
    return row?.status ?? 'active';
  }

  /** The newest messages of a tag, counted; none where no message has it. */
  parts({ organizationId, tag }: TagKey): Promise<TagPart[]> {
    return this.database.query<TagPart>(PARTS, [organizationId, tag]);
  }

  /** When all that waits on these numbers has left; null where one of them cannot send. */
  async estimateEnd({ organizationId }: TagKey, waiting: readonly TagPart[]): Promise<Date | null> {
    const params = [
      organizationId,
      waiting.map(({ connectionId }) => connectionId),
      waiting.map(({ scheduled }) => scheduled),
      waiting.map(({ lastScheduledFor }) => lastScheduledFor),
    ];
    return (await this.database.row<{ end: Date | null }>(ESTIMATE, params)).end;
  }

  /** Tags of a workspace that something is to be done with, behind this one; so many that a turn has enough. */
  work(organizationId: string, after: string): Promise<TagWork[]> {
    return this.database.query<TagWork>(WORK, [organizationId, after]);
  }

  /** Holds what waits of a paused tag, scheduled messages too: it leaves its recipients' way. */
  async hold(key: TagKey): Promise<Moved> {
    return sum(key, [await this.move(HOLD, key)]);
  }

  /**
   * Gives what was held new places in the queue, in the old order; what has expired fails, and what is scheduled waits for
   * its time again.
   */
  async resume(key: TagKey): Promise<Moved> {
    const expired = await this.fail(key, LATE, (messageId) => ({ kind: 'expired', messageId, resumed: true }));
    const moved = sum(key, [expired, await this.move(RESUME, key)]);
    return moved.rows > 0 ? moved : this.end(RESUMED, key);
  }

  /** Fails what waits of a tag. */
  async cancel(key: TagKey): Promise<Moved> {
    const cancel = (messageId: string, before: number): Fact => ({ kind: 'canceled', messageId, before });
    const rows: MovedRow[] = [];
    for (const found of [WAITING, HELD]) rows.push(await this.fail(key, found, cancel));
    const moved = sum(key, rows);
    return moved.rows > 0 ? moved : this.end(CANCELED, key);
  }

  /** The next failed messages that are to be retried; null where nothing is (any more). */
  failed({ organizationId, tag }: TagKey): Promise<FailedPage | null> {
    return this.database.find<FailedPage & Record<string, unknown>>(FAILED, [organizationId, tag]);
  }

  /** Goes on behind this place, null: has ended; unless another retry was asked for meanwhile. */
  async retried({ organizationId, tag }: TagKey, before: string, last: Place | null): Promise<void> {
    await this.database.execute(
      `update message_tag set retry_at = $4, retry_id = $5, retry_before = case when $5::uuid is not null then retry_before end
       where organization_id = $1 and tag = $2 and retry_before = $3::timestamptz`,
      [organizationId, tag, before, last?.at ?? null, last?.id ?? null],
    );
  }

  /** Messages that are locked are left to the next step. */
  private fail(
    { organizationId, tag }: TagKey,
    find: string,
    factOf: (messageId: string, before: number) => Fact,
  ): Promise<MovedRow> {
    return this.database.byIndex(async () => {
      const found = await this.database.query<{ id: string; before: number }>(find, [organizationId, tag]);
      const facts = found.map(({ id, before }) => factOf(id, before));
      const applied = await this.facts.apply(facts, this.database, { skipLocked: true });
      const failed = applied.flatMap(({ moved, message }) => (moved && message !== null ? [message.connectionId] : []));
      return { messages: failed.length, connectionIds: [...new Set(failed)], failed: failed.length };
    });
  }

  private async end(statement: string, { organizationId, tag }: TagKey): Promise<Moved> {
    const rows = await this.database.byIndex(async () => {
      // First, and by itself: what enters the queue in another transaction, which changes the tag, is seen then.
      await this.database.execute(LOCK, [organizationId, tag]);
      return this.database.execute(statement, [organizationId, tag]);
    });
    return { rows, connectionIds: [], hasEvents: null };
  }

  /** Deletions of neighbours in the queue may deadlock: they are tried again. */
  private move(statement: string, { organizationId, tag }: TagKey): Promise<MovedRow> {
    return this.database.byIndex(() =>
      this.database.row<MovedRow & Record<string, unknown>>(statement, [organizationId, tag]),
    );
  }
}

function sum({ organizationId }: TagKey, rows: readonly MovedRow[]): Moved {
  return {
    rows: rows.reduce((total, { messages }) => total + messages, 0),
    connectionIds: [...new Set(rows.flatMap(({ connectionIds }) => connectionIds))],
    hasEvents: rows.some(({ failed }) => failed > 0) ? organizationId : null,
  };
}

const STATUS = `case when t.cancel_before is not null then 'canceling' when t.paused then 'paused'
  when t.resuming then 'resuming' when t.retry_before is not null then 'retrying' else 'active' end`;

const act = (columns: string, values: string, changes: string): string => `
insert into message_tag as t (organization_id, tag, acted_at${columns})
select $1, $2, clock_timestamp()${values}
where exists (select from message m where m.organization_id = $1 and m.tag = $2)
on conflict (organization_id, tag) do update set acted_at = excluded.acted_at, ${changes}
returning ${STATUS} as status`;

const NOT_PAUSED = `q.tag is not null and q.held_until is distinct from 'infinity'`;
const PAUSED = `q.held_until = 'infinity'`;

// A retry is a request of its own: one that came after the cancel is not meant by it.
const ASKED_AT = 'coalesce(q.retried_at, q.created_at)';
/** SQL: now, or later: what was accepted before the database's clock stepped back is meant too. */
const notBefore = (latest: string): string => `greatest(clock_timestamp(), (${latest}))`;
const LATEST_ASKED = [NOT_PAUSED, PAUSED]
  .map((rows) => `select max(${ASKED_AT}) from message_queue q where q.organization_id = $1 and q.tag = $2 and ${rows}`)
  .join('), (');
const LATEST_ACCEPTED = 'select max(m.created_at) from message m where m.organization_id = $1 and m.tag = $2';

const ACTS: Readonly<Record<TagAction, string>> = {
  pause: act(', paused', ', true', 'paused = true, resuming = false'),
  resume: act('', '', 'paused = false, resuming = t.resuming or t.paused'),
  cancel: act(
    ', cancel_before, canceled_before',
    `, ${notBefore(LATEST_ASKED)}, ${notBefore(LATEST_ASKED)}`,
    // A pause ends with it, and what comes meanwhile goes afterwards.
    `cancel_before = excluded.cancel_before, canceled_before = excluded.cancel_before, retry_before = null, paused = false, resuming = t.resuming or t.paused`,
  ),
  retry: act(
    ', retry_before, retry_category',
    `, ${notBefore(LATEST_ACCEPTED)}, $3`,
    `retry_before = excluded.retry_before, retry_category = excluded.retry_category, retry_at = null, retry_id = null`,
  ),
};

const WAITS = `${NOT_PAUSED} and ${queueTakes('canceled')}`;

const HAS_WORK = `(t.resuming or t.cancel_before is not null or t.retry_before is not null)`;
const IS_TO_BE_HELD = `t.paused and
    exists (select from message_queue q where q.organization_id = t.organization_id and q.tag = t.tag and ${WAITS})`;

/** Tags that something is to be done with, by the indexes that have them. */
export const WORK_ROWS: readonly RowsOfWorkspaces[] = [
  { table: 'message_tag t', where: HAS_WORK },
  { table: 'message_tag t', where: IS_TO_BE_HELD },
];

const WORK = `${WORK_ROWS.map(
  ({ table, where }) => `(
select t.organization_id as "organizationId", t.tag, t.paused as "isPaused", t.resuming as "isResuming",
  t.cancel_before is not null as "isCanceling", t.retry_before is not null as "isRetrying"
from ${table} where t.organization_id = $1 and t.tag > $2 and ${where} order by t.organization_id, t.tag limit ${TAGS_OF_TURN})`,
).join(' union ')}
order by tag limit ${TAGS_OF_TURN}`;

// What is done with a tag changes before or after a step, not in it: the step holds the row.
const locked = (condition: string): string => `tag as materialized (
  select t.cancel_before from message_tag t where t.organization_id = $1 and t.tag = $2 and ${condition} for share
)`;

const moved = (rows: string, failed = '0'): string => `
select (select count(*)::integer from ${rows}) as messages, ${failed} as failed,
  coalesce((select array_agg(distinct connection_id) from ${rows}), '{}') as "connectionIds"`;

// Locked as for a deletion first: an update alone would not wait for what is being accepted behind a row, and leave it without a
// turn. The triggers of message_queue pass the turn on (migrations/1770600000000-messages.ts).
const HOLD = `
with ${locked('t.paused')}, picked as materialized (
  select q.ctid as row_ctid from message_queue q
  where exists (select from tag) and q.organization_id = $1 and q.tag = $2 and ${WAITS}
  order by q.organization_id, q.tag, q.seq limit ${BATCH} for update skip locked
), held as (
  update message_queue q set held_until = 'infinity', due_at = null
  where q.ctid = any(array(select row_ctid from picked)) and ${queueTakes('canceled')}
  returning q.connection_id
)${moved('held')}`;

// While claims are blocked nothing is called expired, since it may have been sent.
const IS_LATE = `q.scheduled_for is null and q.expires_at <= statement_timestamp() and not (${CLAIMS_BLOCKED})`;
// As PAUSED, of rows that are found by their place: all of the index of what is paused would do for that.
const IS_HELD = 'not isfinite(q.held_until)';
const IS_RESUMING = 't.resuming and not t.paused and t.cancel_before is null';

// In the order of before: nextval is drawn in the order of `ordered`. The time is not before the lane's low-water mark, which has
// passed the rows.
const RESUME = `
with ${locked(IS_RESUMING)}, picked as materialized (
  select q.ctid as row_ctid, q.message_id, q.connection_id, q.scheduled_for, q.seq from message_queue q
  where exists (select from tag) and q.organization_id = $1 and q.tag = $2 and ${PAUSED} and not (${IS_LATE})
  order by q.organization_id, q.tag, q.seq limit ${BATCH} for update skip locked
), placed as materialized (
  select ordered.*, nextval('message_queue_seq_seq') as new_seq from (
    select p.row_ctid, r.key as lane,
      row_number() over (partition by p.connection_id, r.key order by p.seq) = 1 as is_first
    from picked p join message m on m.id = p.message_id and m.organization_id = $1
    cross join lateral (select ${recipientKey('m')} as key) as r
    where p.scheduled_for is null order by p.seq) as ordered
), freed as (
  update message_queue q set held_until = null, seq = placed.new_seq, recipient = placed.lane,
    due_at = case when placed.is_first then greatest(q.not_before, clock_timestamp()) end
  from placed where q.ctid = placed.row_ctid and ${IS_HELD}
  returning q.connection_id
), rescheduled as (
  update message_queue q set held_until = greatest(q.scheduled_for, clock_timestamp())
  where q.ctid = any(array(select row_ctid from picked where scheduled_for is not null)) and ${IS_HELD}
  returning q.connection_id
), resumed as (
  select connection_id from freed union all select connection_id from rescheduled
)${moved('resumed')}`;

/** SQL: rows of the tag, under its lock, that wait; `before`: the time of its cancel, microseconds. */
const waiting = (action: string, condition: string): string => `
with ${locked(action)}
select q.message_id as id, (select extract(epoch from cancel_before) * 1000000 from tag)::float8 as before from message_queue q
where exists (select from tag) and q.organization_id = $1 and q.tag = $2 and ${condition}
order by q.organization_id, q.tag, q.seq limit ${FAILED_AT_ONCE}`;

const LATE = waiting(IS_RESUMING, `${PAUSED} and ${IS_LATE}`);

const LOCK = 'select from message_tag where organization_id = $1 and tag = $2 for update';

const RESUMED = `
update message_tag t set resuming = false
where t.organization_id = $1 and t.tag = $2 and t.resuming and not exists (
  select from message_queue q where q.organization_id = t.organization_id and q.tag = t.tag and ${PAUSED})`;

const IS_CANCELING = `t.cancel_before is not null and not (${CLAIMS_BLOCKED})`;
const IS_BEFORE = `${ASKED_AT} <= (select cancel_before from tag)`;
const WAITING = waiting(IS_CANCELING, `${WAITS} and ${IS_BEFORE}`);
const HELD = waiting(IS_CANCELING, `${PAUSED} and ${IS_BEFORE}`);

// What is on the wire may come back to the queue.
const CANCELED = `
update message_tag t set cancel_before = null
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

// What is behind a full page is not looked at.
const FAILED = `
with tag as materialized (
  select t.retry_before, t.retry_category, coalesce(t.retry_at, '-infinity') as at, coalesce(t.retry_id, '${FIRST_ID}') as id
  from message_tag t where t.organization_id = $1 and t.tag = $2 and t.retry_before is not null
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

const PARTS = `
select m.connection_id as "connectionId", case when q.attempt_id is not null then 'processing' else s.status end as status,
  s.failure_category as "failureCategory", count(*)::integer as messages,
  count(q.scheduled_for)::integer as scheduled, max(q.scheduled_for) as "lastScheduledFor",
  min(m.created_at) as "firstAcceptedAt",
  max(greatest(m.created_at, q.claimed_at, s.queued_at, s.accepted_at, s.sent_at, s.delivered_at, s.read_at, s.failed_at))
    as "lastActivityAt"
from (
  select id, connection_id, created_at from message where organization_id = $1 and tag = $2
  order by created_at desc, id desc limit ${MAX_COUNTED}) as m
left join lateral (select * from message_queue where message_id = m.id offset 0) q on true
left join lateral (select * from message_state where message_id = m.id offset 0) s on true
group by 1, 2, 3`;

// $1 workspace, $2 numbers, with $3 scheduled messages and $4 the last of their times.
const ESTIMATE = `
select case when bool_and(c.status in ('connected', 'restricted')) then max(greatest(
    clock_timestamp() + make_interval(secs => queued.messages::float8 / c.throughput_per_second),
    given.last_at + make_interval(secs => given.scheduled::float8 / c.throughput_per_second))) end as end
from unnest($2::uuid[], $3::integer[], $4::timestamptz[]) as given (connection_id, scheduled, last_at)
join connection c on c.id = given.connection_id and c.organization_id = $1
cross join lateral (
  select count(*) as messages from (
    select from message_queue q where q.connection_id = c.id and q.held_until is null limit ${MAX_COUNTED}) as waiting
) as queued`;
