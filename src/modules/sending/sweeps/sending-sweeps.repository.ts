import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../../common/ids.js';
import { Database } from '../../../infrastructure/database/database.js';
import { CLAIMS_BLOCKED } from '../../../infrastructure/queue/claims-blocked.js';
import { ALL_OFTEN_MS, type DueSince, SweepCursor } from '../../../infrastructure/queue/sweeps.js';
import { BY_EXPIRY } from '../../message-state/message-row.types.js';
import { queueTakes, tagIsNotPaused } from '../../message-state/message-state.types.js';
import type { Fact, LockedMessage } from '../../message-state/facts.types.js';
import { FactsService } from '../../message-state/facts.service.js';
import type { ClaimedMessage } from '../claim/claim.repository.js';

/** A message that a sweep has moved. */
export type MovedMessage = Pick<ClaimedMessage, 'organizationId' | 'connectionId'>;

/** Recipients that one statement of the repair examines. */
const REPAIR_BATCH = 5_000;

/** The periodic statements on `message_queue`. */
@Injectable()
export class SendingSweepsRepository {
  private readonly leaseCursor = new SweepCursor();
  private readonly expiryCursor = new SweepCursor(ALL_OFTEN_MS);
  /** Null: the next repair begins with the first recipient. */
  private repairedTo: RepairedPage | null = null;

  constructor(
    private readonly database: Database,
    private readonly facts: FactsService,
  ) {}

  /**
   * Sets messages whose lease ran out to `outcome_unknown` and closes their attempts: the sender died or hangs, and
   * whether WhatsApp received them is unknown.
   */
  expireLeases(limit: number): Promise<MovedMessage[]> {
    return this.moveFrom(this.leaseCursor, EXPIRE_LEASES, limit);
  }

  /** Fails messages that have waited beyond their time to live, those that expired first or those that expired last. */
  expireQueued(limit: number, order: 'asc' | 'desc' = 'asc'): Promise<MovedMessage[]> {
    return this.moveFrom(this.expiryCursor, EXPIRE_QUEUED[order], limit);
  }

  private async moveFrom(cursor: SweepCursor, find: string, limit: number): Promise<MovedMessage[]> {
    const from = cursor.next();
    const rows = await this.database.byIndex(() => this.database.query<FoundRow>(find, [limit, from]));
    const found = rows.flatMap(({ messageId, attemptId }): Fact[] => {
      if (messageId === null) return [];
      return [attemptId === null ? { kind: 'expired', messageId } : { kind: 'lease_ended', messageId, attemptId }];
    });
    if (found.length < limit) cursor.reached(rows[0]?.lookedAt ?? null);
    const applied = await this.facts.applyNow(found, { skipLocked: true });
    return applied.flatMap(({ moved, message }) => (moved && message !== null ? [movedOf(message)] : []));
  }

  /**
   * Sets a due time for recipients whose first message has none, and returns how many. The triggers of `message_queue`
   * leave no such row; this is for a database where they were disabled. If a round ends early, the next one continues
   * there.
   */
  async repairTurns(signal: AbortSignal): Promise<number> {
    let total = 0;
    let page: RepairedPage | null = this.repairedTo ?? FIRST_PAGE;
    while (page?.isFull === true && !signal.aborted) {
      page = await this.repairPage(page);
      total += page?.repaired ?? 0;
    }
    this.repairedTo = page?.isFull === true ? page : null;
    return total;
  }

  private repairPage({ connectionId, recipient }: RepairedPage): Promise<RepairedPage | null> {
    const params = [connectionId, recipient, REPAIR_BATCH];
    return this.database.byIndex(() => this.database.find<RepairedPage>(REPAIR_TURNS, params));
  }
}

interface RepairedPage {
  repaired: number;
  connectionId: string;
  recipient: string;
  /** More recipients may follow. */
  isFull: boolean;
}

const FIRST_PAGE: RepairedPage = { repaired: 0, connectionId: FIRST_ID, recipient: '', isFull: true };

function movedOf({ organizationId, connectionId }: LockedMessage): MovedMessage {
  return { organizationId, connectionId };
}

/** Where no message was found there is one row, with `lookedAt` alone; everything else in it is null. */
interface FoundRow {
  messageId: string | null;
  attemptId: string | null;
  lookedAt: string;
}

const found = (condition: string, time: string, order = 'asc'): string => `
select found.*, statement_timestamp()::text as "lookedAt" from (
  select q.message_id as "messageId", q.attempt_id as "attemptId" from message_queue q
  -- statement_timestamp(): clock_timestamp() cannot be an index condition, so every claimed row would be read.
  where ${condition} and q.${time} < statement_timestamp() and q.${time} >= ${SweepCursor.from('$2')}
  order by q.${time} ${order} limit $1) as found
right join (values (1)) as look on true`;

export const EXPIRE_LEASES = found(queueTakes('lease_expired'), 'lease_until');

// While claims are blocked after a restore, a waiting message may have been sent, so it must not be set to failed. Messages that a tag is
// about to hold do not expire: the time to live runs from the tag's start, and a resume checks it.
const HAS_EXPIRED = `${BY_EXPIRY} and ${queueTakes('expired')} and ${tagIsNotPaused('q')} and not (${CLAIMS_BLOCKED})`;
/** SQL: since when `expireQueued` has work. */
export const EXPIRED_SINCE: DueSince = (from) => `(select q.expires_at from message_queue q
  where ${HAS_EXPIRED} and q.expires_at <= now() and q.expires_at >= ${from} order by q.expires_at limit 1)`;
export const EXPIRE_QUEUED = { asc: found(HAS_EXPIRED, 'expires_at'), desc: found(HAS_EXPIRED, 'expires_at', 'desc') };

// Each recipient's first row is due or in flight: the triggers of message_queue ensure it. With a disabled trigger a
// row could wait without end. $1, $2: the connection and recipient to start after; $3: the number of recipients to
// examine.
export const REPAIR_TURNS = `
with recursive walk as (
  (select q.connection_id, q.recipient, 1 as n from message_queue q
   where (q.connection_id, q.recipient) > ($1::uuid, $2::text) and q.held_until is null
   order by q.connection_id, q.recipient limit 1)
  union all
  select next.connection_id, next.recipient, walk.n + 1 from walk cross join lateral (
    select q.connection_id, q.recipient from message_queue q
    where (q.connection_id, q.recipient) > (walk.connection_id, walk.recipient) and q.held_until is null
    order by q.connection_id, q.recipient limit 1) as next
  where walk.n < $3::integer
), stranded as materialized (
  select first.row_ctid from walk cross join lateral (
    select q.ctid as row_ctid, q.attempt_id, q.due_at from message_queue q
    where q.connection_id = walk.connection_id and q.recipient = walk.recipient and q.held_until is null
    order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit 1) as first
  where first.attempt_id is null and first.due_at is null
), repaired as (
  update message_queue q set due_at = greatest(clock_timestamp(), q.not_before)
  where q.ctid = any(array(select row_ctid from stranded)) and num_nulls(q.attempt_id, q.held_until) = 2 and q.due_at is null returning 1
)
select (select count(*)::integer from repaired) as repaired, connection_id as "connectionId", recipient,
  n = $3::integer as "isFull"
from walk order by n desc limit 1`;
