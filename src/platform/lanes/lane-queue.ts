import { BullModule } from '@nestjs/bullmq';
import type { DynamicModule } from '@nestjs/common';

/** The queue that wakes a room's lanes, for the `imports` of its module. */
export function laneQueue(name: string): DynamicModule {
  return BullModule.registerQueue({ name });
}
