/**
 * How a BullMQ worker treats `drain` jobs. They are hints: due rows are found without them, so nothing waits for a job
 * that is lost. The server tells a worker that waits of each new job, and the jobs of a worker that was killed are free
 * again within 40 s; looking for either more often would be most of what an idle process does. A stalled job is
 * never given up: a drain may run twice without harm. The number of drains at once is high because a waiting drain is
 * only a promise.
 *
 * After a connection that broke a worker tries again at once: BullMQ's default is to look away for 15 s, in which nothing
 * would be sent although the server is back.
 *
 * Jobs themselves say `removeOnComplete: true`; keeping a count of them made the PostgreSQL backend deadlock.
 */
export const LANE_WORKER_OPTIONS = {
  concurrency: 1_000,
  drainDelay: 120,
  lockDuration: 5_000,
  stalledInterval: 20_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 500,
} as const;
