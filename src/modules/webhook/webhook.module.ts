import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../../infrastructure/config/config.js';
import { DemoReceivers } from './address/demo-receivers.service.js';
import { TargetChecker } from './address/target-checker.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveryClient } from './delivery-client.js';
import { DeliveryAttempts, WebhookProcessor } from './dispatch/webhook.processor.js';
import { DispatchRepository } from './dispatch/dispatch.repository.js';
import { WebhookRepository } from './webhook.repository.js';
import { ConformanceService } from './conformance/conformance.service.js';
import { EventWaits } from './events/event-waits.service.js';
import { EventsController } from './events/events.controller.js';
import { EventsRepository } from './events/events.repository.js';
import { EventsService } from './events/events.service.js';
import { WebhookEndpointEntity, WebhookSecretEntity } from './entities/webhook-endpoint.entity.js';
import { WebhookMaintenanceRepository } from './webhook-maintenance.repository.js';
import { ReplaysController } from './replay/replays.controller.js';
import { ReplaysRepository } from './replay/replays.repository.js';
import { ReplaysService } from './replay/replays.service.js';
import { WebhookController } from './webhook.controller.js';
import { WebhookMaintenance } from './webhook.maintenance.js';
import { WebhookService } from './webhook.service.js';
import { EndpointSecrets } from './webhook-secrets.js';

const targetOptions = (config: Config) => ({ allowPrivate: config.webhook.allowPrivateTargets });

@Module({
  imports: [TypeOrmModule.forFeature([WebhookEndpointEntity, WebhookSecretEntity])],
  controllers: [WebhookController, ReplaysController, EventsController],
  providers: [
    WebhookService,
    WebhookRepository,
    EndpointSecrets,
    DemoReceivers,
    DeliveriesRepository,
    DispatchRepository,
    WebhookProcessor,
    DeliveryAttempts,
    WebhookMaintenance,
    WebhookMaintenanceRepository,
    ReplaysService,
    ReplaysRepository,
    ConformanceService,
    EventWaits,
    EventsService,
    EventsRepository,
    {
      provide: TargetChecker,
      inject: [Config],
      useFactory: (config: Config) => new TargetChecker(targetOptions(config)),
    },
    {
      provide: DeliveryClient,
      inject: [Config],
      useFactory: (config: Config) => new DeliveryClient(targetOptions(config)),
    },
  ],
  exports: [WebhookService],
})
export class WebhookModule {}
