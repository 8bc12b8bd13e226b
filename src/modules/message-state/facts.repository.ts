import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { camelColumns } from '../../infrastructure/database/camel-columns.js';
import type { Statements } from '../../infrastructure/database/database.js';
import type { Prepared } from '../../infrastructure/database/prepared.js';
import { CLAIMS_BLOCKED } from '../../infrastructure/queue/claims-blocked.js';
import { correctCosts, GIVE_BACK_RETRIES } from '../billing/limit-corrections.types.js';
import { lateOf, NOTE_LATE } from '../usage/usage.types.js';
import { joinLanes } from './join-lanes.service.js';
import { recipientKey } from './recipient-key.types.js';
import { insertStatusEvents, shownPricing } from './message-events.types.js';
import type { AttemptFacts } from './attempt-facts.js';
import type { Fact, LockedMessage, MessageState, Work } from './facts.types.js';
import type { MessageAct } from './message.types.js';
import { MessageCase } from './message-case.js';
import { COUNT_COLUMNS, countRows } from './tag-counts.types.js';

const MICROSECONDS = 1_000_000;
const HOUR = 3_600 * MICROSECONDS;

/** Limits which messages may be read. All others are `not_found` and are not locked. */
export type Among =
  | {
      organizationId?: never;
      /** Skips messages that another transaction has locked: a later pass finds them. */ skipLocked?: boolean;
    }
  /** Only messages of this workspace: for ids that a caller gave. */
  | { organizationId: string; skipLocked?: never };

/** Locks and reads the rows of messages for `MessageCase`, and writes them back. */
@Injectable()
export class FactsRepository {
  constructor(private readonly config: Config) {}

  /** Locks messages and reads them. Messages that are not found, or skipped as locked, are missing from the result. */
  async read(
    ids: readonly string[],
    statements: Statements,
    { organizationId, skipLocked }: Among,
  ): Promise<Map<string, MessageCase>> {
    const bounds = [ids[0], ids.at(-1)];
    const states =
      organizationId === undefined
        ? await statements.query<StateRow>(skipLocked === true ? LOCK_FREE : LOCK, [ids, ...bounds])
        : await statements.query<StateRow>(LOCK_OWN, [ids, ...bounds, organizationId]);
    if (states.length === 0) return new Map();
    const locked = states.map(({ id }) => id);
    // A second statement, so that it sees what was committed while the first waited for the lock.
    const rows = await statements.query<ReadRow>(READ, [locked, ...bounds]);
    const read = new Map(rows.map((row) => [row.id, row]));
    const { messageTtlHours } = this.config.limits;
    return new Map(
      states.flatMap(({ id, organizationId, connectionId, conversationId, createdAt, ...state }) => {
        const row = read.get(id);
        if (row === undefined) return [];
        const { ttlSeconds, attempts, work, ...message } = row;
        const timeToLive = ttlSeconds === null ? messageTtlHours * HOUR : ttlSeconds * MICROSECONDS;
        const of = { organizationId, connectionId, conversationId, createdAt };
        const known: LockedMessage = { ...message, ...of, timeToLive, state, work, attempts: attempts ?? [] };
        return [[id, new MessageCase(known)]];
      }),
    );
  }

