import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { Database } from '../../platform/database/database.js';
import type { Claim, ClaimRequest } from '../../platform/lanes/lane-handler.js';
import { holdOf, holdParams } from '../../platform/lanes/lane-hold.js';
import { findDueLanes, laneHeads, type DueLanes } from '../../platform/lanes/due-lanes.js';
import { LostClaimError } from '../../platform/lanes/lost-claims.js';
import { CLAIM, type ClaimRow } from './claim-sql.js';
import { insertStatusEvents, MOVED_COLUMNS } from './message-event-sql.js';

/** A message that this process may send now, once, before its lease runs out. */
export interface ClaimedMessage {
  id: string;
  organizationId: string;
  connectionId: string;
  conversationId: string | null;
  attemptId: string;
  /** The lane's key: digits, or the user id where no number is known. */
  recipient: string;
  /** The user id that it is addressed to; null where it goes to the number. */
  recipientUserId: string | null;
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

// Due messages that a claim looks for first. Where there are fewer, their recipients are all that can be served.
const PROBE = 128;
// Recipients that one statement walks over, those in flight, deferred or expired among them, and statements a claim.
const WALK = 1_000;
const ROUNDS = 20;
const MAX_CURSORS = 100_000;

const QUEUED = { table: 'message', lane: 'connection_id', status: 'queued' };
// Numbers that cannot send keep their due messages: without this each of them would be woken in every round.
const CAN_SEND = `exists (select 1 from connection c where c.id = head.lane_id and c.status in ('connected', 'restricted'))`;

/** The lane's statements on `message` and `message_attempt`: claim, sweep, due lanes. */
@Injectable()
export class SendRepository {
  /** Where the last claim of a lane stopped, so that a long lane is walked on and not again from its start. */
  private readonly cursors = new Map<string, string>();

  /** Connections with due messages that can send. */
  readonly dueConnections: DueLanes;

  constructor(private readonly database: Database) {
    this.dueConnections = findDueLanes(database, { ...QUEUED, usable: CAN_SEND, prefix: '' });
  }

  /**
   * Claims the heads of up to `limit` recipients: each gets an attempt, `processing` and a lease.
   *
   * To one recipient one message goes at a time, oldest first; a recipient with a message in flight, or whose head is
   * not due yet, is passed over.
   *
   * @param connectionId the lane's connection.
   * @throws LostClaimError where the connection broke, and the claim may have been committed.
   */
  async claim(connectionId: string, request: ClaimRequest, limits: ClaimLimits): Promise<Claim<ClaimedMessage>> {
    let asked = request;
    let hold: Claim<ClaimedMessage>['hold'] = null;
    let from = this.cursors.get(connectionId) ?? '';
    let fromStart = from === '';
    for (let round = 0; round < ROUNDS; round++) {
      const answer = await this.claimFrom(connectionId, asked, limits, from);
      const { claimed, next, complete } = answer;
      // The first one tells what pace there was; the others go on with it.
      hold = answer.hold && { ...answer.hold, available: hold === null ? answer.hold.available : hold.available };
      if (hold === null || hold.slots === 0) return { hold, items: claimed };
      this.moveCursor(connectionId, next);
      if (claimed.length > 0 || complete)
        return { hold, items: claimed, more: claimed.length === hold.slots || !complete };
      const inHandSeconds = request.inHandSeconds ?? (hold.available ?? 0) / request.pace.ratePerSecond;
      asked = { ...request, limit: hold.slots, inHandSeconds };
      // Nothing up to the lane's end: once around from the start before the lane counts as empty.
      if (next === '' && fromStart) break;
      fromStart ||= next === '';
      from = next;
    }
    return { hold, items: [], more: false };
  }

  /** Those of the given attempts that exist, with their messages. */
  findAttempts(attemptIds: readonly string[]): Promise<{ id: string; attemptId: string }[]> {
    return this.database.query(`select message_id as id, id as "attemptId" from message_attempt where id = any($1)`, [
      attemptIds,
    ]);
  }

  /** `next`: where to go on, '' for the start. `complete`: nothing else can be claimed, wherever the walk stands. */
  private async claimFrom(
    connectionId: string,
    request: ClaimRequest,
    { ttlHours, leaseMs }: ClaimLimits,
    from: string,
  ): Promise<{ hold: Claim<ClaimedMessage>['hold']; claimed: ClaimedMessage[]; next: string; complete: boolean }> {
    const attemptIds = Array.from({ length: request.limit }, () => newId());
    const claiming = this.database.query<ClaimRow>(CLAIM, [
      ...holdParams(request),
      connectionId,
      from,
      attemptIds,
      leaseMs / 1_000,
      ttlHours,
      WALK,
      PROBE,
    ]);
    const rows = await claiming.catch(LostClaimError.of(attemptIds));
    const claimed = rows.filter((row) => row.kind === 'claimed').map((row) => claimedOf(row, connectionId));
    const hold = holdOf(rows);
    const end = rows.find((row) => row.kind !== 'claimed');
    const complete = end?.kind === 'complete';
    if (end?.kind === 'tail' || claimed.length === 0 || claimed.length < (hold?.slots ?? 0)) {
      return { hold, claimed, next: end?.recipient ?? '', complete };
    }
    // Recipients up to the cursor have their turn behind the others.
    const recipients = claimed.map((row) => row.recipient);
    const around = recipients.filter((recipient) => recipient <= from);
    const last = around.length > 0 ? around : recipients;
    return { hold, claimed, next: last.reduce((max, recipient) => (recipient > max ? recipient : max)), complete };
  }

  private moveCursor(connectionId: string, next: string): void {
    if (next === '') {
      this.cursors.delete(connectionId);
      return;
    }
    if (this.cursors.size >= MAX_CURSORS) this.cursors.clear();
    this.cursors.set(connectionId, next);
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
    recipientUserId: row.recipient_user_id,
    type: row.type ?? '',
    content: row.content ?? {},
    tries: row.tries ?? 0,
    attemptNumber: row.attempt_number ?? 0,
    isReply: row.is_reply ?? false,
    contextMessageId: row.context_message_id,
  };
}

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
const EXPIRE_QUEUED = `${laneHeads(QUEUED)}, candidate as (
  select found.id from lane_head cross join lateral (
    select id from message m
    where m.status = 'queued' and m.connection_id = lane_head.lane_id
      and m.next_attempt_at < statement_timestamp() - make_interval(hours => $1) + interval '2 hours'
      and m.queued_at < clock_timestamp() - make_interval(hours => $1)
    order by m.next_attempt_at limit $2) as found
  where lane_head.next_attempt_at < statement_timestamp() - make_interval(hours => $1) + interval '2 hours'
  limit $2
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
