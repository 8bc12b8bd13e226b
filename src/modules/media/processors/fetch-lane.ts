import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Slots } from '../../../common/slots.js';
import { Config } from '../../../platform/config/config.js';
import { Database } from '../../../platform/database/database.js';
import { DueSweep } from '../../../platform/lanes/due-sweep.js';
import { LaneRepository } from '../../../platform/lanes/lane.repository.js';
import { LaneRunner, type DrainResult } from '../../../platform/lanes/lane-runner.js';
import { LANE_OWNER } from '../../../platform/lanes/lane-tokens.js';
import { LaneWaker, type DrainJob } from '../../../platform/lanes/lane-waker.js';
import { Sweeps } from '../../../platform/lanes/sweeps.js';
import { Counters } from '../../../platform/operations/counters.js';
import { FetchRepository, fetchLaneOf, type ClaimedFile } from '../transfer/fetch.repository.js';
import { FETCH_QUEUE, MediaFetcher } from '../transfer/media-fetcher.js';

/** Files on their way into this process at once. They have places of their own: no file keeps a message waiting. */
const MAX_IN_FLIGHT = 64;
const SWEEP_BATCH = 1_000;

/** The lanes of customers' files, one a connection: waking, draining, sweeping. */
@Injectable()
export class FetchLane implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(FetchLane.name);
  private readonly runner: LaneRunner<ClaimedFile>;
  private readonly waker: LaneWaker;

  constructor(
    private readonly fetches: FetchRepository,
    lanes: LaneRepository,
    private readonly fetcher: MediaFetcher,
    private readonly database: Database,
    private readonly sweeps: Sweeps,
    @InjectQueue(FETCH_QUEUE) queue: Queue<DrainJob>,
    @Inject(LANE_OWNER) owner: string,
    counters: Counters,
    private readonly config: Config,
  ) {
    this.runner = new LaneRunner({
      handler: fetcher,
      lanes,
      slots: new Slots(MAX_IN_FLIGHT),
      owner,
      onError: (message, error) => {
        counters.increment('lane_drain_failed');
        this.logger.error(message, error instanceof Error ? error.stack : undefined);
      },
    });
    this.waker = new LaneWaker(queue, counters, (laneKey) => this.runner.touch(laneKey));
  }

  onModuleInit(): void {
    // Lost leases are due files too: see FetchRepository.
    const due = (limit: number) => this.fetches.dueLanes(limit);
    this.sweeps.add(new DueSweep('media_due', this.database, this.waker, due));
    this.sweeps.add({ name: 'media_expiry', everyMs: 60_000, run: () => this.fetches.expire(SWEEP_BATCH) });
  }

  /** Tells the workers that a connection has files to fetch. */
  wake(connectionId: string): void {
    this.waker.wake(fetchLaneOf(connectionId));
  }

  /** Drains one lane for its quantum; files that are left wait behind everybody else's. */
  async drain(laneKey: string): Promise<DrainResult> {
    const result = await this.runner.drain(laneKey);
    if (result === 'more' && !this.runner.isStopping) this.waker.enqueue(laneKey);
    return result;
  }

  /** Breaks off the files on their way and puts them back, before the connections for that are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.fetcher.stop();
    const left = await this.runner.stop(this.config.process.shutdownTimeoutMs);
    if (left > 0) this.logger.warn(`${left} files were on their way when Herald stopped; they are fetched again`);
  }
}