  /** Writes the changes to messages that `read` has locked. */
  async write(cases: readonly MessageCase[], statements: Statements): Promise<void> {
    const changed = cases.filter(isChanged);
    if (changed.length === 0) return;
    // In their order.
    const ids = changed.map(({ message }) => message.id);
    const inQueue = changed.filter(({ message }) => message.work !== null).map(({ message }) => message.id);
    const queued = changed.filter(({ message, work }) => message.work === null && work !== null);
    const rows: Rows = {
      states: changed.map((each) => ({ id: each.message.id, isReported: each.isReported, ...each.state })),
      newAttempts: changed.flatMap(({ newAttempts, message }) =>
        [...newAttempts].map((row) => attemptRow(row, message)),
      ),
      changedAttempts: changed.flatMap(({ newAttempts, changedAttempts, message }) =>
        [...changedAttempts].filter((row) => !newAttempts.has(row)).map((row) => attemptRow(row, message)),
      ),
      left: changed.flatMap(({ message, work }) => (message.work !== null && work === null ? [message.id] : [])),
      waits: changed.flatMap(({ message, work }) =>
        message.work !== null && work !== null && isMoved(work, message.work) ? [{ id: message.id, ...work }] : [],
      ),
      queued: queued.map(({ message, work, entered, state: { retriedAt } }) => {
        return { id: message.id, retriedAt, hasReturned: entered === 'returned', ...work };
      }),
      events: changed.flatMap(({ message, events }) =>
        events.map(({ failure, ...event }) => ({ id: message.id, ...event, ...failure })),
      ),
      bodies: changed.flatMap(({ message, body }) => (body === undefined ? [] : [{ id: message.id, body }])),
      reported: changed.filter(({ isReported }) => isReported),
      counts: countRows(changed),
    };
    const returned = queued.filter(({ message: { tag }, entered }) => tag !== null && entered === 'returned');
    // Locks the tags: a cancel of a tag either is visible to the writing statement, or sees the messages which that
    // statement queues.
    if (returned.length > 0) {
      const tags = returned.map(({ message: { organizationId, tag } }) => ({ organizationId, tag }));
      await statements.query(LOCK_TAGS, [JSON.stringify(tags)]);
    }
    const unsent = changed.filter(({ showsUnsentRetry }) => showsUnsentRetry).map(({ message }) => message.id);
    // Runs before the reports of the same messages correct their costs.
    if (unsent.length > 0) await statements.query(GIVE_BACK_RETRIES, [unsent]);
    const late = lateOf(ids, (changed[0]?.message.now ?? 0) / 1_000);
    if (late.length > 0) await statements.query(NOTE_LATE, [late]);
    const write = USUAL_WRITES.find(({ parts }) => fits(rows, parts)) ?? WRITE;
    await statements.query(
      write.statement,
      write.params.map((param) => {
        if (param === 'ids') return ids;
        if (param === 'left') return rows.left;
        if (param in BOUNDS) return BOUNDS[param as keyof typeof BOUNDS](ids, inQueue);
        return JSON.stringify(rows[param as keyof Rows]);
      }),
    );
    if (queued.length === 0) return;
    // The contacts may have new names by now.
    const replaced = await statements.query<{ id: string }>(REPLACED_RECIPIENTS, [
      queued.map(({ message }) => message.id),
      queued.map(({ message }) => message.organizationId),
    ]);
    const contacts = replaced.map(({ id }) => id);
    await joinLanes(contacts, statements);
  }

  /** Records the retries and cancels that were applied. */
  async writeActs(acts: readonly ActRow[], statements: Statements): Promise<void> {
    if (acts.length > 0) await statements.query(INSERT_ACTS, [JSON.stringify(acts)]);
  }
}

/** The parts of `WRITE` besides the update of the states. */
type Part =
  'newAttempts' | 'changedAttempts' | 'left' | 'waits' | 'queued' | 'bodies' | 'reported' | 'events' | 'counts';
type Rows = Record<'states' | Part, readonly unknown[]>;
type Param = keyof Rows | 'ids' | keyof typeof BOUNDS;

const BOUNDS = {
  first: (ids: readonly string[]) => ids[0],
  last: (ids: readonly string[]) => ids.at(-1),
  firstInQueue: (_: readonly string[], inQueue: readonly string[]) => inQueue[0],
  lastInQueue: (_: readonly string[], inQueue: readonly string[]) => inQueue.at(-1),
};

function fits(rows: Rows, parts: readonly Part[]): boolean {
  return PARTS.every((part) => rows[part].length === 0 || parts.includes(part));
}

/**
 * A change within the queue's row alone needs no check: an attempt always changes with it (`queueAgain`,
 * `nextAttempt`).
 */
