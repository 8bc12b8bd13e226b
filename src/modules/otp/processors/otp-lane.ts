import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Slots } from '../../../common/slots.js';
import { Config } from '../../../platform/config/config.js';
import { Database } from '../../../platform/database/database.js';
import type { DuePage } from '../../../platform/lanes/due-lanes.js';
import { inBatches } from '../../../platform/lanes/in-batches.js';
import type { DrainJob } from '../../../platform/lanes/lane-waker.js';
import { LaneFactory, type QueuedLanes } from '../../../platform/lanes/queued-lanes.js';
import { Sweeps } from '../../../platform/lanes/sweeps.js';
import { OtpPackagesService } from '../../billing/otp-packages.service.js';
import { OtpDispatcher, type CodeTask } from '../otp-dispatcher.js';
import { OTP_LANE } from '../otp-sender.service.js';
import { HAS_OVERDUE, LEASE_MS, SendingRepository } from '../sending.repository.js';

export const OTP_QUEUE = 'otp';
const SWEEP_BATCH = 1_000;
/** Requests in flight. A bound of its own: messages that wait for the platform hold none of these places. */
const PLACES = 64;

/** The lane of the codes: waking, draining, sweeping. */
@Injectable()
export class OtpLane implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(OtpLane.name);
  private readonly lanes: QueuedLanes<CodeTask>;

  constructor(
    private readonly sending: SendingRepository,
    private readonly packages: OtpPackagesService,
    private readonly dispatcher: OtpDispatcher,
    private readonly database: Database,
    private readonly sweeps: Sweeps,
    private readonly config: Config,
    @InjectQueue(OTP_QUEUE) queue: Queue<DrainJob>,
    factory: LaneFactory,
  ) {
    this.lanes = factory.create({
      handler: dispatcher,
      slots: new Slots(PLACES, { batch: 1, patienceMs: 0 }),
      queue,
      dueLanes: Object.assign(() => this.dueLanes(), {
        hasWork: `exists (select 1 from otp_challenge where status = 'queued')`,
      }),
      // A queued code is due at once; a number's next code is not, nor its next guesses.
      waitsFor: [
        { table: 'otp_recipient', column: 'last_sent_at' },
        { table: 'otp_recipient', column: 'refilled_at' },
        { table: 'otp_recipient', column: 'failures_since' },
      ],
    });
  }

  onModuleInit(): void {
    const leaveSeconds = LEASE_MS / 1_000;
    this.sweeps.add({
      name: 'otp_leases',
      everyMs: 1_000,
      waitsFor: [{ table: 'otp_challenge', column: 'lease_until', where: `status = 'sending'`, leaveSeconds }],
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => this.sending.expireLeases(limit)),
    });
    this.sweeps.add({
      name: 'otp_overdue',
      everyMs: 2_000,
      hasWork: HAS_OVERDUE,
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => this.endOverdue(limit)),
    });
  }

  /** Tells the workers that a code waits. */
  wake(): void {
    this.lanes.wake(OTP_LANE);
  }

  /** Drains the lane for its quantum. */
  async drain(): Promise<void> {
    await this.lanes.drain(OTP_LANE);
  }

  /** Lets the requests in flight end before the connections that record their outcomes are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.dispatcher.stop();
    const left = await this.lanes.stop(this.config.process.shutdownTimeoutMs);
    if (left > 0) this.logger.warn(`${left} codes had no answer when Herald stopped; their outcome will be unknown`);
  }

  private async dueLanes(): Promise<DuePage> {
    const dueForMs = await this.sending.dueForMs();
    return { lanes: dueForMs === null ? [] : [{ key: OTP_LANE, dueForMs }], next: null };
  }

  private endOverdue(limit: number): Promise<number> {
    return this.database.transaction(async () => {
      const { ended, moves } = await this.sending.endOverdue(limit);
      await this.packages.apply(moves);
      return ended;
    });
  }
}
