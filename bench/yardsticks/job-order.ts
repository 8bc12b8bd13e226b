export type JobQueue = 'bullmq-postgres' | 'bullmq-redis' | 'graphile-worker' | 'pg-boss';

/** What `job-per-message.main` is to do. */
export interface JobOrder {
  queue: JobQueue;
  databaseUrl: string;
  simulatorUrl: string;
  /** Of `bullmq-redis`. */
  redisUrl: string | null;
  /** Jobs at once. */
  concurrency: number;
}

/** Puts one job a message into a queue and works on them with `send`; says `added` once all are in. */
export type JobDriver = (
  order: JobOrder,
  messageIds: readonly string[],
  send: (messageId: string) => Promise<void>,
  added: () => void,
) => Promise<void>;

export function complain(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
