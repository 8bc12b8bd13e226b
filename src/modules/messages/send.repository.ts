import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { Database } from '../../platform/database/database.js';
import type { Prepared } from '../../platform/database/prepared.js';
import type { ClaimRequest } from '../../platform/lanes/lane-handler.js';
import type { DueLane } from '../../platform/lanes/due-sweep.js';
import { insertStatusEvents, MOVED_COLUMNS } from './message-event-sql.js';

/** A message that this process may send now, once, before its lease runs out. */
export interface ClaimedMessage {
  id: string;
  organizationId: string;
  connectionId: string;
  conversationId: string | null;
  attemptId: string;
  recipient: string;
  type: string;
  content: Record<string, unknown>;
  /** Deferrals so far that count. */
  tries: number;
  attemptNumber: number;
  /** Whether the message answers another one, and the platform's id of that one where it has one. */
  isReply: boolean;
  contextMessageId: string | null;
}

export interface ClaimLimits {
  /** Messages queued longer than this are left to the expiry sweep. */
  ttlHours: number;
  /** After this long without an outcome a claimed message is `outcome_unknown`. */
  leaseMs: number;
}

/** Whose message a sweep has moved. */
export interface MovedMessage {
  organizationId: string;
  connectionId: string;
}

interface ClaimRow {
  kind: 'claimed' | 'tail';
  id: string | null;
  organization_id: string | null;
  conversation_id: string | null;
  attempt_id: string | null;
  recipient: string | null;
  type: string | null;
  content: Record<string, unknown> | null;
  tries: number | null;
  attempt_number: number | null;
  is_reply: boolean | null;
  context_message_id: string | null;
}

// Recipients that one claim looks at; those in flight or deferred are passed over.
const WALK = 1_000;
const MAX_CURSORS = 100_000;

/** The lane's statements on `message` and `message_attempt`: claim, sweep, due lanes. */
@Injectable()
export class SendRepository {
  /** Where the last claim of a lane stopped, so that a long lane is walked on and not again from its start. */
  private readonly cursors = new Map<string, string>();

  constructor(private readonly database: Database) {}

  /**
   * Claims the heads of up to `limit` recipients: each gets an attempt, `processing` and a lease.
   *
   * To one recipient one message goes at a time, oldest first; a recipient with a message in flight, or whose head is
   * not due yet, is passed over.
   *
   * @param connectionId the lane's connection.
   */
  async claim(connectionId: string, request: ClaimRequest, limits: ClaimLimits): Promise<ClaimedMessage[]> {
    const from = this.cursors.get(connectionId) ?? '';
    const claimed = await this.claimFrom(connectionId, request, limits, from);
    if (claimed.length > 0 || from === '') return claimed;
    // Nothing behind the cursor: once around from the start before the lane counts as empty.
    return this.claimFrom(connectionId, request, limits, '');
  }

  private async claimFrom(
    connectionId: string,
    request: ClaimRequest,
    { ttlHours, leaseMs }: ClaimLimits,
    from: string,
  ): Promise<ClaimedMessage[]> {
    const attemptIds = Array.from({ length: request.limit }, () => newId());
    const rows = await this.database.query<ClaimRow>(CLAIM, [
      connectionId,
      request.laneKey,
      request.owner,
      request.limit,
      from,
      attemptIds,
      leaseMs / 1_000,
      WALK,
      ttlHours,
    ]);
    const claimed = rows.filter((row) => row.kind === 'claimed').map((row) => claimedOf(row, connectionId));
    const tail = rows.find((row) => row.kind === 'tail')?.recipient ?? null;
    this.moveCursor(connectionId, claimed, request.limit, tail);
    return claimed;
  }

  private moveCursor(connectionId: string, claimed: ClaimedMessage[], limit: number, tail: string | null): void {
    let last = tail;
    if (claimed.length === limit) {
      last = claimed.reduce((max, row) => (row.recipient > max ? row.recipient : max), '');
    }
    if (last === null) {
      this.cursors.delete(connectionId);
      return;
    }
    if (this.cursors.size >= MAX_CURSORS) this.cursors.clear();
    this.cursors.set(connectionId, last);
  }

