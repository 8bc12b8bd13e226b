import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { Slots } from '../../../common/slots.js';
import { Config } from '../../../platform/config/config.js';
import { inBatches } from '../../../platform/lanes/in-batches.js';
import type { DrainResult } from '../../../platform/lanes/lane-runner.js';
import { PLATFORM_SLOTS } from '../../../platform/lanes/lane-tokens.js';
import type { DrainJob } from '../../../platform/lanes/lane-waker.js';
import { LaneFactory, type QueuedLanes } from '../../../platform/lanes/queued-lanes.js';
import { Sweeps } from '../../../platform/lanes/sweeps.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { LowWaterMarks } from '../low-water-marks.repository.js';
import { MessageSender, type SendTask } from '../message-sender.js';
import { SendRepository, type MovedMessage } from '../send.repository.js';

export const SEND_QUEUE = 'send';
const SWEEP_BATCH = 1_000;

/** The lanes of outgoing messages, one a connection: waking, draining, sweeping. */
@Injectable()
export class SendLane implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(SendLane.name);
  private readonly lanes: QueuedLanes<SendTask>;

  constructor(
    private readonly sends: SendRepository,
    private readonly marks: LowWaterMarks,
    private readonly sender: MessageSender,
    private readonly webhook: WebhookService,
    private readonly sweeps: Sweeps,
    private readonly config: Config,
    @InjectQueue(SEND_QUEUE) queue: Queue<DrainJob>,
    @Inject(PLATFORM_SLOTS) slots: Slots,
    factory: LaneFactory,
  ) {
    this.lanes = factory.create({
      handler: sender,
      slots,
      queue,
      dueLanes: this.sends.dueConnections,
      waitsFor: [{ table: 'message_queue', column: 'next_attempt_at', where: 'next_attempt_at is not null' }],
    });
  }

  onModuleInit(): void {
    const leaveSeconds = this.config.limits.sendLeaseMs / 1_000;
    this.sweeps.add({
      name: 'send_leases',
      everyMs: 1_000,
      waitsFor: [{ table: 'message_queue', column: 'lease_until', where: 'lease_until is not null', leaveSeconds }],
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => this.sweepLeases(limit)),
    });
    this.sweeps.add({
      name: 'send_expiry',
      everyMs: 10_000,
      run: async (signal) => {
        const expired = await inBatches(signal, SWEEP_BATCH, (limit) => this.sweepExpired(limit));
        await this.marks.move();
        return expired;
      },
    });
  }

  /** Tells the workers that a connection has messages to send. */
  wake(connectionId: string): void {
    this.lanes.wake(connectionId);
  }

  /** Drains one lane for its quantum; rows that are left wait behind everybody else's. */
  drain(connectionId: string): Promise<DrainResult> {
    return this.lanes.drain(connectionId);
  }

  /** Lets the requests in flight end before the connections that record their outcomes are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.sender.stop();
    const left = await this.lanes.stop(this.config.process.shutdownTimeoutMs);
    if (left > 0) this.logger.warn(`${left} sends had no answer when Herald stopped; their outcome will be unknown`);
  }

  private async sweepLeases(limit: number): Promise<number> {
    const moved = await this.sends.expireLeases(limit);
    for (const connectionId of new Set(moved.map((message) => message.connectionId))) this.lanes.wake(connectionId);
    return this.announce(moved);
  }

  private async sweepExpired(limit: number): Promise<number> {
    return this.announce(await this.sends.expireQueued(this.config.limits.messageTtlHours, limit));
  }

  private announce(moved: readonly MovedMessage[]): number {
    if (moved.length > 0) this.webhook.wake(new Set(moved.map((message) => message.organizationId)));
    return moved.length;
  }
}
