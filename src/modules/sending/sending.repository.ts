import { Injectable } from '@nestjs/common';
import { FIRST_ID, newId } from '../../common/ids.js';
import { Database, hasRow } from '../../infrastructure/database/database.js';
import { LANES_HELD, holdOf, holdsParams, type HoldRequest } from '../../infrastructure/queue/lane-hold.js';
import type { MarkedLanes } from '../../infrastructure/queue/due-lanes.js';
import type { Claim } from '../../infrastructure/queue/queue-loop.js';
import { LostClaimError } from '../../infrastructure/queue/lost-claims.js';
import { SweepPlace } from '../../infrastructure/queue/sweeps.js';
import {
  attemptIdOf,
  CLAIM,
  dueConnections,
  REPAIR_TURNS,
  type ClaimedMessage,
  type ClaimRow,
} from './claim/claim-sql.js';
import { failUnsent, insertStatusEvents, MOVED_COLUMNS } from '../messages/message/message-event-sql.js';
import { queueTakes } from '../messages/message/message-state.js';

export interface ClaimLimits {
  /** After this long without an outcome a claimed message is `outcome_unknown`. */
  leaseMs: number;
}

/** What one lane asks of the statement that claims for many. */
interface LaneClaim extends ClaimLimits {
  request: HoldRequest;
  claimId: string;
}

/** Whose message a sweep has moved. */
export type MovedMessage = Pick<ClaimedMessage, 'organizationId' | 'connectionId'>;

const NOTHING = (): Claim<ClaimedMessage> => ({ hold: null, items: [] });
/** Recipients that one statement of the repair looks at. */
const REPAIR_BATCH = 5_000;

/** The lane's statements on `message_queue`: claim, sweeps, due lanes. */
@Injectable()
export class SendRepository {
  private readonly leases = new SweepPlace();
  private readonly expiries = new SweepPlace();

  /** Connections with due messages that can send. */
  readonly dueConnections: MarkedLanes;

  constructor(private readonly database: Database) {
    this.dueConnections = dueConnections(database);
  }

  /**
   * Claims, in one statement for all lanes, the first messages of up to `limit` recipients of each: each message gets an
   * attempt, `processing` and a lease. Returns one answer a request, in the same order; no lane may be asked for twice.
   *
   * To one recipient one message goes at a time, oldest first; a recipient with a message in flight, or whose first one
   * is not due yet, is passed over. Of several recipients the one that has been due for longest is served first.
   *
   * @throws LostClaimError where the connection broke, and the claim may have been committed.
   */
  async claim(requests: readonly HoldRequest[], { leaseMs }: ClaimLimits): Promise<Claim<ClaimedMessage>[]> {
    const claims = requests.map((request): LaneClaim => ({ request, claimId: newId(), leaseMs }));
    const attemptIds = claims.flatMap(({ request, claimId }) =>
      Array.from({ length: request.limit }, (_, n) => attemptIdOf(claimId, n + 1)),
    );
    const rows = await this.database
      .byIndex(() => this.database.query<ClaimRow>(CLAIM, claimParams(claims)))
      .catch(LostClaimError.of(attemptIds));
    const answers = new Map(requests.map(({ laneKey }): [string, Claim<ClaimedMessage>] => [laneKey, NOTHING()]));
    for (const row of rows) {
      const answer = answers.get(row.id === null ? row.laneKey : row.connectionId);
      if (answer === undefined) continue;
      if (row.id === null) answer.hold = holdOf([row]);
      else answer.items.push(row);
    }
    return [...answers.values()];
  }

  /** Those of the given attempts of these connections whose messages still wait for their outcome. */
  findAttempts(
    connectionIds: readonly string[],
    attemptIds: readonly string[],
  ): Promise<{ id: string; attemptId: string }[]> {
    return this.database.query(FIND_ATTEMPTS, [connectionIds, attemptIds]);
  }

  /**
   * Turns messages whose lease ran out into `outcome_unknown` and closes their attempts: their sender died or hangs,
   * and it is unknown whether the platform took them.
   */
  expireLeases(limit: number): Promise<MovedMessage[]> {
    return this.moveFrom(this.leases, EXPIRE_LEASES, limit);
  }

  /** Fails messages that wait beyond the time that they were given. */
  expireQueued(limit: number): Promise<MovedMessage[]> {
    return this.moveFrom(this.expiries, EXPIRE_QUEUED, limit);
  }

