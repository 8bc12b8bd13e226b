import { Injectable } from '@nestjs/common';
import { QueueEstimates } from './estimate/queue-estimate.js';
import { SendProcessor } from './processors/send.processor.js';
import type { NewInQueue, QueueEstimate, Waiting } from './sending.types.js';

/** The queue of messages as other modules see it. */
@Injectable()
export class SendingService {
  constructor(
    private readonly processor: SendProcessor,
    private readonly estimates: QueueEstimates,
  ) {}

  /** The number may have a due message; call it after the commit. See `QueueProcessor.wake`. */
  wake(connectionId: string): void {
    this.processor.wake(connectionId);
  }

  /** Why a message waits; null where it is not queued, or no longer. */
  waiting(message: { id: string; organizationId: string }): Promise<Waiting | null> {
    return this.estimates.ofMessage(message);
  }

  /** The estimate for a message if it were queued now; null where the workspace has no such number. */
  estimate(message: NewInQueue): Promise<QueueEstimate | null> {
    return this.estimates.ofNew(message);
  }
}
