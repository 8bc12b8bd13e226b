import { bullmqJobs } from './bullmq-jobs.js';
import { graphileJobs } from './graphile-jobs.js';
import type { JobDriver, JobOrder, JobQueue } from './job-order.js';
import { pgBossJobs } from './pg-boss-jobs.js';
import { OneSender } from './send-one.js';

// Sends queued messages the usual way: one job a message.
const DRIVERS: Record<JobQueue, JobDriver> = {
  'bullmq-postgres': bullmqJobs,
  'bullmq-redis': bullmqJobs,
  'graphile-worker': graphileJobs,
  'pg-boss': pgBossJobs,
};

const order = JSON.parse(process.argv[2] ?? '') as JobOrder;
const sender = new OneSender(order.databaseUrl, order.simulatorUrl, order.concurrency);
const messageIds = await sender.queued();
process.once('SIGTERM', () => process.exit(0));
await DRIVERS[order.queue](
  order,
  messageIds,
  (messageId) => sender.send(messageId),
  () => process.stdout.write(`drains ${messageIds.length} messages\n`),
);