  /** SQL: whether there is something for `expireQueued`. */
  queuedHaveExpired(): string {
    return hasRow(
      `from message_queue q
       where q.expires_at <= now() and q.expires_at >= ${this.expiries.condition} and ${queueTakes('expired')}`,
      'q.expires_at',
    );
  }

  private async moveFrom(place: SweepPlace, statement: string, limit: number): Promise<MovedMessage[]> {
    const from = place.next();
    const rows = await this.database.byIndex(() => this.database.query<MovedRow>(statement, [limit, from]));
    const moved = movedOf(rows);
    if (moved.length < limit) place.reached(rows[0]?.looked_at ?? null);
    return moved;
  }

  /**
   * Gives recipients whose first message has no turn one, and returns how many. The triggers of `message_queue` leave none
   * behind; this is for a database where they were disabled.
   */
  async repairTurns(signal: AbortSignal): Promise<number> {
    let total = 0;
    let page: RepairedPage | null = { repaired: 0, connectionId: FIRST_ID, recipient: '', isFull: true };
    while (page?.isFull === true && !signal.aborted) {
      page = await this.repairPage(page);
      total += page?.repaired ?? 0;
    }
    return total;
  }

  private repairPage({ connectionId, recipient }: RepairedPage): Promise<RepairedPage | null> {
    const params = [connectionId, recipient, REPAIR_BATCH];
    return this.database.byIndex(() => this.database.find<RepairedPage>(REPAIR_TURNS, params));
  }
}

export function claimParams(claims: readonly LaneClaim[]): unknown[] {
  return [
    ...holdsParams(claims.map(({ request }) => request)),
    claims.map(({ claimId }) => claimId),
    claims.map(({ leaseMs }) => leaseMs / 1_000),
  ];
}

interface RepairedPage {
  repaired: number;
  connectionId: string;
  recipient: string;
  /** More recipients may follow. */
  isFull: boolean;
}

/** All but `looked_at` are null in a row that only says that there was a look. */
interface MovedRow {
  organization_id: string | null;
  connection_id: string | null;
  looked_at: string;
}

function movedOf(rows: readonly MovedRow[]): MovedMessage[] {
  return rows.flatMap(({ organization_id: organizationId, connection_id: connectionId }) =>
    organizationId === null || connectionId === null ? [] : [{ organizationId, connectionId }],
  );
}

// A lost claim's leases may have run out before it is asked for them.
const FIND_ATTEMPTS = `
select message_id as id, attempt_id as "attemptId" from message_queue
where lease_until is not null and connection_id = any($1) and attempt_id = any($2)
union all
select message_id, attempt_id from message_state
where connection_id = any($1) and status = 'outcome_unknown' and attempt_id = any($2)`;

// By statement_timestamp(), for clock_timestamp() is only compared with what was read, and that is all that was claimed.
export const EXPIRE_LEASES = `
with place as (
  select q.ctid as place from message_queue q
  where ${queueTakes('lease_expired')} and q.lease_until < statement_timestamp()
    and q.lease_until >= ${SweepPlace.from('$2')}
  order by q.lease_until limit $1 for update of q skip locked
), gone as (
  delete from message_queue q where q.ctid = any(array(select place from place)) returning q.*
), moved as (
  insert into message_state as s (message_id, organization_id, connection_id, conversation_id, created_at, status,
    event_count, queued_at, processing_at, attempt_id, attempt_number, attempt_status, attempt_finished_at)
  select message_id, organization_id, connection_id, conversation_id, created_at, 'outcome_unknown', event_count + 1,
    queued_at, claimed_at, attempt_id, attempt_number, 'unknown', clock_timestamp()
  from gone
  returning ${MOVED_COLUMNS}, 'processing' as previous_status, clock_timestamp() as occurred_at
), ${insertStatusEvents('moved')}
select organization_id, connection_id, statement_timestamp()::text as looked_at
from moved right join (values (1)) as look on true`;

// Where lanes are held, a message that waits here may have been sent: it must not be called failed.
export const EXPIRE_QUEUED = `
with place as (
  select q.ctid as place from message_queue q
  where ${queueTakes('expired')} and q.expires_at < statement_timestamp() and q.expires_at >= ${SweepPlace.from('$2')}
    and not (${LANES_HELD})
  order by q.expires_at limit $1 for update of q skip locked
), gone as (
  delete from message_queue q where q.ctid = any(array(select place from place)) returning q.*
), ${failUnsent('gone', `'expired', 'EXPIRED', 'The message stayed in the queue for too long.'`)}
select organization_id, connection_id, statement_timestamp()::text as looked_at
from moved right join (values (1)) as look on true`;
