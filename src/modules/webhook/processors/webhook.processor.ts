import { Processor, WorkerHost } from '@nestjs/bullmq';
import { setTimeout as pause } from 'node:timers/promises';
import { LANE_WORKER_OPTIONS } from '../../../infrastructure/lanes/lane-processor.js';
import { WebhookDispatcher } from '../dispatch/webhook-dispatcher.js';
import { WEBHOOK_QUEUE } from './webhook-hints.js';

/** Looks for due events follow each other in all processes no faster than this ... */
const LOOK_EVERY_MS = 20;
/** ... and take at most this part of the time, however many endpoints have events that wait. */
const LOOK_PART = 0.2;
const LONGEST_PAUSE_MS = 1_000;

/**
 * What happens to one event:
 *
 * 1. It is a row, `pending`, written by the statement of the change that it tells of, where the workspace has an
 *    endpoint that chose its kind. After the commit the dispatcher of the same process is told; a process that is no
 *    worker gives the others a hint, one job for however many events.
 * 2. A claim takes due events of many endpoints in one statement and gives each an attempt and a lease of 20 s; it
 *    brings the address and the secrets of this moment. How many events of an endpoint go at once depends on how it has
 *    answered so far: ten at the most, one where it hangs. Any number of workers claim side by side.
 * 3. The delivery is signed and made, ten seconds at the most.
 * 4. The outcome is recorded, many in one statement: delivered; or due again by the schedule; or exhausted after the
 *    tenth attempt. An endpoint that answers 410, or never succeeds in five days, is disabled; one that hangs, or asks
 *    for it, rests.
 * 5. While an endpoint is paused, disabled or rests nothing of it is claimed; events wait for a paused or disabled one
 *    three days at the most.
 *
 * If the process dies in 2 to 4, the lease runs out and the event is due again, under the same id: receivers may see it
 * twice, never not at all. A job only says that it is worth looking; without any the sweep finds what is due.
 */
@Processor(WEBHOOK_QUEUE, LANE_WORKER_OPTIONS)
export class WebhookProcessor extends WorkerHost {
  constructor(private readonly dispatcher: WebhookDispatcher) {
    super();
  }

  /** Hints that come while it pauses are one job after it. */
  async process(): Promise<void> {
    const from = performance.now();
    await this.dispatcher.look();
    const pauseMs = Math.max(LOOK_EVERY_MS, (performance.now() - from) * (1 / LOOK_PART - 1));
    if (!this.dispatcher.isStopping) await pause(Math.min(pauseMs, LONGEST_PAUSE_MS));
  }
}
