import PgBoss from 'pg-boss';
import { complain, type JobDriver } from './job-order.js';

const QUEUE = 'send-each';
/** Half a second is the least that it polls in. */
const POLL_SECONDS = 0.5;

/**
 * Each worker fetches a batch and completes it as a whole, so the jobs at once are split over several: with one batch of
 * all of them the slowest would hold up the rest.
 */
const WORKERS = 8;

export const pgBossJobs: JobDriver = async (order, messageIds, send, added) => {
  const boss = new PgBoss({ connectionString: order.databaseUrl, max: 20, supervise: false, schedule: false });
  boss.on('error', complain);
  await boss.start();
  await boss.createQueue(QUEUE);
  for (let i = 0; i < messageIds.length; i += 1_000) {
    await boss.insert(messageIds.slice(i, i + 1_000).map((messageId) => ({ name: QUEUE, data: { messageId } })));
  }
  added();
  const options = { batchSize: order.concurrency / WORKERS, pollingIntervalSeconds: POLL_SECONDS };
  for (let i = 0; i < WORKERS; i++) {
    await boss.work<{ messageId: string }>(QUEUE, options, async (jobs) => {
      await Promise.all(jobs.map((job) => send(job.data.messageId)));
    });
  }
};
