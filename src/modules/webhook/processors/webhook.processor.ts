import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import type { DrainJob } from '../../../platform/lanes/lane-waker.js';
import { LANE_WORKER_OPTIONS } from '../../../platform/lanes/lane-worker-options.js';
import { WEBHOOK_QUEUE, WebhookLane } from './webhook-lane.js';

/**
 * What happens to one event:
 *
 * 1. It is a row, `pending`, written by the statement of the change that it tells of, where the workspace has an
 *    endpoint that chose its kind. The endpoint's lane was woken: one `drain` job, however many events there are.
 * 2. A worker takes the job and holds the lane (table `lane`), so that one process delivers to an endpoint.
 * 3. A claim gives the event an attempt and a lease of 20 s, and brings the address and the secrets of this moment. How
 *    many events go at once depends on how the endpoint has answered so far: ten at the most, one where it hangs.
 * 4. The delivery is signed and made, ten seconds at the most.
 * 5. The outcome is recorded, many in one statement: delivered; or due again by the schedule; or exhausted after the
 *    tenth attempt. An endpoint that answers 410, or never succeeds in five days, is disabled.
 * 6. While an endpoint is paused or disabled nothing is claimed; its events wait, three days at the most.
 *
 * If the process dies in 3 to 5, the lease runs out and the event is due again, under the same id: receivers may see it
 * twice, never not at all. If the queue loses the job, the sweep finds the due event.
 */
@Processor(WEBHOOK_QUEUE, LANE_WORKER_OPTIONS)
export class WebhookProcessor extends WorkerHost {
  constructor(private readonly lane: WebhookLane) {
    super();
  }

  async process(job: Job<DrainJob>): Promise<void> {
    await this.lane.drain(job.data.laneKey);
  }
}
