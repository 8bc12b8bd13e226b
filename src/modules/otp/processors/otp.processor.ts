import { Processor, WorkerHost } from '@nestjs/bullmq';
import { LANE_WORKER_OPTIONS } from '../../../platform/lanes/lane-worker-options.js';
import { OTP_QUEUE, OtpLane } from './otp-lane.js';

/**
 * Sends codes, as the send processor does messages, but through a queue, a lane, places and sockets of their own: no
 * campaign delays a code. A code whose outcome is not known is never sent again.
 */
@Processor(OTP_QUEUE, LANE_WORKER_OPTIONS)
export class OtpProcessor extends WorkerHost {
  constructor(private readonly lane: OtpLane) {
    super();
  }

  async process(): Promise<void> {
    await this.lane.drain();
  }
}
