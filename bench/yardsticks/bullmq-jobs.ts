import {
  createPostgresBackend,
  createRedisBackend,
  Queue,
  runMigrations,
  Worker,
  type BackendFactory,
  type Job,
} from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { complain, type JobDriver } from './job-order.js';

export const bullmqJobs: JobDriver = async (order, messageIds, send, added) => {
  const connection =
    order.redisUrl === null
      ? new pg.Pool({ connectionString: order.databaseUrl, options: '-c search_path=bullmq', max: 20 })
      : new Redis(order.redisUrl, { maxRetriesPerRequest: null });
  if (connection instanceof pg.Pool) await makeTables(order.databaseUrl);
  const backend = (order.redisUrl === null ? createPostgresBackend : createRedisBackend) as unknown as BackendFactory;
  const options = { connection, prefix: 'yardstick' };
  const queue = new Queue('send-each', options, backend);
  for (let i = 0; i < messageIds.length; i += 1_000) {
    await queue.addBulk(
      messageIds.slice(i, i + 1_000).map((messageId) => ({
        name: 'send',
        data: { messageId },
        opts: { removeOnComplete: true, attempts: 1 },
      })),
    );
  }
  added();
  const work = (job: Job<{ messageId: string }>): Promise<void> => send(job.data.messageId);
  const worker = new Worker('send-each', work, { ...options, concurrency: order.concurrency }, backend);
  worker.on('error', complain);
  worker.on('failed', (_job, error) => complain(error));
};

/** BullMQ's own, in the schema `bullmq`. */
export async function makeTables(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await runMigrations(client, 'bullmq');
  } finally {
    await client.end();
  }
}