function isChanged({ message, state, work, newAttempts, changedAttempts, body }: MessageCase): boolean {
  if (newAttempts.size > 0 || changedAttempts.size > 0 || body !== undefined) return true;
  const keys = Object.keys(state) as (keyof MessageState)[];
  return keys.some((key) => state[key] !== message.state[key]) || (work === null) !== (message.work === null);
}

/** False for a row that keeps its attempt and its due time. */
function isMoved(work: Work, before: Work): boolean {
  return work.attemptId !== before.attemptId || work.newDueAt !== null;
}

function attemptRow(attempt: AttemptFacts, { id: messageId, organizationId }: LockedMessage): object {
  return { messageId, organizationId, ...attempt };
}

interface StateRow
  extends
    MessageState,
    Pick<LockedMessage, 'id' | 'organizationId' | 'connectionId' | 'conversationId' | 'createdAt'> {}

type ReadRow = Pick<LockedMessage, 'id' | 'tag' | 'recipient' | 'traceContext' | 'work' | 'claimsBlocked' | 'now'> & {
  ttlSeconds: number | null;
  attempts: AttemptFacts[] | null;
};

const STATE_TIMES = `changed_at, queued_at, processing_at, accepted_at, sent_at, delivered_at, read_at, failed_at, retried_at,
  expires_at`;
const STATE_TEXTS = `meta_message_id, failure_category, error_code, error_message, pricing_category, pricing_type, pricing_subtype,
  pricing_model`;
const ATTEMPT_TIMES = 'started_at, answered_at, lease_ended_at, taken_at, failed_at, replaced_at';
const ATTEMPT_VALUES = `number, answer, http_status, code, text, category, trace_id, failed_code, failed_text, failed_category,
  meta_message_id`;

const split = (columns: string): string[] => columns.split(/,\s*/);
const camel = (column: string): string => column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
/** SQL: microseconds since the epoch, exact in a double. */
const micros = (time: string): string => `(extract(epoch from ${time}) * ${MICROSECONDS})::float8`;
const microsOf = (alias: string, columns: string): string =>
  split(columns)
    .map((column) => `${micros(`${alias}.${column}`)} as "${camel(column)}"`)
    .join(', ');
/** SQL: a time of microseconds since the epoch. */
const timeOf = (column: string): string => `to_timestamp(${column} / ${MICROSECONDS})`;

const lock = (rows: string, condition = ''): string => `
select s.message_id as id, s.status, ${camelColumns('s', 'organization_id, connection_id, conversation_id, event_count')},
  ${micros('s.created_at')} as "createdAt", ${microsOf('s', STATE_TIMES)}, ${camelColumns('s', STATE_TEXTS)},
  ${camelColumns('s', 'attempt_id, attempt_number, attempt_count, tries, billable')}
from message_state s
where s.message_id = any($1::uuid[]) and s.message_id between $2::uuid and $3::uuid${condition}
order by s.message_id for update of s${rows}`;

// Every statement that changes a message locks its state first, in the order of the ids.
export const LOCK: Prepared = { name: 'message_lock', text: lock('') };
const LOCK_FREE: Prepared = { name: 'message_lock_free', text: lock(' skip locked') };
const LOCK_OWN: Prepared = { name: 'message_lock_own', text: lock('', ' and s.organization_id = $4') };

