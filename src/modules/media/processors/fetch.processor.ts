import { InjectQueue, Processor } from '@nestjs/bullmq';
import type { Queue } from 'bullmq';
import { Slots } from '../../../common/slots.js';
import { inBatches } from '../../../infrastructure/lanes/in-batches.js';
import type { DrainJob } from '../../../infrastructure/lanes/lane-hints.js';
import { LANE_WORKER_OPTIONS, LaneParts, LaneProcessor } from '../../../infrastructure/lanes/lane-processor.js';
import { FetchRepository } from '../transfer/fetch.repository.js';
import { FETCH_QUEUE, MediaFetcher, type FetchTask } from '../transfer/media-fetcher.js';

/** Files on their way into this process at once. They have places of their own: no file keeps a message waiting. */
const MAX_IN_FLIGHT = 64;
const SWEEP_BATCH = 1_000;

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
 * A stop breaks off the files on their way and puts them back.
 */
@Processor(FETCH_QUEUE, LANE_WORKER_OPTIONS)
export class FetchProcessor extends LaneProcessor<FetchTask> {
  constructor(
    fetches: FetchRepository,
    fetcher: MediaFetcher,
    @InjectQueue(FETCH_QUEUE) queue: Queue<DrainJob>,
    parts: LaneParts,
  ) {
    super(
      {
        handler: fetcher,
        slots: new Slots(MAX_IN_FLIGHT),
        queue,
        // Lost leases are due files too: see FetchRepository.
        dueLanes: fetches.dueLanes,
        waitsFor: [{ table: 'media_object', column: 'next_attempt_at', where: `status = 'pending'` }],
        leftAtStop: (count) => `${count} files were on their way when Herald stopped; they are fetched again`,
      },
      parts,
    );
    parts.sweeps.add({
      name: 'media_expiry',
      everyMs: 60_000,
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => fetches.expire(limit)),
    });
  }
}