  /** Connections with due messages: skips from one to the next in the index, never reads a backlog. */
  async dueConnections(limit: number): Promise<DueLane[]> {
    const rows = await this.database.query<{ connection_id: string; due_for_ms: number }>(DUE, [limit]);
    return rows.map((row) => ({ key: row.connection_id, dueForMs: row.due_for_ms }));
  }

  /**
   * Turns messages whose lease ran out into `outcome_unknown` and closes their attempts: their sender died or hangs,
   * and whether the platform took them nobody knows.
   */
  expireLeases(limit: number): Promise<MovedMessage[]> {
    return this.moved(EXPIRE_LEASES, [limit]);
  }

  /** Fails messages that have been queued for longer than `ttlHours`. */
  expireQueued(ttlHours: number, limit: number): Promise<MovedMessage[]> {
    return this.moved(EXPIRE_QUEUED, [ttlHours, limit]);
  }

  private async moved(sql: string, params: readonly unknown[]): Promise<MovedMessage[]> {
    const rows = await this.database.query<{ organization_id: string; connection_id: string }>(sql, params);
    return rows.map((row) => ({ organizationId: row.organization_id, connectionId: row.connection_id }));
  }
}

function claimedOf(row: ClaimRow, connectionId: string): ClaimedMessage {
  return {
    id: row.id ?? '',
    organizationId: row.organization_id ?? '',
    connectionId,
    conversationId: row.conversation_id,
    attemptId: row.attempt_id ?? '',
    recipient: row.recipient ?? '',
    type: row.type ?? '',
    content: row.content ?? {},
    tries: row.tries ?? 0,
    attemptNumber: row.attempt_number ?? 0,
    isReply: row.is_reply ?? false,
    contextMessageId: row.context_message_id,
  };
}

// $1 connection, $2 lane key, $3 owner, $4 limit, $5 cursor, $6 attempt ids, $7 lease seconds, $8 walk, $9 ttl hours.
// "tail" tells where the walk ended when it neither filled the limit nor reached the lane's end.
const CLAIM: Prepared = {
  name: 'message_claim',
  text: `
with recursive walk (recipient, id, status, next_attempt_at, queued_at, n) as (
  (select m.recipient, m.id, m.status, m.next_attempt_at, m.queued_at, 1
   from message m
   where m.connection_id = $1 and m.status in ('queued', 'processing') and m.recipient > $5
   order by m.connection_id, m.recipient, m.seq limit 1)
  union all
  select next.* from walk cross join lateral (
    select m.recipient, m.id, m.status, m.next_attempt_at, m.queued_at, walk.n + 1
    from message m
    where m.connection_id = $1 and m.status in ('queued', 'processing') and m.recipient > walk.recipient
    order by m.connection_id, m.recipient, m.seq limit 1) as next
  where walk.n < $8
), picked as (
  select walk.id from walk
  where walk.status = 'queued' and walk.next_attempt_at <= clock_timestamp()
    and walk.queued_at > clock_timestamp() - make_interval(hours => $9)
    and exists (select 1 from lane where key = $2 and owner = $3 and owner_until > clock_timestamp()
      and (paused_until is null or paused_until <= clock_timestamp()))
    and not exists (select 1 from message p
      where p.connection_id = $1 and p.recipient = walk.recipient and p.status = 'processing')
  limit $4
), locked as (
  select m.id, m.seq from message m join picked on picked.id = m.id
  where m.status = 'queued'
  for update of m skip locked
), numbered as (
  select locked.id, a.attempt_id from (select id, row_number() over (order by seq) as n from locked) as locked
  join unnest($6::uuid[]) with ordinality as a (attempt_id, n) on a.n = locked.n
), claimed as (
  update message m set status = 'processing', processing_at = greatest(clock_timestamp(), m.queued_at),
    lease_until = clock_timestamp() + make_interval(secs => $7), attempt_count = m.attempt_count + 1,
    current_attempt_id = numbered.attempt_id, next_attempt_at = null
  from numbered where m.id = numbered.id and m.status = 'queued'
  returning m.id, m.organization_id, m.conversation_id, m.current_attempt_id, m.recipient, m.type, m.content, m.tries,
    m.attempt_count, m.reply_to_message_id, m.processing_at
), attempts as (
  insert into message_attempt (id, organization_id, message_id, number, status, started_at)
  select current_attempt_id, organization_id, id, attempt_count, 'started', processing_at from claimed
)
select 'claimed' as kind, id, organization_id, conversation_id, current_attempt_id as attempt_id, recipient, type,
  content, tries, attempt_count as attempt_number, reply_to_message_id is not null as is_reply,
  (select r.meta_message_id from message r
   where r.id = claimed.reply_to_message_id and r.organization_id = claimed.organization_id) as context_message_id
from claimed
union all
select 'tail', null, null, null, null, walk.recipient, null, null, null, null, null, null
from walk where walk.n = $8 and (select count(*) from picked) < $4`,
};

