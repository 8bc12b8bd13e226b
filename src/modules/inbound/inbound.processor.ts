import { Processor } from '@nestjs/bullmq';
import { Injectable, Logger } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import type { ClaimRequest, LanePace, Claim } from '../../infrastructure/queue/lane-grant.js';
import { QUEUE_WORKER_OPTIONS, QueueParts, QueueProcessor } from '../../infrastructure/queue/queue-processor.js';
import { claimEach, type QueueKind } from '../../infrastructure/queue/queue-kind.js';
import { GAP, InboundRepository, type DueNotification } from './inbound.repository.js';
import { InboundService } from './inbound.service.js';

export const INBOUND_QUEUE = 'inbound';

/** Notifications applied at the same time: enough for large batches, like those that arrive. */
const MAX_IN_FLIGHT = 500;
/** Their bodies together. */
const MAX_BYTES = 8 * 1_024 * 1_024;
/** Only the database limits the pace. */
const PACE: LanePace = { ratePerSecond: 10_000, burstSeconds: 1 };

/** Applies stored notifications, each separately: one that hangs delays no other. */
@Injectable()
export class StoredNotifications implements QueueKind<DueNotification> {
  readonly name = INBOUND_QUEUE;
  readonly maxPerLane = MAX_IN_FLIGHT;
  private readonly logger = new Logger(StoredNotifications.name);
  private bytesInFlight = 0;

  constructor(
    private readonly notifications: InboundRepository,
    private readonly service: InboundService,
  ) {}

  stop(): void {
    // Claimed notifications are already being applied; those not applied in time are due again.
  }

  pace(): Promise<LanePace> {
    return Promise.resolve(PACE);
  }

  claim(requests: readonly ClaimRequest[]): Promise<(Claim<DueNotification> | Error)[]> {
    return claimEach(requests, (request) => this.notifications.claim(request, MAX_BYTES - this.bytesInFlight));
  }

  async work(notification: DueNotification): Promise<number | null> {
    const { id, body, againMs } = notification;
    this.bytesInFlight += body.length;
    try {
      return (await this.service.takeAgain(notification)) ? null : againMs;
    } catch (error) {
      this.logger.warn(`notification ${id}: the outcome of a try could not be stored: ${describeError(error)}`);
      return againMs;
    } finally {
      this.bytesInFlight -= body.length;
    }
  }
}

/**
 * The steps of a notification that could not be applied at once, because the database was slow, a process died, or its
 * message or number is not known yet:
 *
 * 1. It is stored with the state `stored`, and acknowledged; a trigger inserts it into `notification_queue`, due in
 *    five seconds.
 * 2. A worker claims it, which schedules the next try, and applies it as if it had just arrived.
 * 3. Once it is applied or given up, its state changes, which removes it from the queue.
 */
@Processor(INBOUND_QUEUE, QUEUE_WORKER_OPTIONS)
export class InboundProcessor extends QueueProcessor<DueNotification> {
  constructor(notifications: InboundRepository, kind: StoredNotifications, parts: QueueParts) {
    super(
      {
        kind,
        maxInFlight: MAX_IN_FLIGHT,
        dueLanes: notifications.dueLanes,
        waitsFor: [{ table: 'notification_queue', column: 'due_at', mostAhead: GAP }],
        leftAtStop: (count) => `${count} notifications were being applied when Herald stopped; they are tried again`,
      },
      parts,
    );
  }
}
