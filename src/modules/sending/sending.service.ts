import { Injectable } from '@nestjs/common';
import { QueueEstimates } from './estimate/queue-estimate.js';
import { SendProcessor } from './processors/send.processor.js';
import type { NewInQueue, QueueEstimate, Waiting } from './sending.types.js';

/** What other modules ask of the queue of messages. */
@Injectable()
export class SendingService {
  constructor(
    private readonly processor: SendProcessor,
    private readonly estimates: QueueEstimates,
  ) {}

  /** The number has a message that may be due; to be called after its commit. See `QueueProcessor.wake`. */
  wake(connectionId: string): void {
    this.processor.wake(connectionId);
  }

  /** Why a message waits; null where it is not queued (any more). */
  waiting(message: { id: string; organizationId: string }): Promise<Waiting | null> {
    return this.estimates.ofMessage(message);
  }

  /** Of a message that would be queued at this moment; null where the workspace has no such number. */
  estimate(message: NewInQueue): Promise<QueueEstimate | null> {
    return this.estimates.ofNew(message);
  }
}
