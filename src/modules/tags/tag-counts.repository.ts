import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { COUNT_COLUMNS } from '../message-state/tag-counts.types.js';
import type { TagPart } from './tags.types.js';

/** Rows that one round of the sweep reads. */
const NEW_ROWS = 5_000;
/** Limit of untagged messages of a number that an estimate counts. */
const MAX_COUNTED = 1_000;

/** How many messages of a tag are in each state: counted with each change (`countRows`), and summed up here. */
@Injectable()
export class TagCountsRepository {
  constructor(private readonly database: Database) {}

  /**
   * By tag. The number of rows read does not depend on what the tags have sent: their sums, changes of the last second,
   * and messages in flight.
   */
  async parts(organizationId: string, tags: readonly string[]): Promise<Map<string, TagPart[]>> {
    const rows = await this.database.byIndex(() =>
      this.database.query<TagPart & { tag: string }>(PARTS, [organizationId, tags]),
    );
    const parts = new Map<string, TagPart[]>();
    for (const { tag, ...part } of rows) {
      const of = parts.get(tag) ?? [];
      of.push(part);
      parts.set(tag, of);
    }
    return parts;
  }

  /** When everything that waits on these numbers will have left, from `start` (null: now) on; null where one of them cannot send. */
  async estimateEnd(organizationId: string, waiting: readonly TagPart[], start: Date | null): Promise<Date | null> {
    const params = [
      organizationId,
      waiting.map(({ connectionId }) => connectionId),
      waiting.map(({ messages, scheduled }) => Math.max(0, messages - scheduled)),
      waiting.map(({ scheduled }) => scheduled),
      waiting.map(({ lastScheduledFor }) => lastScheduledFor),
      start,
    ];
    return (await this.database.byIndex(() => this.database.row<{ end: Date | null }>(ESTIMATE, params))).end;
  }

  /** Replaces all rows of tags that have new ones by their sums; returns how many there were. */
  fold(): Promise<number> {
    return this.database.byIndex(() => this.database.count(FOLD));
  }
}

/** SQL: whether rows wait to be summed up. */
export const HAS_NEW_COUNTS = 'exists (select from message_tag_count c where not c.is_sum)';

// A message in flight still counts as "queued" in its state. Both parts read one snapshot, so that a message claimed or
// answered meanwhile counts once.
export const PARTS = `
select counted.tag, counted.connection_id as "connectionId", counted.status, counted.failure_category as "failureCategory",
  sum(counted.messages)::integer as messages, sum(counted.scheduled)::integer as scheduled,
  max(counted.last_scheduled_for) as "lastScheduledFor", min(counted.first_at) as "firstAcceptedAt",
  max(counted.last_at) as "lastActivityAt"
from (
  select c.tag, c.connection_id, c.status, c.failure_category, c.messages, c.scheduled, c.last_scheduled_for, c.first_at, c.last_at
  from message_tag_count c where c.organization_id = $1 and c.tag = any($2)
  union all
  select sending.tag, sending.connection_id, as_of.status, null, as_of.factor * sending.messages, 0, null, null, sending.last_at
  from (
    select q.tag, q.connection_id, count(*) as messages, max(q.claimed_at) as last_at from message_queue q
    where q.organization_id = $1 and q.tag = any($2) and q.tag <> '' and q.attempt_id is not null group by 1, 2) as sending
  cross join (values ('processing', 1), ('queued', -1)) as as_of (status, factor)
) as counted
group by 1, 2, 3, 4`;

// Each row is summed up once: it is locked, and other processes skip it.
const FOLD = `
with changed as materialized (
  select distinct c.organization_id, c.tag from (
    select c.organization_id, c.tag from message_tag_count c where not c.is_sum limit ${NEW_ROWS}) as c
), picked as materialized (
  select c.ctid as row_ctid from changed join message_tag_count c using (organization_id, tag) for update of c skip locked
), gone as (
  delete from message_tag_count c where c.ctid = any(array(select row_ctid from picked)) returning c.*
), summed as (
  insert into message_tag_count (${COUNT_COLUMNS}, last_scheduled_for, first_at, is_sum)
  select organization_id, tag, connection_id, status, failure_category, sum(messages), sum(scheduled), max(last_at),
    max(last_scheduled_for), min(first_at), true
  from gone group by 1, 2, 3, 4, 5
)
select count(*)::integer as count from gone`;

// $1 workspace, $2 numbers, with $3 waiting messages, $4 scheduled ones, and $5 the last of their times; $6 the start. Waiting
// messages of other tags on a number come first.
const ESTIMATE = `
select case when bool_and(c.status in ('connected', 'restricted')) then max(greatest(
    start.at + make_interval(secs => greatest(given.waiting, of_tags.messages, free.messages)::float8 / c.throughput_per_second),
    case when given.scheduled > 0 then greatest(given.last_at, start.at) + make_interval(secs => given.scheduled::float8 / c.throughput_per_second) end)) end as end
from unnest($2::uuid[], $3::integer[], $4::integer[], $5::timestamptz[]) as given (connection_id, waiting, scheduled, last_at)
cross join (select greatest(clock_timestamp(), $6::timestamptz) as at) as start
join connection c on c.id = given.connection_id and c.organization_id = $1
cross join lateral (
  select sum(k.messages - k.scheduled) as messages from message_tag_count k
  join message_tag t on t.organization_id = k.organization_id and t.tag = k.tag
  where k.connection_id = c.id and k.is_sum and k.status = 'queued' and k.messages > 0
    and not t.paused and t.started_at is not null and t.messages_per_minute is null
) as of_tags
cross join lateral (
  select count(*) as messages from (
    select from message_queue q where q.connection_id = c.id and q.held_until is null limit ${MAX_COUNTED}) as waiting
) as free`;
