import { BullModule } from '@nestjs/bullmq';
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { QueueOptions } from 'bullmq';
import { Config } from '../config/config.js';
import { ClockSteps } from './clock-steps.js';
import { Failover } from './failover.js';
import { LaneOwner } from './lane-owner.js';
import { LaneWakes } from './lane-wakes.js';
import { LaneRepository } from './lane.repository.js';
import { QueueConnection } from './queue-connection.js';
import { QueueParts } from './queue-processor.js';
import { QueueWorkers } from './queue-workers.js';
import { Restoration } from './restoration.js';
import { Retention } from './retention.js';
import { Sweeps } from './sweeps.js';

/**
 * Infrastructure for modules with background work: lanes, wakes, sweeps, retention, and BullMQ where Redis is used. A
 * feature extends `QueueProcessor`, and needs to know nothing about connections.
 */
@Global()
@Module({
  imports: [
    DiscoveryModule,
    BullModule.forRootAsync({
      inject: [QueueConnection],
      // Without Redis no worker is created from these options.
      useFactory: (connection: QueueConnection) => connection.options ?? ({} as QueueOptions),
      // Workers run only after `QueueWorkers.start`: in processes with the role worker.
      extraOptions: { manualRegistration: true },
    }),
    // Registers no queue; it provides the code that starts the processors' workers.
    BullModule.registerQueue(),
  ],
  providers: [
    { provide: QueueConnection, inject: [Config], useFactory: (config: Config) => new QueueConnection(config) },
    QueueWorkers,
    QueueParts,
    LaneOwner,
    LaneRepository,
    LaneWakes,
    Sweeps,
    Retention,
    Failover,
    Restoration,
    ClockSteps,
  ],
  exports: [QueueConnection, QueueWorkers, QueueParts, LaneRepository, Sweeps, Retention, Failover, Restoration],
})
export class QueueModule {}
