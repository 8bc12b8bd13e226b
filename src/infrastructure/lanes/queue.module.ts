import { BullModule } from '@nestjs/bullmq';
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Config } from '../config/config.js';
import { chooseBackendByConnection } from './queue-backend.js';
import { QueueConnection } from './queue-connection.js';
import { QueueWorkers } from './queue-workers.js';

chooseBackendByConnection();

/**
 * BullMQ for every queue: features say `workQueue(name)` and nothing of connections.
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
  ],
  exports: [QueueConnection, QueueWorkers],
})
export class QueueModule {}
