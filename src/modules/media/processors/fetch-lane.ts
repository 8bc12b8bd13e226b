import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Slots } from '../../../common/slots.js';
import { Config } from '../../../platform/config/config.js';
import { inBatches } from '../../../platform/lanes/in-batches.js';
import type { DrainResult } from '../../../platform/lanes/lane-runner.js';
import type { DrainJob } from '../../../platform/lanes/lane-waker.js';
import { LaneFactory, type QueuedLanes } from '../../../platform/lanes/queued-lanes.js';
import { Sweeps } from '../../../platform/lanes/sweeps.js';
import { FetchRepository, fetchLaneOf } from '../transfer/fetch.repository.js';
import { FETCH_QUEUE, MediaFetcher, type FetchTask } from '../transfer/media-fetcher.js';

/** Files on their way into this process at once. They have places of their own: no file keeps a message waiting. */
const MAX_IN_FLIGHT = 64;
const SWEEP_BATCH = 1_000;

/** The lanes of customers' files, one a connection: waking, draining, sweeping. */
@Injectable()
export class FetchLane implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(FetchLane.name);
  private readonly lanes: QueuedLanes<FetchTask>;

  constructor(
    private readonly fetches: FetchRepository,
    private readonly fetcher: MediaFetcher,
    private readonly sweeps: Sweeps,
    private readonly config: Config,
    @InjectQueue(FETCH_QUEUE) queue: Queue<DrainJob>,
    factory: LaneFactory,
  ) {
    this.lanes = factory.create({
      handler: fetcher,
      slots: new Slots(MAX_IN_FLIGHT),
      queue,
      // Lost leases are due files too: see FetchRepository.
      dueLanes: this.fetches.dueLanes,
      waitsFor: [{ table: 'media_object', column: 'next_attempt_at', where: `status = 'pending'` }],
    });
  }

  onModuleInit(): void {
    this.sweeps.add({
      name: 'media_expiry',
      everyMs: 60_000,
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => this.fetches.expire(limit)),
    });
  }

  /** Tells the workers that a connection has files to fetch. */
  wake(connectionId: string): void {
    this.lanes.wake(fetchLaneOf(connectionId));
  }

  /** Drains one lane for its quantum; files that are left wait behind everybody else's. */
  drain(laneKey: string): Promise<DrainResult> {
    return this.lanes.drain(laneKey);
  }

  /** Breaks off the files on their way and puts them back, before the connections for that are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.fetcher.stop();
    const left = await this.lanes.stop(this.config.process.shutdownTimeoutMs);
    if (left > 0) this.logger.warn(`${left} files were on their way when Herald stopped; they are fetched again`);
  }
}
