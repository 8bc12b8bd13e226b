import { BullRegistrar } from '@nestjs/bullmq';
import {
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService, ModuleRef } from '@nestjs/core';
import { within } from '../../common/within.js';
import { Config } from '../config/config.js';
import { Metrics } from '../operations/metrics/metrics.js';
import { Readiness } from '../operations/readiness.js';
import { LaneOwner } from './lane-owner.js';
import { LaneWakes } from './lane-wakes.js';
import { QueueConnection } from './queue-connection.js';
import { QueueProcessor } from './queue-processor.js';
import { Sweeps } from './sweeps.js';

const REPORT_EVERY_MS = 10_000;
const READY_WITHIN_MS = 3_000;
const ANSWERS_WITHIN_MS = 500;
/** A BullMQ worker that loses Redis while closing would wait for it longer than this. */
const CLOSED_WITHIN_MS = 1_000;

/**
 * The worker part of this process. It may own lanes before anything wakes one, and takes jobs after `start` where Redis
 * is used.
 *
 * A stop has two phases. `beginStop` tells everything at once to claim nothing more. Then each queue waits for its own
 * end (`beforeApplicationShutdown`), all until the same deadline.
 */
@Injectable()
export class QueueWorkers implements OnApplicationShutdown, OnModuleDestroy, OnModuleInit {
  private readonly logger = new Logger('Queue');
  private reportedAt = -REPORT_EVERY_MS;
  private takesJobs = false;
  private closed: Promise<unknown> | null = null;

  constructor(
    private readonly connection: QueueConnection,
    private readonly owner: LaneOwner,
    private readonly wakes: LaneWakes,
    private readonly sweeps: Sweeps,
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
    private readonly config: Config,
  ) {}

  async onModuleInit(): Promise<void> {
    // Without wakes workers find due rows themselves, so the process stays ready.
    this.readiness.register('queue', async () =>
      (await this.answers()) ? { ok: true } : { ok: true, detail: 'away: workers look for due rows once a second' },
    );
    this.metrics.add({
      name: 'queue_reachable',
      help: 'Whether this process can wake others, by Redis or by NOTIFY of PostgreSQL: 1 or 0.',
      collect: async () => [{ value: (await this.answers()) ? 1 : 0 }],
    });
    // Before a notice, a sweep or a request can wake a lane: `PgNotifier` listens once all modules are initialized.
    if (this.config.process.roles.includes('worker')) await this.owner.start();
  }

  /** Starts one BullMQ worker per processor where Redis is used. An unreachable Redis does not stop the start. */
  async start(): Promise<void> {
    if (!this.connection.isUsed) return;
    this.moduleRef.get(BullRegistrar, { strict: false }).register();
    this.takesJobs = true;
    const workers = this.queues.map(({ worker }) => worker);
    for (const worker of workers) worker.on('error', (error: Error) => this.report(error));
    await within(READY_WITHIN_MS, Promise.all(workers.map((worker) => worker.waitUntilReady())));
  }

  /** Begins to stop the sweeps, all queues, and the BullMQ workers, which take no more jobs. Never waits. */
  beginStop(): void {
    if (this.closed !== null) return;
    void this.sweeps.stop();
    for (const queue of this.queues) queue.beginStop();
    // While Redis is away a worker would wait for it, so it is closed by force. The lanes wait for their own rows in
    // work.
    const force = !this.connection.isConnected;
    const workers = this.takesJobs ? this.queues.map(({ worker }) => worker) : [];
    this.closed = Promise.allSettled(workers.map((worker) => worker.close(force)));
  }

  onModuleDestroy(): void {
    this.beginStop();
  }

  async onApplicationShutdown(): Promise<void> {
    this.wakes.stop();
    await within(CLOSED_WITHIN_MS, this.closed ?? Promise.resolve());
    await this.connection.close();
  }

  private get queues(): QueueProcessor<unknown>[] {
    return this.discovery
      .getProviders()
      .map((wrapper) => wrapper.instance as unknown)
      .filter((instance) => instance instanceof QueueProcessor);
  }

  /**
   * When the server is in trouble every worker reports errors several times a second; one log line per ten seconds is
   * enough.
   */
  private report(error: Error): void {
    if (this.connection.isLoss(error)) return;
    if (performance.now() - this.reportedAt < REPORT_EVERY_MS) return;
    this.reportedAt = performance.now();
    this.logger.warn(`the queue reports: ${error.message}`);
  }

  private async answers(): Promise<boolean> {
    if (!this.connection.isUsed) return !this.wakes.unavailable;
    // Only while connected, because the client of Redis queues commands while it is not.
    if (!this.connection.isConnected) return false;
    const ping = this.connection.ping().then(
      () => true,
      () => false,
    );
    return (await within(ANSWERS_WITHIN_MS, ping)) ?? false;
  }
}
