import { Module } from '@nestjs/common';
import { workQueue } from '../../infrastructure/lanes/work-queue.js';
import { Config } from '../../infrastructure/config/config.js';
import { TargetChecker } from './address/target-checker.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveryClient } from './delivery-client.js';
import { DeliveryAttempts } from './dispatch/delivery-attempts.js';
import { DispatchRepository } from './dispatch/dispatch.repository.js';
import { OutcomesRepository } from './dispatch/outcomes.repository.js';
import { WebhookDispatcher } from './dispatch/webhook-dispatcher.js';
import { EndpointDirectory } from './endpoint-directory.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { EndpointsRepository } from './endpoints.repository.js';
import { WEBHOOK_QUEUE, WebhookHints } from './processors/webhook-hints.js';
import { WebhookProcessor } from './processors/webhook.processor.js';
import { EventErasure } from './event-erasure.js';
import { EventErasureRepository } from './event-erasure.repository.js';
import { WebhookRetention } from './webhook-retention.js';
import { WebhookBacklogRepository } from './webhook-backlog.repository.js';
import { WebhookController } from './webhook.controller.js';
import { WebhookService } from './webhook.service.js';

const targetOptions = (config: Config) => ({ policy: { allowPrivate: config.webhook.allowPrivateTargets } });

@Module({
  imports: [workQueue(WEBHOOK_QUEUE)],
  controllers: [WebhookController],
  providers: [
    WebhookService,
    EndpointsRepository,
    EndpointDirectory,
    EndpointSecrets,
    DeliveriesRepository,
    DispatchRepository,
    OutcomesRepository,
    WebhookDispatcher,
    DeliveryAttempts,
    WebhookHints,
    WebhookBacklogRepository,
    WebhookProcessor,
    WebhookRetention,
    EventErasure,
    EventErasureRepository,
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