// The only condition on the queue's row is its id. If this statement waits for a claim, it then sees the attempt of
// that claim. It takes no "for update" lock, because an accept for the same recipient would wait for the row.
const READ: Prepared = {
  name: 'message_read',
  text: `
with work as materialized (
  select q.* from message_queue q
  where q.message_id = any($1::uuid[]) and q.message_id between $2::uuid and $3::uuid
  order by q.message_id for no key update
)
select m.id, m.tag, m.recipient, m.ttl_seconds as "ttlSeconds",
  encode(m.trace_context, 'hex') as "traceContext", ${CLAIMS_BLOCKED} as "claimsBlocked",
  ${micros('clock_timestamp()')} as now,
  case when w.message_id is not null then json_build_object('queuedAt', ${micros('w.queued_at')}, 'expiresAt', ${micros('w.expires_at')},
    'tries', w.tries, 'attemptNumber', w.attempt_number, 'attemptId', w.attempt_id, 'claimedAt', ${micros('w.claimed_at')},
    'leaseUntil', ${micros('w.lease_until')}, 'isHeld', w.held_until is not null, 'isPaused', coalesce(w.held_until = 'infinity', false),
    'scheduledFor', ${micros('w.scheduled_for')}, 'newDueAt', null) end as work,
  (select json_agg(row_to_json(f)) from (
    select a.id, ${microsOf('a', ATTEMPT_TIMES)}, ${camelColumns('a', ATTEMPT_VALUES)}
    from message_attempt a where a.message_id = m.id and a.message_id between $2::uuid and $3::uuid order by a.number offset 0) as f) as attempts
from message m left join work w on w.message_id = m.id
where m.id = any($1::uuid[]) and m.id between $2::uuid and $3::uuid`,
};

// Locks in a fixed order, against deadlocks. The lock is one for an update, since `canceled_again` may update the tag.
const LOCK_TAGS = `
select from json_to_recordset($1) as k ("organizationId" uuid, tag text)
join message_tag t on t.organization_id = k."organizationId" and t.tag = k.tag
order by t.organization_id, t.tag for no key update of t`;

const typed = (columns: string, type: string): string =>
  split(columns)
    .map((column) => `"${camel(column)}" ${type}`)
    .join(', ');
const quoted = (alias: string, columns: string): string =>
  split(columns)
    .map((column) => `${alias}."${camel(column)}"`)
    .join(', ');
const times = (alias: string, columns: string): string =>
  split(columns)
    .map((column) => timeOf(`${alias}."${camel(column)}"`))
    .join(', ');
const setTimes = (alias: string, columns: string): string =>
  split(columns)
    .map((column) => `${column} = ${timeOf(`${alias}."${camel(column)}"`)}`)
    .join(', ');
const setValues = (alias: string, columns: string): string =>
  split(columns)
    .map((column) => `${column} = ${alias}."${camel(column)}"`)
    .join(', ');

const ATTEMPT_ROW = `("messageId" uuid, "organizationId" uuid, id uuid, ${typed(ATTEMPT_TIMES, 'float8')}, number integer,
  answer text, "httpStatus" integer, code integer, text text, category text, "traceId" text, "failedCode" integer,
  "failedText" text, "failedCategory" text, "metaMessageId" text)`;
const WORK_ROW = `(id uuid, "queuedAt" float8, "expiresAt" float8, tries integer, "attemptNumber" integer, "attemptId" uuid,
  "claimedAt" float8, "leaseUntil" float8, "newDueAt" float8, "retriedAt" float8, "hasReturned" boolean)`;

type ParamOf = (param: Param) => string;

// Bounds besides the ids, so that the planner uses the primary key even where it has no statistics of the queue.
const inBounds = ($: ParamOf): string =>
  `q.message_id between ${$('firstInQueue')}::uuid and ${$('lastInQueue')}::uuid`;

// The same for the other tables: a plan made while they were empty reads all their rows, and stays in use as they grow.
const isOfChanged = (alias: string, $: ParamOf): string =>
  `${alias}.message_id = any(${$('ids')}::uuid[]) and ${alias}.message_id between ${$('first')}::uuid and ${$('last')}::uuid`;

