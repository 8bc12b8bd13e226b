import { InjectQueue, Processor } from '@nestjs/bullmq';
import type { Queue } from 'bullmq';
import { Slots } from '../../../common/slots.js';
import { Database } from '../../../infrastructure/database/database.js';
import type { DuePage } from '../../../infrastructure/lanes/due-lanes.js';
import { inBatches } from '../../../infrastructure/lanes/sweeps.js';
import type { DrainJob } from '../../../infrastructure/lanes/lane-hints.js';
import { LANE_WORKER_OPTIONS, LaneParts, LaneProcessor } from '../../../infrastructure/lanes/lane-processor.js';
import { OtpPackagesService } from '../../billing/otp-packages.service.js';
import { HAS_OVERDUE } from '../challenge-row.js';
import { OtpDispatcher, type CodeTask } from '../otp-dispatcher.js';
import { OTP_LANE } from '../otp-sender.service.js';
import { LEASE_MS, SendingRepository } from '../sending.repository.js';

export const OTP_QUEUE = 'otp';
const SWEEP_BATCH = 1_000;
/** Requests in flight. A bound of its own: messages that wait for the platform hold none of these places. */
const PLACES = 64;

/**
 * Sends codes, as the send processor does messages, but through a queue, a lane, places and sockets of their own: no
 * campaign delays a code. A code whose outcome is not known is never sent again.
 */
@Processor(OTP_QUEUE, LANE_WORKER_OPTIONS)
export class OtpProcessor extends LaneProcessor<CodeTask> {
  constructor(
    private readonly sending: SendingRepository,
    private readonly packages: OtpPackagesService,
    dispatcher: OtpDispatcher,
    private readonly database: Database,
    @InjectQueue(OTP_QUEUE) queue: Queue<DrainJob>,
    parts: LaneParts,
  ) {
    super(
      {
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
        leftAtStop: (count) => `${count} codes had no answer when Herald stopped; their outcome will be unknown`,
      },
      parts,
    );
    const leaveSeconds = LEASE_MS / 1_000;
    parts.sweeps.add({
      name: 'otp_leases',
      everyMs: 1_000,
      waitsFor: [{ table: 'otp_challenge', column: 'lease_until', where: `status = 'sending'`, leaveSeconds }],
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => this.sending.expireLeases(limit)),
    });
    parts.sweeps.add({
      name: 'otp_overdue',
      everyMs: 2_000,
      hasWork: HAS_OVERDUE,
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => this.endOverdue(limit)),
    });
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
