import { InjectQueue, Processor } from '@nestjs/bullmq';
import type { Queue } from 'bullmq';
import type { DrainJob } from '../../../infrastructure/queue/drain-jobs.js';
import { QUEUE_WORKER_OPTIONS, QueueParts, QueueProcessor } from '../../../infrastructure/queue/queue-processor.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { DispatchRepository, type ClaimedEvent } from './dispatch.repository.js';

export const WEBHOOK_QUEUE = 'webhook';
/** Answers that come together are followed by one claim. */
const LOOK_EVERY_MS = 8;

/**
 * The queue of webhook events; the work on one is in DeliveryAttempts. What happens to it:
 *
 * 1. It is a row of the log, `webhook_event`, written by the statement of the change that it reports, and a row of
 *    `webhook_queue` where the workspace has an endpoint that chose its kind. After the commit the endpoint's lane is woken.
 * 2. A worker holds the lane. A claim, one statement for all warm lanes, gives due events an attempt and a lease of 20 s;
 *    it brings the address and the secrets of this moment. How many events of an endpoint go at once depends on how it
 *    has answered so far: 64 at the most, one where it hangs.
 * 3. The delivery is signed and made, ten seconds at the most.
 * 4. The outcome is recorded, many in one statement: the row is deleted after a success or the tenth attempt, else due
 *    again by the schedule. An endpoint that answers 410, or never succeeds in five days, is disabled; the lane of one
 *    that hangs, or asks for it, is paused.
 * 5. While an endpoint is paused or disabled, or its lane is paused, nothing of it is claimed; events wait for a paused or
 *    disabled endpoint three days at the most.
 *
 * If the process dies in 2 to 4, the lease runs out and the event is due again, under the same id: receivers may see it
 * twice, never not at all.
 */
@Processor(WEBHOOK_QUEUE, QUEUE_WORKER_OPTIONS)
export class WebhookProcessor extends QueueProcessor<ClaimedEvent> {
  constructor(
    dispatches: DispatchRepository,
    attempts: DeliveryAttempts,
    @InjectQueue(WEBHOOK_QUEUE) queue: Queue<DrainJob>,
    parts: QueueParts,
  ) {
    super(
      {
        kind: attempts,
        maxInFlight: parts.config.webhook.maxInFlight,
        lookEveryMs: LOOK_EVERY_MS,
        queue,
        dueLanes: dispatches.dueEndpoints,
        // Of leases and retries alike: what is made again was not recorded, as after any lost lease.
        waitsFor: [{ table: 'webhook_queue', column: 'due_at' }],
        leftAtStop: (count) => `${count} deliveries had no answer when Herald stopped; they will be repeated`,
      },
      parts,
    );
  }
}