const PART_OF: Readonly<Record<Part, ($: ParamOf) => string>> = {
  newAttempts: ($) => `attempts_made as (
  insert into message_attempt (message_id, organization_id, id, ${ATTEMPT_TIMES}, ${ATTEMPT_VALUES})
  select a."messageId", a."organizationId", a.id, ${times('a', ATTEMPT_TIMES)}, ${quoted('a', ATTEMPT_VALUES)}
  from json_to_recordset(${$('newAttempts')}) as a ${ATTEMPT_ROW}
)`,
  changedAttempts: ($) => `attempts_changed as (
  update message_attempt t set ${setTimes('a', ATTEMPT_TIMES)}, ${setValues('a', ATTEMPT_VALUES)}
  from json_to_recordset(${$('changedAttempts')}) as a ${ATTEMPT_ROW}
  where t.message_id = a."messageId" and t.id = a.id and ${isOfChanged('t', $)}
)`,
  left: ($) => `left_queue as (
  delete from message_queue q where q.message_id = any(${$('left')}::uuid[]) and ${inBounds($)}
)`,
  waits: ($) => `stays as (
  update message_queue q set attempt_id = w."attemptId", attempt_number = w."attemptNumber", claimed_at = ${timeOf('w."claimedAt"')},
    lease_until = ${timeOf('w."leaseUntil"')}, tries = w.tries, due_at = ${timeOf('w."newDueAt"')}, not_before = ${timeOf('w."newDueAt"')}
  from json_to_recordset(${$('waits')}) as w ${WORK_ROW} where q.message_id = w.id and ${inBounds($)}
)`,
  // Rows get a new seq, in the order in which the messages were accepted. They go behind messages that were queued for
  // their recipients meanwhile.
  queued: ($) => `queued_again as (
  insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient, queued_at,
    due_at, not_before, attempt_number, tries, tag, expires_at, retried_at)
  select m.connection_id, m.created_at, m.id, m.organization_id, m.conversation_id, ${recipientKey('m')},
    ${timeOf('w."queuedAt"')}, ${timeOf('w."newDueAt"')}, ${timeOf('w."newDueAt"')}, w."attemptNumber", w.tries, m.tag, ${timeOf('w."expiresAt"')},
    ${timeOf('w."retriedAt"')}
  from json_to_recordset(${$('queued')}) as w ${WORK_ROW} join message m on m.id = w.id order by m.created_at, m.id
), canceled_again as (
  -- It returns to a tag that was canceled meanwhile: that cancel goes on. A retry by hand is a request of its own.
  update message_tag t set cancel_before = t.canceled_before
  from json_to_recordset(${$('queued')}) as w ${WORK_ROW} join message m on m.id = w.id
  where t.organization_id = m.organization_id and t.tag = m.tag and w."hasReturned"
    and coalesce(${timeOf('w."retriedAt"')}, m.created_at) <= t.canceled_before
)`,
  bodies: ($) => `shown as (
  update message_content c set body = b.body from json_to_recordset(${$('bodies')}) as b (id uuid, body text)
  where c.message_id = b.id and c.body is distinct from b.body and ${isOfChanged('c', $)}
)`,
  reported: () => `reported as (
  select id, status, billable, "pricingCategory" as pricing_category, "pricingType" as pricing_type from r where "isReported"
), ${correctCosts('reported')}`,
  events: ($) => `move as (
  select w.message_id, w.organization_id, w.connection_id, e."to" as status, e."from" as previous_status,
    ${timeOf('e.at')} as occurred_at, e.attempt, e.category as failure_category, e.code as error_code,
    e.message as error_message, e.sequence, w.pricing
  from json_to_recordset(${$('events')}) as e (id uuid, "from" text, "to" text, at float8, attempt integer, category text, code text,
    message text, sequence integer) join state_changed w on w.message_id = e.id
), ${insertStatusEvents('move')}`,
  counts: ($) => `counted as (
  insert into message_tag_count (${COUNT_COLUMNS})
  select c."organizationId", c.tag, c."connectionId", c.status, c."failureCategory", c.messages, c.scheduled, ${timeOf('c.at')}
  from json_to_recordset(${$('counts')}) as c ("organizationId" uuid, tag text, "connectionId" uuid, status text,
    "failureCategory" text, messages integer, scheduled integer, at float8)
)`,
};
const PARTS = Object.keys(PART_OF) as Part[];

/**
 * A statement that writes states and the given parts. All rows are locked, so each part can be a CTE. `$('x')` in a
 * part's text stands for the parameter x and adds it where it is new. `params` lists the parameters in the order in
 * which `write` passes the values.
 */
