import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids.js';
import { Database } from '../../../infrastructure/database/database.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import type { TraceContext } from '../../../infrastructure/operations/tracing.js';
import { dueTableLanes, eachLane, type TableLanes, type MarkedLanes } from '../../../infrastructure/queue/due-lanes.js';
import {
  GRANT_COLUMNS,
  grantOf,
  grantParams,
  laneGrants,
  type ClaimRequest,
  type GrantRow,
  type Claim,
} from '../../../infrastructure/queue/lane-grant.js';
import { claimsEnded, runClaim } from '../../../infrastructure/queue/lost-claims.js';
import { contentOf, tagIsNotPaused, tagLetsPass, queueTakes } from '../../message-state/message-state.types.js';

/** A claimed message: this process may send it once, before its lease runs out. */
export interface ClaimedMessage {
  id: string;
  organizationId: string;
  connectionId: string;
  conversationId: string | null;
  attemptId: string;
  /** The key that orders messages to one recipient: digits, or the user id where no number is known. */
  recipient: string;
  /** The user id that the message is addressed to; null where it is addressed to the number. */
  recipientUserId: string | null;
  type: string;
  content: Record<string, unknown>;
  /** Deferrals so far that count. */
  tries: number;
  attemptNumber: number;
  /** Whether the message is a reply, and WhatsApp's id of the message it replies to, where known. */
  isReply: boolean;
  contextMessageId: string | null;
  /** The trace of the request that brought it, where traces are recorded. */
  traceContext: TraceContext | null;
}

/** A row that `CLAIM` returns: the grant of a lane, or a claimed message. */
export type GrantOrMessage = LaneGrantRow | ClaimedMessage;
type LaneGrantRow = GrantRow & { id: null; laneKey: string };

const isGrantRow = (row: GrantOrMessage): row is LaneGrantRow => row.id === null;

export interface ClaimLimits {
  /** A claimed message without an outcome becomes `outcome_unknown` after this time. */
  leaseMs: number;
  /** The time limit of the statement; default: that of every statement. */
  withinMs?: number | undefined;
}

const withoutGrant = (): Claim<ClaimedMessage> => ({ grant: null, items: [] });

/** Claims due messages of `message_queue`; the lanes are connections. */
@Injectable()
export class ClaimRepository {
  /** Connections with due messages that can send. */
  readonly dueConnections: MarkedLanes;

  constructor(private readonly database: Database) {
    this.dueConnections = dueTableLanes(database, LANES);
  }

  /**
   * Claims the first messages of up to `limit` recipients per lane, in one statement for all lanes. Each message gets
   * an attempt, `processing` and a lease. Returns one answer per request, in the same order; a lane may occur once
   * only.
   *
   * Each recipient has at most one message in flight, oldest first. A recipient is skipped while a message to it is in
   * flight, or while its first message is not due. The recipient that has been due for longest comes first.
   *
   * @throws LostClaimError where the claim may have been committed.
   */
  async claim(requests: readonly ClaimRequest[], { leaseMs, withinMs }: ClaimLimits): Promise<Claim<ClaimedMessage>[]> {
    const claimIds = requests.map(() => newId());
    const attemptIds = requests.flatMap(({ limit }, index) =>
      Array.from({ length: limit }, (_, n) => attemptIdOf(`${claimIds[index]}`, n + 1)),
    );
    const params = claimParams(requests, claimIds, leaseMs);
    const statement = (): Promise<GrantOrMessage[]> => this.database.query(CLAIM, params);
    const rows = await runClaim(this.database, attemptIds, statement, withinMs);
    const answers = new Map(requests.map(({ laneKey }): [string, Claim<ClaimedMessage>] => [laneKey, withoutGrant()]));
    for (const row of rows) {
      const answer = answers.get(isGrantRow(row) ? row.laneKey : row.connectionId);
      if (answer === undefined) continue;
      if (isGrantRow(row)) answer.grant = grantOf(row);
      else answer.items.push(row);
    }
    return [...answers.values()];
  }

  /** Of the given attempts of these connections, those whose messages still wait for an outcome. */
  async findAttempts(
    connectionIds: readonly string[],
    attemptIds: readonly string[],
  ): Promise<{ id: string; attemptId: string }[]> {
    await claimsEnded(this.database, connectionIds);
    return this.database.byIndex(() => this.database.query(FIND_ATTEMPTS, [connectionIds, attemptIds]));
  }
}

/** The parameters of `CLAIM`. The claim on each lane gets an id of its own. */
export function claimParams(
  requests: readonly ClaimRequest[],
  claimIds: readonly string[],
  leaseMs: number,
): unknown[] {
  return [...grantParams(requests), claimIds, leaseMs / 1_000];
}

/** The id of the n-th attempt of a claim, as `CLAIM` makes it. */
function attemptIdOf(claimId: string, n: number): string {
  return claimId.slice(0, 32) + n.toString(16).padStart(4, '0');
}

/** SQL: the recipient's first row. Rows in flight come before waiting ones. */
const FIRST_OF_RECIPIENT = `
  select first.message_id from message_queue first
  where first.connection_id = q.connection_id and first.recipient = q.recipient and first.held_until is null
  order by first.connection_id, first.recipient, (first.attempt_id is null), first.seq limit 1`;

