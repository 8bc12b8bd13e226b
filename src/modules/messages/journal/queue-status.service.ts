import { Injectable } from '@nestjs/common';
import type { LaneStatus } from '../messages.types.js';
import { QueueStatusRepository } from './queue-status.repository.js';

/** Tells what waits to be sent. */
@Injectable()
export class QueueStatusService {
  constructor(private readonly status: QueueStatusRepository) {}

  /** Every lane with queued messages or requests in flight, the busiest first. */
  lanes(): Promise<LaneStatus[]> {
    return this.status.lanes();
  }

  /** Messages in `outcome_unknown`, of all numbers together; of each number up to 1,000. */
  unknown(): Promise<number> {
    return this.status.unknown();
  }
}
