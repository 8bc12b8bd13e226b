import { BullModule } from '@nestjs/bullmq';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import {
  createPostgresBackend,
  createRedisBackend,
  Queue,
  setDefaultBackendFactory,
  type BackendFactory,
  type RedisQueueBackend,
} from 'bullmq';
import pg from 'pg';
import { Config } from '../config/config.js';
import { QueueConnection } from './queue-connection.js';
import { ClockSteps } from './clock-steps.js';
import { LaneRepository } from './lane.repository.js';
import { QueueParts } from './queue-processor.js';
import { QueueWorkers } from './queue-workers.js';
import { Restoration } from './restoration.js';
import { Retention } from './retention.js';
import { Sweeps } from './sweeps.js';

/**
 * From now on each new queue and worker works on the backend of its connection. One process may hold both kinds, as
 * tests do.
 */
export function chooseBackendByConnection(): void {
  // Queue and Worker keep to what both backends have; their types name the one of Redis.
  const postgres = createPostgresBackend as unknown as BackendFactory<RedisQueueBackend>;
  setDefaultBackendFactory<RedisQueueBackend>((name, options, context) => {
    const create = options.connection instanceof pg.Pool ? postgres : createRedisBackend;
    return create(name, options, context);
  });
}

chooseBackendByConnection();

/**
 * What every module needs that works later: BullMQ for its queue (features say `workQueue(name)` and nothing of
 * connections), lanes, sweeps, retention.
 *
 * Stands before all features in AppModule: modules are shut down in the opposite order, and the connection must
 * outlive queues and workers.
 */
@Global()
@Module({
  imports: [
    DiscoveryModule,
    BullModule.forRootAsync({
      inject: [QueueConnection],
      useFactory: (connection: QueueConnection) => connection.options,
      // Workers run only where `QueueWorkers.start` is called: in processes with the role worker.
      extraOptions: { manualRegistration: true },
    }),
  ],
  providers: [
    { provide: QueueConnection, inject: [Config], useFactory: (config: Config) => QueueConnection.open(config) },
    QueueWorkers,
    QueueParts,
    LaneRepository,
    Sweeps,
    Retention,
    Restoration,
    ClockSteps,
  ],
  exports: [QueueConnection, QueueWorkers, QueueParts, LaneRepository, Sweeps, Retention, Restoration],
})
export class QueueModule {}

/**
 * A queue whose errors have a listener from its first moment: without one BullMQ writes them to the console. The code
 * that starts the workers listens too, and reports.
 */
class ListenedQueue extends Queue {
  constructor(...args: ConstructorParameters<typeof Queue>) {
    super(...args);
    this.on('error', () => undefined);
  }
}

/** A queue, for the `imports` of its module; its connection is the one of the process. */
export function workQueue(name: string): DynamicModule {
  BullModule.queueClass = ListenedQueue;
  return BullModule.registerQueue({ name });
}
