import { BullRegistrar, WorkerHost } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { DiscoveryService, ModuleRef } from '@nestjs/core';
import { Queue } from 'bullmq';
import { Config } from '../config/config.js';
import { QueueConnection } from './queue-connection.js';

// Fewer would let one slow statement hold up all wakes of the process.
const LEAST_STATEMENT_CONNECTIONS = 2;

/** Starts the workers of this process. */
@Injectable()
export class QueueWorkers {
  constructor(
    private readonly connection: QueueConnection,
    private readonly config: Config,
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
  ) {}

  /**
   * Starts one worker for each processor.
   *
   * @throws Error when a queue has no processor or two, or the pool is too small for the workers.
   */
  async start(): Promise<void> {
    const hosts = this.instances().filter((instance) => instance instanceof WorkerHost);
    const free = this.connection.statementConnections(hosts.length);
    if (free < LEAST_STATEMENT_CONNECTIONS) {
      const needed = hosts.length + LEAST_STATEMENT_CONNECTIONS;
      throw new Error(`QUEUE_POOL_SIZE must be at least ${needed}: each of ${hosts.length} workers listens on one`);
    }
    this.moduleRef.get(BullRegistrar, { strict: false }).register();
    for (const host of hosts) host.worker.concurrency = this.config.queue.concurrency;
    this.requireOneWorkerEach(hosts);
    await Promise.all(hosts.map((host) => host.worker.waitUntilReady()));
  }

  private requireOneWorkerEach(hosts: WorkerHost[]): void {
    const served = hosts.map((host) => host.worker.name);
    for (const queue of this.instances().filter((instance) => instance instanceof Queue)) {
      const workers = served.filter((name) => name === queue.name).length;
      if (workers !== 1) throw new Error(`the queue "${queue.name}" is served by ${workers} processors instead of one`);
    }
  }

  private instances(): unknown[] {
    return this.discovery.getProviders().map((wrapper) => wrapper.instance as unknown);
  }
}
