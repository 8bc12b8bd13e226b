import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import type { DrainJob } from '../../../platform/lanes/lane-waker.js';
import { LANE_WORKER_OPTIONS } from '../../../platform/lanes/lane-worker-options.js';
import { SEND_QUEUE, SendLane } from './send-lane.js';

/**
 * What happens to one message after POST /messages has answered 202:
 *
 * 1. It is a row, `queued`. Its connection's lane was woken: one `drain` job in the queue, however many rows there are.
 * 2. A worker takes the job and holds the lane (table `lane`), so that one process drains it, at its pace.
 * 3. A claim gives the message an attempt, `processing` and a lease of 20 s, and its request goes out at once. The
 *    attempt's id travels along, so that a notification finds it even if we never see the answer. Our files' ids are
 *    exchanged for the platform's first; an upload that takes its time puts the message back to the queue meanwhile.
 * 4. The answer is recorded, many in one statement: accepted, failed, queued again with a later turn, or
 *    outcome_unknown where the request was written and no clear answer came. The event that tells the workspace's
 *    webhook of it is part of that statement, as it is wherever a message comes to another state.
 * 5. After its quantum the drain ends and wakes itself if rows are left, behind everybody else.
 *
 * If the process dies in 3, the lease runs out and the sweep says `outcome_unknown`: what may have been sent is never
 * sent again by itself. If the queue loses the job, the sweep finds the due row. If the answer is lost, the platform's
 * notification settles it.
 */
@Processor(SEND_QUEUE, LANE_WORKER_OPTIONS)
export class SendProcessor extends WorkerHost {
  constructor(private readonly lane: SendLane) {
    super();
  }

  async process(job: Job<DrainJob>): Promise<void> {
    await this.lane.drain(job.data.laneKey);
  }
}