function writeOf(
  name: string,
  parts: readonly Part[],
): { statement: Prepared; parts: readonly Part[]; params: Param[] } {
  const params: Param[] = [];
  const $: ParamOf = (param) => {
    if (!params.includes(param)) params.push(param);
    return `$${params.indexOf(param) + 1}`;
  };
  const text = `
with r as materialized (
  select * from json_to_recordset(${$('states')}) as r (id uuid, "isReported" boolean, status text, "eventCount" integer,
    ${typed(STATE_TIMES, 'float8')}, ${typed(STATE_TEXTS, 'text')}, "attemptId" uuid, "attemptNumber" integer,
    "attemptCount" integer, tries integer, billable boolean)
), state_changed as (
  update message_state s set status = r.status, ${setTimes('r', STATE_TIMES)}, ${setValues('r', STATE_TEXTS)},
    ${setValues('r', 'event_count, attempt_id, attempt_number, attempt_count, tries, billable')}
  from r where s.message_id = r.id and ${isOfChanged('s', $)}
  returning s.message_id, s.organization_id, s.connection_id, ${shownPricing('s')} as pricing
), ${parts.map((part) => PART_OF[part]($)).join(', ')}
select 1`;
  return { statement: { name, text }, parts, params };
}

const WRITE = writeOf('message_write', PARTS);
// Each part costs time even without rows, because its tables and indexes are opened. These combinations cover nearly
// all writes; messages without a tag need no part for tags.
const WRITE_OUTCOMES = writeOf('message_write_outcomes', ['newAttempts', 'left', 'events']);
const WRITE_REPORTS = writeOf('message_write_reports', ['reported', 'events']);
const USUAL_WRITES = [
  WRITE_OUTCOMES,
  WRITE_REPORTS,
  writeOf('message_write_tagged_outcomes', [...WRITE_OUTCOMES.parts, 'counts']),
  writeOf('message_write_tagged_reports', [...WRITE_REPORTS.parts, 'counts']),
];

// $1 messages, $2 their workspaces.
const REPLACED_RECIPIENTS = `
select distinct coalesce(c.merged_into, c.id) as id from message m join conversation c on c.id = m.conversation_id
where m.id = any($1::uuid[]) and m.organization_id = any($2::uuid[]) and exists (
  select from conversation_alias a where a.connection_id = m.connection_id and a.name in (m.recipient, m.recipient_user_id))`;

/** A row of `message_act`. Times are microseconds since the epoch. */
export type ActRow = Pick<MessageAct, 'apiKeyId' | 'failureCategory' | 'errorCode'> & {
  act: 'retried' | 'canceled';
  messageId: string;
  organizationId: string;
  at: number | null;
  queuedAt: number | null;
  failedAt: number | null;
};

/** The row that records a retry or a cancel; null for other facts. */
export function actOf(fact: Fact, { message, state }: MessageCase): ActRow | null {
  const of = { messageId: message.id, organizationId: message.organizationId };
  if (fact.kind === 'canceled') {
    const nothing = { queuedAt: null, failedAt: null, failureCategory: null, errorCode: null };
    return { ...of, at: state.failedAt, act: 'canceled', apiKeyId: fact.apiKeyId ?? null, ...nothing };
  }
  if (fact.kind !== 'retry') return null;
  const { queuedAt, failedAt, failureCategory, errorCode } = message.state;
  const ended = { queuedAt, failedAt, failureCategory, errorCode };
  return { ...of, at: state.retriedAt, act: 'retried', apiKeyId: fact.apiKeyId ?? null, ...ended };
}

/** $1 rows. */
const INSERT_ACTS = `
insert into message_act (message_id, organization_id, at, act, api_key_id, queued_at, failed_at, failure_category, error_code)
select "messageId", "organizationId", ${timeOf('"at"')}, act, "apiKeyId", ${timeOf('"queuedAt"')}, ${timeOf('"failedAt"')}, "failureCategory",
  "errorCode"
from json_to_recordset($1) as a ("messageId" uuid, "organizationId" uuid, at float8, act text, "apiKeyId" text,
  "queuedAt" float8, "failedAt" float8, "failureCategory" text, "errorCode" text)`;
