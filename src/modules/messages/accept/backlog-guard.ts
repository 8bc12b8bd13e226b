import { Injectable } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { messagesErrors } from '../messages.errors.js';
import { MessagesRepository } from '../messages.repository.js';
import type { MessageInput } from './message-input.js';

interface Estimate {
  counted: number;
  acceptedSince: number;
  /** Monotonic milliseconds before which it is not counted again. */
  restsUntil: number;
  /** Monotonic milliseconds from which the count is too old. */
  oldAt: number;
  counting: Promise<void> | null;
  /** Counts that were begun. */
  begun: number;
}

/** What was let through and added to the estimates, before it is known whether it is accepted. */
export type Reservation = readonly { readonly estimate: Estimate; readonly begun: number }[];

type Kind = 'queued' | 'scheduled';

/** What messages may count as. The last: what a tag may hold, which then counts with what is scheduled. */
export const ALL_KINDS: readonly [Kinds, Kinds, Kinds] = [['queued'], ['scheduled'], ['queued', 'scheduled']];
type Kinds = readonly Kind[];

/** One of `ALL_KINDS`. */
export function kindsOf({ sendAt, tag }: Pick<MessageInput, 'sendAt' | 'tag'>): Kinds {
  const [queued, scheduled, held] = ALL_KINDS;
  if (sendAt !== undefined) return scheduled;
  return tag === undefined ? queued : held;
}

/** The part of the remaining capacity that may be used before the next count: so many processes may do so at once. */
const PROCESSES = 16;
/** A smaller backlog is counted once; only a larger one is read up to the limit. */
const FEW = 10_000;
const OLD_MS = 300_000;
const MIN_REST_MS = 5_000;
/** The pause between counts, as a multiple of a count's duration; at most the wait of a refused caller. */
const REST_TIMES = 100;
const MAX_WORKSPACES = 10_000;
const RETRY_AFTER_SECONDS = 60;

/**
 * Bounds how many messages a workspace may have queued. What this process accepts is added to the last count, and
 * nothing is subtracted for what was sent: so it is counted again, in the background, once a sixteenth of the remaining
 * capacity may be used, or the limit reached, or the count is five minutes old. A workspace whose messages are sent as
 * they come is counted once in five minutes, and then only few rows are read. The limit may be passed by what is
 * accepted during a count and, where there are more than sixteen processes, by what the others accept between two.
 */
@Injectable()
export class BacklogGuard {
  private readonly estimates = new Map<string, Estimate>();

  constructor(
    private readonly messages: MessagesRepository,
    private readonly config: Config,
  ) {}

  /**
   * Scheduled messages are counted apart, up to the same limit: however many there are, a message can be sent at once.
   *
   * @throws BACKLOG_LIMIT_REACHED (429) when the workspace would have more messages queued, or scheduled, than it may have.
   */
  check(organizationId: string, kinds: Kinds = ['queued'], count = 1): Reservation {
    const estimates = kinds.map((kind) => this.requireRoom(organizationId, kind, count));
    for (const estimate of estimates) estimate.acceptedSince += count;
    return estimates.map((estimate) => ({ estimate, begun: estimate.begun }));
  }

  /** So many of a reservation were surely not accepted: refused, or known by their keys. */
  giveBack(reservation: Reservation, count: number): void {
    // A count that was begun since takes off all that was reserved before it.
    for (const { estimate, begun } of reservation) if (estimate.begun === begun) estimate.acceptedSince -= count;
  }

  /** As `check`, of what is not accepted. */
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
