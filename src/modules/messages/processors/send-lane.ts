import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { Slots } from '../../../common/slots.js';
import { Config } from '../../../platform/config/config.js';
import { Database } from '../../../platform/database/database.js';
import { DueSweep } from '../../../platform/lanes/due-sweep.js';
import { LaneRepository } from '../../../platform/lanes/lane.repository.js';
import { LaneRunner, type DrainResult } from '../../../platform/lanes/lane-runner.js';
import { LANE_OWNER, PLATFORM_SLOTS } from '../../../platform/lanes/lane-tokens.js';
import { LaneWaker, type DrainJob } from '../../../platform/lanes/lane-waker.js';
import { Sweeps } from '../../../platform/lanes/sweeps.js';
import { Counters } from '../../../platform/operations/counters.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { MessageSender, type SendTask } from '../message-sender.js';
import { SendRepository, type MovedMessage } from '../send.repository.js';

export const SEND_QUEUE = 'send';
const SWEEP_BATCH = 1_000;

/** The lanes of outgoing messages, one a connection: waking, draining, sweeping. */
@Injectable()
export class SendLane implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(SendLane.name);
  private readonly runner: LaneRunner<SendTask>;
  private readonly waker: LaneWaker;

  constructor(
    private readonly sends: SendRepository,
    lanes: LaneRepository,
    private readonly sender: MessageSender,
    private readonly webhook: WebhookService,
    private readonly database: Database,
    private readonly sweeps: Sweeps,
    @InjectQueue(SEND_QUEUE) queue: Queue<DrainJob>,
    @Inject(PLATFORM_SLOTS) slots: Slots,
    @Inject(LANE_OWNER) owner: string,
    counters: Counters,
    private readonly config: Config,
  ) {
    this.runner = new LaneRunner({
      handler: sender,
      lanes,
      slots,
      owner,
      onError: (message, error) => {
        counters.increment('lane_drain_failed');
        this.logger.error(message, error instanceof Error ? error.stack : undefined);
      },
    });
    this.waker = new LaneWaker(queue, counters, (laneKey) => this.runner.touch(laneKey));
  }

  onModuleInit(): void {
    const due = (limit: number) => this.sends.dueConnections(limit);
    this.sweeps.add(new DueSweep('send_due', this.database, this.waker, due));
    this.sweeps.add({ name: 'send_leases', everyMs: 1_000, run: () => this.sweepLeases() });
    this.sweeps.add({
      name: 'send_expiry',
      everyMs: 10_000,
      run: () => this.sweepExpired(),
    });
  }

  /** Tells the workers that a connection has messages to send. */
  wake(connectionId: string): void {
    this.waker.wake(connectionId);
  }

  /** Drains one lane for its quantum; rows that are left wait behind everybody else's. */
  async drain(connectionId: string): Promise<DrainResult> {
    const result = await this.runner.drain(connectionId);
    if (result === 'more' && !this.runner.isStopping) this.waker.enqueue(connectionId);
    return result;
  }

  /** Lets the requests in flight end before the connections that record their outcomes are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.sender.stop();
    const left = await this.runner.stop(this.config.process.shutdownTimeoutMs);
    if (left > 0) this.logger.warn(`${left} sends had no answer when Herald stopped; their outcome will be unknown`);
  }

  private async sweepLeases(): Promise<number> {
    const moved = await this.sends.expireLeases(SWEEP_BATCH);
    for (const connectionId of new Set(moved.map((message) => message.connectionId))) this.waker.wake(connectionId);
    return this.announce(moved);
  }

  private async sweepExpired(): Promise<number> {
    return this.announce(await this.sends.expireQueued(this.config.limits.messageTtlHours, SWEEP_BATCH));
  }

  private announce(moved: readonly MovedMessage[]): number {
    if (moved.length > 0) this.webhook.wake(new Set(moved.map((message) => message.organizationId)));
    return moved.length;
  }
}
