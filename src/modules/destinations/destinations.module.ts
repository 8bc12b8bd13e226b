import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WebhookModule } from '../webhook/webhook.module.js';
import { DestinationBox } from './destination-secrets.js';
import { DestinationsController } from './destinations.controller.js';
import { DestinationsMaintenance } from './destinations.maintenance.js';
import { DestinationsMaintenanceRepository } from './destinations-maintenance.repository.js';
import { DestinationsRepository } from './destinations.repository.js';
import { DestinationsService } from './destinations.service.js';
import { EventDestinationEntity } from './entities/event-destination.entity.js';
import { DestinationsProcessor, DestinationTurns } from './runner/destinations.processor.js';
import { OpenSinks } from './runner/open-sinks.js';
import { TurnsRepository } from './runner/turns.repository.js';
import { DestinationAddresses } from './sinks/destination-addresses.service.js';
import { Sinks } from './sinks/sinks.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([EventDestinationEntity]), WebhookModule],
  controllers: [DestinationsController],
  providers: [
    DestinationsService,
    DestinationsRepository,
    DestinationBox,
    DestinationAddresses,
    Sinks,
    OpenSinks,
    TurnsRepository,
    DestinationTurns,
    DestinationsProcessor,
    DestinationsMaintenance,
    DestinationsMaintenanceRepository,
  ],
})
export class DestinationsModule {}
