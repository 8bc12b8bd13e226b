import { BullModule } from '@nestjs/bullmq';
import type { DynamicModule } from '@nestjs/common';
import { Queue } from 'bullmq';

/**
 * A queue whose errors have a listener from its first moment: without one BullMQ writes them to the console. Whoever
 * starts the workers listens too, and reports.
 */
class ListenedQueue extends Queue {
  constructor(...args: ConstructorParameters<typeof Queue>) {
    super(...args);
    this.on('error', () => undefined);
  }
}

/** The queue of a queue, for the `imports` of its module; its connection is the one of the process. */
export function workQueue(name: string): DynamicModule {
  BullModule.queueClass = ListenedQueue;
  return BullModule.registerQueue({ name });
}
