/**
 * How a BullMQ worker treats `drain` jobs. Locks are short, so that a killed worker's lanes go on within seconds
 * (BullMQ's defaults took a minute), and a stalled job is never given up: a drain may run twice without harm. The
 * number of drains at once is high because a waiting drain is only a promise.
 *
 * After a connection that broke a worker tries again at once: BullMQ's default is to look away for 15 s, in which nothing
 * would be sent although the server is back.
 *
 * Jobs themselves say `removeOnComplete: true`; keeping a count of them made the PostgreSQL backend deadlock.
 */
export const LANE_WORKER_OPTIONS = {
  concurrency: 1_000,
  lockDuration: 5_000,
  stalledInterval: 2_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 500,
} as const;
