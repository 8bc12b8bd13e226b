import { BullRegistrar, WorkerHost } from '@nestjs/bullmq';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService, ModuleRef } from '@nestjs/core';
import { within } from '../../common/within.js';
import { Metrics } from '../operations/metrics/metrics.js';
import { Readiness } from '../operations/readiness.js';
import { LaneOwner } from './lane-owner.js';
import { LaneWakes } from './lane-wakes.js';
import { QueueConnection } from './queue-connection.js';

const REPORT_EVERY_MS = 10_000;
const READY_WITHIN_MS = 3_000;
const ANSWERS_WITHIN_MS = 500;

/** Starts the worker's part of this process: it owns lanes from then on, and takes jobs where there is a Redis. */
@Injectable()
export class QueueWorkers implements BeforeApplicationShutdown, OnApplicationShutdown, OnModuleInit {
  private readonly logger = new Logger('Queue');
  private reportedAt = -REPORT_EVERY_MS;
  private hosts: WorkerHost[] = [];

  constructor(
    private readonly connection: QueueConnection,
    private readonly owner: LaneOwner,
    private readonly wakes: LaneWakes,
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    // Without wakes workers find due rows by themselves: that makes no process unready.
    this.readiness.register('queue', async () =>
      (await this.answers()) ? { ok: true } : { ok: true, detail: 'away: workers look for due rows once a second' },
    );
    this.metrics.add({
      name: 'queue_reachable',
      help: 'Whether this process can wake others, by Redis or by NOTIFY of PostgreSQL: 1 or 0.',
      collect: async () => [{ value: (await this.answers()) ? 1 : 0 }],
    });
  }

  /** Starts one BullMQ worker for each processor where there is a Redis. One that is away does not stop the start. */
  async start(): Promise<void> {
    await this.owner.start();
    if (!this.connection.isUsed) return;
    this.moduleRef.get(BullRegistrar, { strict: false }).register();
    this.hosts = this.discovery
      .getProviders()
      .map((wrapper) => wrapper.instance as unknown)
      .filter((instance) => instance instanceof WorkerHost);
    for (const { worker } of this.hosts) worker.on('error', (error: Error) => this.report(error));
    await within(READY_WITHIN_MS, Promise.all(this.hosts.map((host) => host.worker.waitUntilReady())));
  }

  /**
   * Where Redis is away a worker would wait for it to say goodbye, as long as the stop may take. What its drains have in
   * flight is waited for by their lanes.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.wakes.stop();
    if (!this.connection.isConnected) await this.closeWorkers(true);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.closeWorkers(false);
    await this.connection.close();
  }

  private async closeWorkers(force: boolean): Promise<void> {
    await Promise.allSettled(this.hosts.map((host) => host.worker.close(force)));
  }

  /** A server in trouble makes every worker complain several times a second; one line in ten seconds says it. */
  private report(error: Error): void {
    if (this.connection.isLoss(error)) return;
    if (performance.now() - this.reportedAt < REPORT_EVERY_MS) return;
    this.reportedAt = performance.now();
    this.logger.warn(`the queue reports: ${error.message}`);
  }

  private async answers(): Promise<boolean> {
    if (!this.connection.isUsed) return !this.wakes.unavailable;
    // A client of Redis keeps what it is asked while it is away.
    if (!this.connection.isConnected) return false;
    const ping = this.connection.ping().then(
      () => true,
      () => false,
    );
    return (await within(ANSWERS_WITHIN_MS, ping)) ?? false;
  }
}
