import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids.js';
import { isUnreachable } from '../../../infrastructure/database/database-faults.js';
import { Database, hasRow, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import { LANES_HELD, holdOf, holdsParams, type HoldRequest } from '../../../infrastructure/lanes/lane-hold.js';
import type { DueLanes } from '../../../infrastructure/lanes/due-lanes.js';
import type { Claim } from '../../../infrastructure/lanes/lane-runner.js';
import { LostClaimError } from '../../../infrastructure/lanes/lost-claims.js';
import { SweepPlace } from '../../../infrastructure/lanes/sweeps.js';
import {
  attemptIdOf,
  CHECK_MARKS,
  CLAIM,
  dueConnections,
  MOVE_MARKS,
  READY,
  type ClaimedMessage,
  type ClaimRow,
} from './claim-sql.js';
import { failUnsent, insertStatusEvents, MOVED_COLUMNS } from '../reports/message-event-sql.js';
import { queueTakes } from '../message-state.js';

export interface ClaimLimits {
  /** Messages queued longer than this are left to the expiry sweep. */
  ttlHours: number;
  /** After this long without an outcome a claimed message is `outcome_unknown`. */
  leaseMs: number;
}

/** What one lane asks of the statement that claims for many. */
interface LaneClaim extends ClaimLimits {
  request: HoldRequest;
  claimId: string;
  /** Behind which recipient. */
  from: string;
}

/** `lost`: whether it was committed is unknown, and why. */
type LaneAnswer = ClaimRow[] | { lost: unknown };

/** Whose message a sweep has moved. */
export type MovedMessage = Pick<ClaimedMessage, 'organizationId' | 'connectionId'>;

// Statements of a claim that finds nothing that it could take.
const ROUNDS = 20;
const MAX_CURSORS = 100_000;

const CHECK_MARKS_EVERY_MS = 60_000;

/** The lane's statements on `message_queue`: claim, sweeps, due lanes. */
@Injectable()
export class SendRepository {
  /** Where the last claim of a lane stopped, so that a long lane is walked on and not again from its start. */
  private readonly cursors = new Map<string, string>();
  private readonly leases = new SweepPlace();
  private readonly expiries = new SweepPlace();

  private marksCheckedAt = -Infinity;

  /** Connections with due messages that can send. */
  readonly dueConnections: DueLanes;

  private readonly claims: GroupCommit<LaneClaim, LaneAnswer>;

  constructor(private readonly database: Database) {
    this.dueConnections = dueConnections(database);
    this.claims = new GroupCommit(database, {
      name: 'claim',
      maxBatch: 100,
      maxWaiting: 100_000, // lanes of one process
      transactional: false,
      commit: (claims, statements) => this.claimTogether(claims, statements),
    });
  }

  /**
   * Claims the heads of up to `limit` recipients: each gets an attempt, `processing` and a lease.
   *
   * To one recipient one message goes at a time, oldest first; a recipient with a message in flight, or whose head is
   * not due yet, is passed over.
   *
   * @throws LostClaimError where the connection broke, and the claim may have been committed.
   */
  async claim(request: HoldRequest, limits: ClaimLimits): Promise<Claim<ClaimedMessage>> {
    const { laneKey: connectionId } = request;
    let asked = request;
    let hold: Claim<ClaimedMessage>['hold'] = null;
    let from = this.cursors.get(connectionId) ?? '';
    let fromStart = from === '';
    for (let round = 0; round < ROUNDS; round++) {
      const answer = await this.claimFrom(asked, limits, from);
      const { claimed, next, complete } = answer;
      // The first one returns the pace that applies; the others use it.
      hold = answer.hold && { ...answer.hold, available: hold === null ? answer.hold.available : hold.available };
      if (hold === null || hold.slots === 0) return { hold, items: claimed };
      this.moveCursor(connectionId, next);
      if (claimed.length > 0 || complete)
        return { hold, items: claimed, more: claimed.length === hold.slots || !complete };
      const inHandSeconds = request.inHandSeconds ?? (hold.available ?? 0) / request.pace.ratePerSecond;
      asked = { ...request, limit: hold.slots, inHandSeconds };
      // Nothing up to the lane's end: search once from the start before the lane counts as empty.
      if (next === '' && fromStart) break;
      fromStart ||= next === '';
      from = next;
    }
    return { hold, items: [], more: false };
  }

  /** The recipient behind whom the next claim of a lane goes on; null where this process has none to go on from. */
  cursorOf(connectionId: string): string | null {
    return this.cursors.get(connectionId) ?? null;
  }

  /** Those of the given attempts of a connection whose messages still wait for their outcome. */
  findAttempts(connectionId: string, attemptIds: readonly string[]): Promise<{ id: string; attemptId: string }[]> {
    return this.database.query(FIND_ATTEMPTS, [connectionId, attemptIds]);
  }

  /** `next`: where to go on, '' for the start. `complete`: nothing else can be claimed, wherever the walk stands. */
  private async claimFrom(
    request: HoldRequest,
    { ttlHours, leaseMs }: ClaimLimits,
    from: string,
  ): Promise<{ hold: Claim<ClaimedMessage>['hold']; claimed: ClaimedMessage[]; next: string; complete: boolean }> {
    const claimId = newId();
    const rows = await this.claims.submit({ request, claimId, from, ttlHours, leaseMs });
    if ('lost' in rows) {
      const attemptIds = Array.from({ length: request.limit }, (_, n) => attemptIdOf(claimId, n + 1));
      throw new LostClaimError(attemptIds, rows.lost);
    }
    const claimed = rows.filter((row) => row.kind === 'claimed');
    const hold = holdOf(rows.filter((row) => row.kind === null));
    const end = rows.find((row) => row.kind !== null && row.kind !== 'claimed');
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

  /** One statement for all that ask, which asks for a lane once. */
  private async claimTogether(asked: readonly LaneClaim[], statements: Statements): Promise<LaneAnswer[]> {
    const byLane = new Map<string, LaneClaim>();
    for (const claim of asked) if (!byLane.has(claim.request.laneKey)) byLane.set(claim.request.laneKey, claim);
    const claims = [...byLane.values()];
    const rowsOf = new Map<string, ClaimRow[]>();
    let lost: unknown = null;
    try {
      for (const row of await statements.query<ClaimRow>(CLAIM, claimParams(claims))) {
        const laneKey = row.kind === null ? row.laneKey : row.connectionId;
        const rows = rowsOf.get(laneKey);
        if (rows === undefined) rowsOf.set(laneKey, [row]);
        else rows.push(row);
      }
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      lost = error;
    }
    const answers = new Map(
      claims.map((claim): [LaneClaim, LaneAnswer] => [
        claim,
        lost === null ? (rowsOf.get(claim.request.laneKey) ?? []) : { lost },
      ]),
    );
    const others = asked.filter((claim) => !answers.has(claim));
    if (others.length > 0) {
      const later = await this.claimTogether(others, statements);
      others.forEach((claim, index) => answers.set(claim, later[index] ?? []));
    }
    return asked.map((claim) => answers.get(claim) ?? []);
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
   * and it is unknown whether the platform took them.
   */
  expireLeases(limit: number): Promise<MovedMessage[]> {
    return this.moveFrom(this.leases, EXPIRE_LEASES, limit);
  }

  /** Fails messages that wait beyond the time that they were given themselves. */
  expireTimed(limit: number): Promise<MovedMessage[]> {
    return this.moveFrom(this.expiries, EXPIRE_TIMED, limit);
  }

  /** SQL: whether there is something for `expireTimed`. */
  timedHaveExpired(): string {
    return hasRow(
      `from message_queue q
       where q.expires_at <= now() and q.expires_at >= ${this.expiries.condition} and ${queueTakes('expired')}`,
      'q.expires_at',
    );
  }

  private async moveFrom(place: SweepPlace, statement: string, limit: number): Promise<MovedMessage[]> {
    const rows = await this.database.query<MovedRow & { looked_at: string }>(statement, [limit, place.next()]);
    const moved = movedOf(rows);
    if (moved.length < limit) place.reached(rows[0]?.looked_at ?? null);
    return moved;
  }

  /** Fails messages that have been queued for longer than `ttlHours`, but for those with a time of their own. */
  async expireQueued(ttlHours: number, limit: number): Promise<MovedMessage[]> {
    return movedOf(await this.database.query<MovedRow>(EXPIRE_QUEUED, [ttlHours, limit]));
  }

  /**
   * Moves the low-water marks of lanes in use: before `lane.low_at` nothing became due that still waits, and before
   * `low_seq` there is no row that has been due since it was accepted; returns how many. By them claims and sweeps pass over the rows that are gone without
   * reading them, however many another transaction keeps from being removed.
   *
   * A mark moves up to fifteen seconds behind the clock, longer than an INSERT may take. Whatever is passed
   * nevertheless, as by a commit that stalled for longer or a clock that stepped back, a check finds, once a minute: it
   * takes the mark of that lane back.
   */
  async moveMarks(): Promise<number> {
    if (performance.now() - this.marksCheckedAt >= CHECK_MARKS_EVERY_MS) {
      this.marksCheckedAt = performance.now();
      await this.database.execute(CHECK_MARKS);
    }
    return this.database.execute(MOVE_MARKS);
  }
}

export function claimParams(claims: readonly LaneClaim[]): unknown[] {
  return [
    ...holdsParams(claims.map(({ request }) => request)),
    claims.map(({ from }) => from),
    claims.map(({ claimId }) => claimId),
    claims.map(({ leaseMs }) => leaseMs / 1_000),
    claims.map(({ ttlHours }) => ttlHours),
  ];
}

interface MovedRow {
  /** Null in a row that only says that there was a look. */
  organization_id: string | null;
  connection_id: string | null;
}

function movedOf(rows: readonly MovedRow[]): MovedMessage[] {
  return rows.flatMap(({ organization_id: organizationId, connection_id: connectionId }) =>
    organizationId === null || connectionId === null ? [] : [{ organizationId, connectionId }],
  );
}

// A lost claim's leases may have run out before it is asked for them.
const FIND_ATTEMPTS = `
select message_id as id, attempt_id as "attemptId" from message_queue
where lease_until is not null and connection_id = $1 and attempt_id = any($2)
union all
select message_id, attempt_id from message_state
where connection_id = $1 and status = 'outcome_unknown' and attempt_id = any($2)`;

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
), announced as (
  ${insertStatusEvents('moved')}
)
select organization_id, connection_id, statement_timestamp()::text as looked_at
from moved right join (values (1)) as look on true`;

// By their places in an array, which always look few to the planner: joined, a queue that looks small is read as a whole.
// Where lanes are held, a message that waits here may have been sent: it must not be called failed.
const EXPIRE = `, place as (
  select q.ctid as place from message_queue q
  where q.ctid = any(array(select place from candidate)) and ${queueTakes('expired')} and not (${LANES_HELD}) for update of q skip locked
), gone as (
  delete from message_queue q where q.ctid = any(array(select place from place)) returning q.*
), ${failUnsent('gone', `'expired', 'EXPIRED', 'The message stayed in the queue for too long.'`)}`;

export const EXPIRE_TIMED = `
with candidate as (
  select q.ctid as place from message_queue q
  where ${queueTakes('expired')} and q.expires_at < statement_timestamp() and q.expires_at >= ${SweepPlace.from('$2')}
  order by q.expires_at limit $1
)${EXPIRE}
select organization_id, connection_id, statement_timestamp()::text as looked_at
from moved right join (values (1)) as look on true`;

// From connection to connection and not from row to row: removed rows that cannot be vacuumed cost nothing.
// A deferral moves next_attempt_at by two hours at the most, so the index leads to every row that is old enough.
export const EXPIRE_QUEUED = `
with candidate as (
  select found.* from connection c left join lane l on l.key = c.id::text cross join lateral (
    (select q.ctid as place from message_queue q
     where q.connection_id = c.id and ${READY} and q.created_at >= coalesce(l.low_at, '-infinity')
       and q.created_at < statement_timestamp() - make_interval(hours => $1)
       and q.queued_at < clock_timestamp() - make_interval(hours => $1) and q.expires_at is null
     order by q.connection_id, q.created_at limit $2)
    union all
    (select q.ctid as place from message_queue q
     where q.connection_id = c.id and q.next_attempt_at >= coalesce(l.low_at, '-infinity')
       and q.next_attempt_at < statement_timestamp() - make_interval(hours => $1) + interval '2 hours'
       and q.queued_at < clock_timestamp() - make_interval(hours => $1) and q.expires_at is null
     order by q.connection_id, q.next_attempt_at limit $2)) as found
  limit $2
)${EXPIRE}
select organization_id, connection_id from moved`;