// The oldest queued row of each connection: skips from one to the next in the index, never reads a backlog.
const LANE_HEADS = `
with recursive lane_head as (
  (select connection_id, next_attempt_at from message where status = 'queued'
   order by connection_id, next_attempt_at limit 1)
  union all
  select next.* from lane_head cross join lateral (
    select connection_id, next_attempt_at from message
    where status = 'queued' and connection_id > lane_head.connection_id
    order by connection_id, next_attempt_at limit 1) as next
)`;

const DUE = `${LANE_HEADS}
select connection_id, (extract(epoch from clock_timestamp() - next_attempt_at) * 1000)::double precision as due_for_ms
from lane_head where next_attempt_at <= clock_timestamp() limit $1`;

const EXPIRE_LEASES = `
with lost as (
  select id, current_attempt_id from message
  where status = 'processing' and lease_until < clock_timestamp()
  order by id limit $1 for update skip locked
), moved as (
  update message m set status = 'outcome_unknown', lease_until = null, failure_category = null,
    event_count = m.event_count + 1
  from lost where m.id = lost.id
  returning ${MOVED_COLUMNS}, 'processing' as previous_status, clock_timestamp() as occurred_at
), closed as (
  update message_attempt a set status = 'unknown', finished_at = clock_timestamp()
  from lost where a.id = lost.current_attempt_id and a.status = 'started'
), announced as (
  ${insertStatusEvents('moved')}
)
select organization_id, connection_id from moved`;

// A deferral moves next_attempt_at by two hours at the most, so the index leads to every row that is old enough;
// by statement_timestamp(), for clock_timestamp() is only compared with what was read, and that is all of the lane.
const EXPIRE_QUEUED = `${LANE_HEADS}, candidate as (
  select found.id from lane_head cross join lateral (
    select id from message m
    where m.status = 'queued' and m.connection_id = lane_head.connection_id
      and m.next_attempt_at < statement_timestamp() - make_interval(hours => $1) + interval '2 hours'
      and m.queued_at < clock_timestamp() - make_interval(hours => $1)
    order by m.next_attempt_at limit $2) as found
  where lane_head.next_attempt_at < statement_timestamp() - make_interval(hours => $1) + interval '2 hours'
), old as (
  select m.id from message m join candidate on candidate.id = m.id
  where m.status = 'queued' order by m.id limit $2 for update of m skip locked
), moved as (
  update message m set status = 'failed', failed_at = greatest(clock_timestamp(), m.queued_at),
    failure_category = 'expired', error_code = 'EXPIRED', next_attempt_at = null,
    error_message = 'The message stayed in the queue for too long.', event_count = m.event_count + 1
  from old where m.id = old.id
  returning ${MOVED_COLUMNS}, 'queued' as previous_status, m.failed_at as occurred_at
), announced as (
  ${insertStatusEvents('moved')}
)
select organization_id, connection_id from moved`;
