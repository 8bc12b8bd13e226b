import { BullRegistrar, WorkerHost } from '@nestjs/bullmq';
import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, ModuleRef } from '@nestjs/core';
import { Queue } from 'bullmq';
import { within } from '../../common/within.js';
import { Config } from '../config/config.js';
import { Metrics } from '../operations/metrics/metrics.js';
import { Readiness, type ReadinessPart } from '../operations/readiness.js';
import { QueueConnection } from './queue-connection.js';

// Fewer would let one slow statement hold up all wakes of the process.
const MIN_STATEMENT_CONNECTIONS = 2;

const REPORT_EVERY_MS = 10_000;
const READY_WITHIN_MS = 3_000;
const ANSWERS_WITHIN_MS = 500;

/** Starts the workers of this process, and says when queues or workers are in trouble. */
@Injectable()
export class QueueWorkers implements BeforeApplicationShutdown, OnModuleInit {
  private readonly logger = new Logger('Queue');
  private reportedAt = -REPORT_EVERY_MS;
  private hosts: WorkerHost[] = [];

  constructor(
    private readonly connection: QueueConnection,
    private readonly config: Config,
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.readiness.register('queue', () => this.check());
    this.metrics.add({
      name: 'queue_reachable',
      help: 'Whether the queue answers this process, Redis or PostgreSQL: 1 or 0.',
      collect: async () => [{ value: (await this.answers()) ? 1 : 0 }],
    });
    for (const queue of this.queues()) queue.on('error', (error) => this.report(error));
  }

  /**
   * Starts one worker for each processor.
   *
   * @throws Error when a queue has no processor or two, or the pool is too small for the workers.
   */
  async start(): Promise<void> {
    const hosts = (this.hosts = this.instances().filter((instance) => instance instanceof WorkerHost));
    const free = this.connection.statementConnections(hosts.length);
    if (free < MIN_STATEMENT_CONNECTIONS) {
      const needed = hosts.length + MIN_STATEMENT_CONNECTIONS;
      throw new Error(`QUEUE_POOL_SIZE must be at least ${needed}: each of ${hosts.length} workers listens on one`);
    }
    this.moduleRef.get(BullRegistrar, { strict: false }).register();
    for (const { worker } of hosts) {
      worker.on('error', (error: Error) => this.report(error));
      worker.concurrency = this.config.queue.concurrency;
      worker.opts.drainDelay = this.connection.waitSeconds ?? worker.opts.drainDelay;
    }
    for (const { name } of this.queues()) {
      const workers = hosts.filter((host) => host.worker.name === name).length;
      if (workers !== 1) throw new Error(`the queue "${name}" is served by ${workers} processors instead of one`);
    }
    // An invalid schema stops the start. A server that is away does not: due rows are found in PostgreSQL.
    await within(READY_WITHIN_MS, Promise.all(hosts.map((host) => host.worker.waitUntilReady())));
  }

  /**
   * Where Redis is away a worker would wait for it to say goodbye, as long as the stop may take. What its drains have in
   * flight is waited for by their lanes.
   */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.connection.isAway) await Promise.allSettled(this.hosts.map((host) => host.worker.close(true)));
  }

  /** A server in trouble makes every worker complain several times a second; one line in ten seconds says it. */
  private report(error: Error): void {
    if (this.connection.isLoss(error)) return;
    if (performance.now() - this.reportedAt < REPORT_EVERY_MS) return;
    this.reportedAt = performance.now();
    this.logger.warn(`the queue reports: ${error.message}`);
  }

  private queues(): Queue[] {
    return this.instances().filter((instance) => instance instanceof Queue);
  }

  private instances(): unknown[] {
    return this.discovery.getProviders().map((wrapper) => wrapper.instance as unknown);
  }

  /** Where the queue does not answer, workers find due rows by themselves: that makes no process unready. */
  private async check(): Promise<ReadinessPart> {
    if (await this.answers()) return { ok: true };
    return { ok: true, detail: 'away: workers look for due rows once a second' };
  }

  private async answers(): Promise<boolean> {
    // A client of Redis keeps what it is asked meanwhile.
    if (this.connection.isAway) return false;
    const ping = this.connection.ping().then(
      () => true,
      () => false,
    );
    return (await within(ANSWERS_WITHIN_MS, ping)) ?? false;
  }
}
