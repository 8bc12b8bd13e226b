import { FIRST_ID } from '../../common/ids.js';
import { camelColumns } from '../../infrastructure/database/camel-columns.js';
import { CLAIMS_BLOCKED } from '../../infrastructure/queue/claims-blocked.js';
import { queueTakes } from '../message-state/message-state.types.js';
import type { TagAction } from './tags.types.js';

/** SQL of the rows of `message_tag`: what callers see of a tag, and ask for. */

/** Tags that one statement starts. */
const STARTED_AT_ONCE = 2_000;

const STATUS = `case when t.cancel_before is not null then 'canceling' when t.paused then 'paused'
  when t.started_at is null then 'scheduled' when t.resuming then 'resuming' when t.retry_before is not null then 'retrying'
  else 'active' end`;

const COLUMNS = `t.tag, t.id, ${STATUS} as status, t.paused as "isPaused", t.started_at is not null as "isStarted",
  ${camelColumns('t', 'created_at, start_at, messages_per_minute, action, acted_at, ended_at, done, skipped')}`;

export const FIND = `select ${COLUMNS} from message_tag t where t.organization_id = $1 and t.tag = $2`;

export const LIST = `
select ${COLUMNS} from message_tag t where t.organization_id = $1
  and (t.created_at, t.id) < (coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, '${FIRST_ID}'))
order by t.created_at desc, t.id desc limit $4`;

// It has not started yet: the following statement decides that.
export const INSERT = `
insert into message_tag (organization_id, tag, started_at) values ($1, $2, null) on conflict do nothing`;

const STARTS = `not $3::boolean and coalesce($4::timestamptz, '-infinity') <= clock_timestamp()`;

// $3 paused, $4 start, $5 pace, $6 the resulting action, $7 whether it loses its pace, so that rows held by it are
// released.
export const PUT = `
update message_tag t set paused = $3, start_at = $4, messages_per_minute = $5,
  started_at = case when ${STARTS} then coalesce(t.started_at, clock_timestamp()) else t.started_at end,
  resuming = not $3 and (t.resuming or t.paused or $7 or t.started_at is null and ${STARTS}),
  action = coalesce($6, t.action), acted_at = case when $6::text is not null then clock_timestamp() else t.acted_at end,
  ended_at = case when $6::text is null then t.ended_at when $3 then clock_timestamp() end,
  done = case when $6::text is null then t.done else 0 end, skipped = case when $6::text is null then t.skipped else '{}' end
where t.organization_id = $1 and t.tag = $2
returning ${COLUMNS}`;

const act = (action: TagAction, changes: string, ended = 'null'): string => `
update message_tag t set action = '${action}', acted_at = clock_timestamp(), ended_at = ${ended}, done = 0, skipped = '{}', ${changes}
where t.organization_id = $1 and t.tag = $2
returning ${COLUMNS}`;

const STARTS_NOW = `t.started_at is null and coalesce(t.start_at, '-infinity') <= clock_timestamp()`;
// Ends a pause too, and messages that come meanwhile are sent afterwards.
const ENDS_PAUSE = `paused = false, resuming = t.resuming or t.paused or t.started_at is null`;

export const NOT_PAUSED = `q.tag is not null and q.held_until is distinct from 'infinity'`;
export const PAUSED = `q.held_until = 'infinity'`;
export const WAITS = `${NOT_PAUSED} and ${queueTakes('canceled')}`;

// Not while claims are blocked: messages that a restored database would start may have been sent. Nor before all earlier messages are
// held: their time to live runs from the start on.
export const START = `
update message_tag t set started_at = clock_timestamp(), resuming = true
where t.ctid = any(array(
  select t.ctid from message_tag t where t.started_at is null and not t.paused and t.start_at <= statement_timestamp()
  order by t.start_at limit ${STARTED_AT_ONCE} for update skip locked)) and t.started_at is null and not t.paused
  and not (${CLAIMS_BLOCKED}) and not exists (
    select from message_queue q where q.organization_id = t.organization_id and q.tag = t.tag and ${WAITS} and q.created_at < t.start_at offset 0)`;

// A retry is a separate request: a retry after the cancel is not affected by it.
export const ASKED_AT = 'coalesce(q.retried_at, q.created_at)';
/** SQL: now, or later: an action also covers messages accepted or retried before the database's clock was set back. */
const NOW = `greatest(clock_timestamp(),
  (select max(c.last_at) from message_tag_count c where c.organization_id = $1 and c.tag = $2))`;

export const ACTS: Readonly<Record<TagAction, string>> = {
  // It takes effect with its commit.
  pause: act('pause', 'paused = true, resuming = false', 'clock_timestamp()'),
  resume: act(
    'resume',
    `paused = false, resuming = t.resuming or t.paused or ${STARTS_NOW},
    started_at = case when ${STARTS_NOW} then clock_timestamp() else t.started_at end`,
    `case when not (t.resuming or t.paused or ${STARTS_NOW}) then clock_timestamp() end`,
  ),
  cancel: act(
    'cancel',
    `(cancel_before, canceled_before) = (select at, at from (select ${NOW} as at) as asked),
    retry_before = null,
    started_at = coalesce(t.started_at, clock_timestamp()), ${ENDS_PAUSE}`,
  ),
  retry: act('retry', `retry_before = ${NOW}, retry_category = $3, retry_at = null, retry_id = null`),
};

// $3 action, $4 messages.
export const NOTE = `
update message_tag set done = done + $4 where organization_id = $1 and tag = $2 and action = $3`;
