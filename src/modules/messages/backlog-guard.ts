import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { messagesErrors } from './messages.errors.js';
import { MessagesRepository } from './messages.repository.js';

interface Estimate {
  counted: number;
  acceptedSince: number;
  /** Monotonic milliseconds of the count; -Infinity: never counted. */
  countedAt: number;
  counting: Promise<void> | null;
}

const RECOUNT_MS = 5_000;
const MAX_WORKSPACES = 10_000;
const RETRY_AFTER_SECONDS = 60;

/**
 * Bounds how many messages a workspace may have queued. The count is taken in the background at most every five
 * seconds and only while the workspace sends, plus what this process accepted since, so the limit may be passed by what
 * other processes accept in that time.
 */
@Injectable()
export class BacklogGuard {
  private readonly estimates = new Map<string, Estimate>();

  constructor(
    private readonly messages: MessagesRepository,
    private readonly config: Config,
  ) {}

  /** @throws BACKLOG_LIMIT_REACHED (429) when the workspace has as many queued messages as it may have. */
  check(organizationId: string): void {
    const estimate = this.estimateOf(organizationId);
    const known = estimate.counted + estimate.acceptedSince;
    if (performance.now() - estimate.countedAt > RECOUNT_MS) this.recount(organizationId, estimate);
    if (known >= this.config.limits.backlog) {
      throw messagesErrors.BACKLOG_LIMIT_REACHED({ retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    estimate.acceptedSince++;
  }

  private estimateOf(organizationId: string): Estimate {
    let estimate = this.estimates.get(organizationId);
    if (estimate === undefined) {
      if (this.estimates.size >= MAX_WORKSPACES) this.estimates.clear();
      estimate = { counted: 0, acceptedSince: 0, countedAt: -Infinity, counting: null };
      this.estimates.set(organizationId, estimate);
    }
    return estimate;
  }

  private recount(organizationId: string, estimate: Estimate): void {
    if (estimate.counting !== null) return;
    const before = estimate.acceptedSince;
    estimate.counting = this.count(organizationId)
      .then((counted) => {
        estimate.counted = counted;
        estimate.acceptedSince -= before;
      })
      // The database is away: requests fail on their own, and the next one counts again.
      .catch(() => undefined)
      .finally(() => {
        estimate.countedAt = performance.now();
        estimate.counting = null;
      });
  }

  private count(organizationId: string): Promise<number> {
    return this.messages.countQueued(organizationId, this.config.limits.backlog + 1);
  }
}
