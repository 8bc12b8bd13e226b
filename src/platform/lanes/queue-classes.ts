import { Logger } from '@nestjs/common';
import { createPostgresBackend, createRedisBackend, Queue, Worker } from 'bullmq';
import type { BackendFactory, Processor, QueueOptions, RedisQueueBackend, WorkerOptions } from 'bullmq';
import pg from 'pg';

const logger = new Logger('Queue');
const REPORT_EVERY_MS = 10_000;
let reportedAt = -REPORT_EVERY_MS;

/** A server that is away makes every worker complain several times a second; one line in ten seconds says it. */
function report(error: Error): void {
  if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
  reportedAt = performance.now();
  logger.warn(`the queue reports: ${error.message}`);
}

/** Which backend a queue works on follows from its connection, so that one process may hold both (as tests do). */
function backendOf(options: QueueOptions): BackendFactory<RedisQueueBackend> {
  if (!(options.connection instanceof pg.Pool)) return createRedisBackend;
  // Queue and Worker keep to what both backends have; their types name the one of Redis.
  return createPostgresBackend as unknown as BackendFactory<RedisQueueBackend>;
}

export class HeraldQueue extends Queue {
  constructor(name: string, options: QueueOptions) {
    super(name, options, backendOf(options));
    this.on('error', report);
  }
}

export class HeraldWorker extends Worker {
  constructor(name: string, processor: Processor, options: WorkerOptions) {
    super(name, processor, options, backendOf(options));
    this.on('error', report);
  }
}
