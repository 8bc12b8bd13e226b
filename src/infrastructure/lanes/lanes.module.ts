import { Global, Module } from '@nestjs/common';
import { ClockSteps } from './clock-steps.js';
import { LaneRepository } from './lane.repository.js';
import { QueueParts } from '../queue/queue-processor.js';
import { Restoration } from './restoration.js';
import { Retention } from './retention.js';
import { Sweeps } from './sweeps.js';
import { VacuumWatch } from './vacuum-watch.js';

/** Lanes for every module that works later: holds, pauses, sweeps. */
@Global()
@Module({
  providers: [LaneRepository, Sweeps, Restoration, Retention, ClockSteps, VacuumWatch, QueueParts],
  exports: [LaneRepository, QueueParts, Sweeps, Restoration, Retention],
})
export class LanesModule {}
