import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import type { DrainJob } from '../../../platform/lanes/lane-waker.js';
import { LANE_WORKER_OPTIONS } from '../../../platform/lanes/lane-worker-options.js';
import { FETCH_QUEUE } from '../transfer/media-fetcher.js';
import { FetchLane } from './fetch-lane.js';

/**
 * What happens to a file that a customer sent:
 *
 * 1. Its row is made, `pending`, in the transaction that stores its message; its connection's fetch lane is woken.
 * 2. A worker holds the lane and claims due files, a few at once, each for a minute that it renews.
 * 3. The platform is asked where the file lies, and its bytes are streamed into a temporary file of the storage.
 * 4. Size and SHA-256 are those that the platform said: the file gets its key, and the row says `stored`.
 * 5. Else it is tried again, at longer and longer intervals, until the platform forgets the file after seven days.
 *
 * If the process dies, the claim runs out, the file is due again, and the storage removes what was left half-written.
 */
@Processor(FETCH_QUEUE, LANE_WORKER_OPTIONS)
export class FetchProcessor extends WorkerHost {
  constructor(private readonly lane: FetchLane) {
    super();
  }

  async process(job: Job<DrainJob>): Promise<void> {
    await this.lane.drain(job.data.laneKey);
  }
}
