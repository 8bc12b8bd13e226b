import { Injectable } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { messagesErrors } from '../messages.errors.js';
import { MessagesRepository } from '../messages.repository.js';
import type { MessageInput } from './message-input.js';

interface Estimate {
  counted: number;
  acceptedSince: number;
  /** No new count before this time (monotonic ms). */
  restsUntil: number;
  /** From this time on the count is too old (monotonic ms). */
  oldAt: number;
  counting: Promise<void> | null;
  /** How many counts have begun. */
  begun: number;
}

/** Messages that were let through and added to the estimates, before it is known whether they are accepted. */
export type Reservation = readonly { readonly estimate: Estimate; readonly begun: number }[];

type Kind = 'queued' | 'scheduled';

/** The kinds that a message may count as. The last is for messages that a tag may hold: held ones count as scheduled. */
export const ALL_KINDS: readonly [Kinds, Kinds, Kinds] = [['queued'], ['scheduled'], ['queued', 'scheduled']];
type Kinds = readonly Kind[];

/** One of `ALL_KINDS`. */
export function kindsOf({ sendAt, tag }: Pick<MessageInput, 'sendAt' | 'tag'>): Kinds {
  const [queued, scheduled, held] = ALL_KINDS;
  if (sendAt !== undefined) return scheduled;
  return tag === undefined ? queued : held;
}

/**
 * One sixteenth of the remaining capacity may be used before the next count, so sixteen processes may do so at the same
 * time.
 */
const PROCESSES = 16;
/** The count stops here first; only a larger backlog is counted up to the limit. */
const FEW = 10_000;
const OLD_MS = 300_000;
const MIN_REST_MS = 5_000;
/** The pause between counts, as a multiple of a count's duration; at most the time a refused caller is told to wait. */
const REST_TIMES = 100;
const MAX_WORKSPACES = 10_000;
const RETRY_AFTER_SECONDS = 60;

/**
 * Limits how many messages a workspace may have queued. The estimate is the last count plus what this process has
 * accepted since; messages that were sent are not subtracted. A new count runs in the background when a sixteenth of
 * the remaining capacity may be used, when the limit is reached, or when the count is five minutes old. A workspace
 * whose queue stays short is counted every five minutes, at the cost of a few rows. The limit can be exceeded by
 * messages accepted during a count and, with more than sixteen processes, by those that the others accept between two
 * counts.
 */
@Injectable()
export class BacklogGuard {
  private readonly estimates = new Map<string, Estimate>();

  constructor(
    private readonly messages: MessagesRepository,
    private readonly config: Config,
  ) {}

  /**
   * Scheduled messages have a count and the same limit of their own, so any number of them leaves room to send at once.
   *
   * @throws BACKLOG_LIMIT_REACHED (429) when the workspace would have more messages queued, or scheduled, than it may
   * have.
   */
  check(organizationId: string, kinds: Kinds = ['queued'], count = 1): Reservation {
    const estimates = kinds.map((kind) => this.requireRoom(organizationId, kind, count));
    for (const estimate of estimates) estimate.acceptedSince += count;
    return estimates.map((estimate) => ({ estimate, begun: estimate.begun }));
  }

  /** Gives back `count` of a reservation: messages that were refused, or whose keys were known. */
  giveBack(reservation: Reservation, count: number): void {
    // A count that began since has already dropped earlier reservations.
    for (const { estimate, begun } of reservation) if (estimate.begun === begun) estimate.acceptedSince -= count;
  }

  /** Like `check`, without a reservation. */
  requireRoom(organizationId: string, kind: Kind, count: number): Estimate {
    const estimate = this.estimateOf(kind === 'queued' ? organizationId : `${organizationId}/${kind}`);
    if (this.isDoubtful(estimate)) this.recount(organizationId, kind, estimate);
    if (estimate.counted + estimate.acceptedSince + count > this.limit) {
      throw messagesErrors.BACKLOG_LIMIT_REACHED({
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        scheduled: kind === 'scheduled',
      });
    }
    return estimate;
  }

  private get limit(): number {
    return this.config.limits.backlog;
  }

  private estimateOf(key: string): Estimate {
    let estimate = this.estimates.get(key);
    if (estimate === undefined) {
      if (this.estimates.size >= MAX_WORKSPACES) this.estimates.clear();
      estimate = { counted: 0, acceptedSince: 0, restsUntil: -Infinity, oldAt: -Infinity, counting: null, begun: 0 };
      this.estimates.set(key, estimate);
    }
    return estimate;
  }

  private isDoubtful({ counted, acceptedSince, restsUntil, oldAt, counting }: Estimate): boolean {
    const now = performance.now();
    if (counting !== null || now < restsUntil) return false;
    return now >= oldAt || acceptedSince * PROCESSES >= this.limit - counted;
  }

  private recount(organizationId: string, kind: Kind, estimate: Estimate): void {
    const before = estimate.acceptedSince;
    const startedAt = performance.now();
    estimate.begun++;
    estimate.counting = this.count(organizationId, kind)
      .then((counted) => {
        estimate.counted = counted;
        estimate.acceptedSince -= before;
        estimate.oldAt = performance.now() + OLD_MS;
      })
      // The database is away: requests fail on their own, and a later one counts again.
      .catch(() => undefined)
      .finally(() => {
        const endedAt = performance.now();
        const restMs = Math.min((endedAt - startedAt) * REST_TIMES, RETRY_AFTER_SECONDS * 1_000);
        estimate.restsUntil = endedAt + Math.max(MIN_REST_MS, restMs);
        estimate.counting = null;
      });
  }

  private async count(organizationId: string, kind: Kind): Promise<number> {
    const most = this.limit + 1;
    const count = (limit: number): Promise<number> =>
      kind === 'queued'
        ? this.messages.countQueued(organizationId, limit)
        : this.messages.countScheduled(organizationId, limit);
    const few = await count(Math.min(FEW, most));
    return few < FEW ? few : count(most);
  }
}