/** SQL: what the sender needs to know about the messages in the relation `claimed`. Reads only. */
const MESSAGE_TO_SEND = `
  select claimed.connection_id as "connectionId", m.id, m.organization_id as "organizationId",
    claimed.conversation_id as "conversationId", claimed.attempt_id as "attemptId", claimed.recipient,
    m.recipient_user_id as "recipientUserId", m.type, coalesce(content.content, '{}') as content, claimed.tries,
    claimed.attempt_number as "attemptNumber", m.reply_to_message_id is not null as "isReply",
    (select coalesce(s.meta_message_id, case when r.direction = 'inbound' then r.meta_message_id end,
       (select a.meta_message_id from message_attempt a where a.message_id = r.id
         and a.meta_message_id is not null order by a.number desc limit 1))
     from message r left join message_state s on s.message_id = r.id
     where r.id = m.reply_to_message_id and r.organization_id = m.organization_id) as "contextMessageId",
    encode(m.trace_context, 'hex') as "traceContext"
  from claimed join message m on m.id = claimed.message_id
  left join lateral ${contentOf('claimed.message_id')} content on true`;

// 1. `due_at` marks rows that may be claimed: a recipient's first row has one if it waits; rows behind a waiting row or
//    one in flight have none. The triggers of message_queue maintain it (migrations/1770600000000-messages.ts). It may
//    be too early in a row that was inserted while the row before it was being deleted or released.
// 2. Two rules keep the order, and one message in flight per recipient. `FIRST_OF_RECIPIENT`: only a recipient's first
//    row is claimed. The grant: a lane has one claim at a time, because two claims could see two first rows if a row
//    with a lower seq is committed between them. There is one gap. A statement may take its snapshot, stall until
//    another claim of the lane has begun and ended, and only then try the advisory lock. By its old snapshot it still
//    owns the lane, or the lane has no owner. Then two messages to a recipient may be in flight for a moment.
// 3. `skip locked`: rows locked by another statement are skipped, and a later claim finds them.
// 4. An attempt's id is the claim's id with n in its last four hexadecimal digits. `attemptIdOf` makes the same ids, so
//    that the attempts of a lost claim can be found.
// 5. The lease begins here, by the database's clock. Without an outcome at its end the message is `outcome_unknown`.
//
// Tests: claim.repository.spec.ts (claims), queue-turns.spec.ts and early-turns.spec.ts (order),
// open-transaction.e2e-spec.ts (rows that are read).
//
// $1 to $6 the lanes (`laneGrants`, which adds the relation `lane_grant`); $7 the claim's id of each lane; $8 lease
// seconds.
export const CLAIM: Prepared = {
  name: 'message_claim',
  text: `
with ${laneGrants()}, lane_with_slots as materialized (
  select lane_grant.key, lane_grant.key::uuid as connection_id, lane_grant.slots, lane_grant.low_at, claim.claim_id
  from lane_grant join unnest((select $1::text[]), $7::uuid[]) as claim (lane, claim_id) on claim.lane = lane_grant.key
  where lane_grant.slots > 0
), picked as materialized (
  -- Longest due first, from the low-water mark on: removed rows before it are not read, however many of them another
  -- transaction keeps from being vacuumed.
  -- statement_timestamp(): clock_timestamp() cannot be an index condition; it only filters.
  -- No two claims take one row: a locked row is passed over, and of a row that was changed since the snapshot the conditions are
  -- checked again. Where they hold again, as after a release, its ctid differs, so "claimed" misses it: the next claim takes it.
  select due.row_ctid, overlay(lane_with_slots.claim_id::text placing
    lpad(to_hex(row_number() over (partition by lane_with_slots.key)), 4, '0') from 33)::uuid as attempt_id
  from lane_with_slots cross join lateral (
    select q.ctid as row_ctid from message_queue q
    where q.connection_id = lane_with_slots.connection_id and ${queueTakes('claimed')}
      and q.due_at >= lane_with_slots.low_at and q.due_at <= statement_timestamp() and q.expires_at > clock_timestamp()
      and ${tagIsNotPaused('q')} and ${tagLetsPass('q')}
      and q.message_id = (${FIRST_OF_RECIPIENT})
    order by q.connection_id, q.due_at limit lane_with_slots.slots for no key update of q skip locked) as due
), claimed as (
  update message_queue q set attempt_id = picked.attempt_id, claimed_at = greatest(clock_timestamp(), q.queued_at),
    lease_until = clock_timestamp() + make_interval(secs => $8::float8),
    attempt_number = q.attempt_number + 1, due_at = null
  from picked where q.ctid = picked.row_ctid and q.attempt_id is null
  returning q.message_id, q.connection_id, q.conversation_id, q.attempt_id, q.recipient, q.tries, q.attempt_number
), message_to_send as (${MESSAGE_TO_SEND}
)
-- The rows of both relations, none joined to another, so that a grant is not repeated with every message.
select ${GRANT_COLUMNS}, lane_grant.key as "laneKey", message_to_send.* from lane_grant full join message_to_send on false`,
};

// The leases of a lost claim may have run out before this query. `attention` is a column of the index
// message_state_attention.
const FIND_ATTEMPTS = `
select message_id as id, attempt_id as "attemptId" from message_queue
where lease_until is not null and connection_id = any($1) and attempt_id = any($2)
union all
select message_id, attempt_id from message_state
where connection_id = any($1) and attention = 'outcome_unknown' and attempt_id = any($2)`;

// Numbers that cannot send keep their due messages. Without the condition every round would wake them.
const LANES: TableLanes = {
  table: 'connection',
  prefix: '',
  where: `status in ('connected', 'restricted')`,
  dueSince: (from) => `(select q.due_at from message_queue q
    where q.connection_id = lane_of.id and q.due_at >= ${from} and q.due_at <= statement_timestamp()
    order by q.connection_id, q.due_at limit 1)`,
  nextWaiting: (after) => `(select q.connection_id from message_queue q
    where q.connection_id > ${after} and q.due_at is not null order by q.connection_id, q.due_at limit 1)`,
};

/** $1 limit, $2 the connection to start after. */
export const DUE = eachLane(LANES, '$1', '$2');
