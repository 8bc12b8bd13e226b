import { Global, Module } from '@nestjs/common';
import { Slots } from '../../common/slots.js';
import { Config } from '../config/config.js';
import { ClockSteps } from './clock-steps.js';
import { LaneRepository } from './lane.repository.js';
import { LaneParts, PLATFORM_SLOTS } from './lane-processor.js';
import { Restoration } from './restoration.js';
import { Retention } from './retention.js';
import { Sweeps } from './sweeps.js';
import { VacuumWatch } from './vacuum-watch.js';

/** Lanes for every module that works later: holds, pauses, sweeps, and the bound on requests in flight. */
@Global()
@Module({
  providers: [
    LaneRepository,
    Sweeps,
    Restoration,
    Retention,
    ClockSteps,
    VacuumWatch,
    LaneParts,
    {
      provide: PLATFORM_SLOTS,
      inject: [Config],
      useFactory: (config: Config) => new Slots(config.queue.maxInFlight, { batch: 32, patienceMs: 4 }),
    },
  ],
  exports: [LaneRepository, LaneParts, Sweeps, Restoration, Retention, PLATFORM_SLOTS],
})
export class LanesModule {}
