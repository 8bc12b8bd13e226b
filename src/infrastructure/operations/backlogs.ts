import { Injectable, Logger } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import { ExpiringCache } from '../../common/expiring-cache.js';

/** Rows are counted up to this limit: a request for metrics must not read a million rows. */
export const COUNT_LIMIT = 100_000;

/** The backlog of one queue; counted up to `COUNT_LIMIT`. */
export interface Backlog {
  /** Rows that wait, due or not. */
  waiting: number;
  /** Rows being worked on. */
  inFlight: number;
  /** How long the longest due row has waited; 0 where none is due. */
  oldestDueSeconds: number;
}

export interface QueueBacklog extends Backlog {
  /** `messages`, `webhooks`, `codes`, `files` or `notifications`. */
  queue: string;
}

const FRESH_MS = 4_000;

/** The backlog of each queue, for `/metrics` and `herald queue status`. */
@Injectable()
export class Backlogs {
  private readonly logger = new Logger(Backlogs.name);
  private readonly queues: { queue: string; read: () => Promise<Backlog> }[] = [];
  private readonly cache = new ExpiringCache<'all', QueueBacklog[]>({ ttlMs: FRESH_MS, maxEntries: 1 });

  /** Adds a queue; call it while the application starts. */
  add(queue: string, read: () => Promise<Backlog>): void {
    this.queues.push({ queue, read });
  }

  /** At most four seconds old, however many requests come. A queue that cannot be read is left out. */
  read(): Promise<QueueBacklog[]> {
    return this.cache.get('all', () => this.readAll());
  }

  private async readAll(): Promise<QueueBacklog[]> {
    const found: QueueBacklog[] = [];
    // One after the other, so that a request takes one connection rather than five.
    for (const { queue, read } of this.queues) {
      try {
        found.push({ queue, ...(await read()) });
      } catch (error) {
        this.logger.warn(`the backlog of ${queue} could not be read: ${describeError(error)}`);
      }
    }
    return found;
  }
}

/** SQL text of a count that stops at `COUNT_LIMIT`. */
export function boundedCount(fromWhere: string): string {
  return `(select count(*)::integer from (select 1 ${fromWhere} limit ${COUNT_LIMIT}) as counted)`;
}

/** SQL text of the seconds since a time; 0 where the time is null or in the future. */
export function secondsSince(expression: string): string {
  return `greatest(coalesce(extract(epoch from clock_timestamp() - ${expression}), 0), 0)::float8`;
}
