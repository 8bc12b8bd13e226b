import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BillingModule } from '../billing/billing.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { ConversationsModule } from '../conversations/conversations.module.js';
import { MediaModule } from '../media/media.module.js';
import { OptOutsModule } from '../opt-outs/opt-outs.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { WebhookModule } from '../webhook/webhook.module.js';
import { AcceptRepository } from './accept/accept.repository.js';
import { BacklogGuard } from './accept/backlog-guard.js';
import { ContentPreparation } from './accept/content-preparation.js';
import { MessageRetryEntity } from './entities/message-retry.entity.js';
import { PlatformNewsRepository } from './reports/platform-news.repository.js';
import { MessageReportsService } from './reports/message-reports.service.js';
import { MessagesMaintenanceRepository } from './maintenance/messages-maintenance.repository.js';
import { MessagesMaintenance } from './maintenance/messages.maintenance.js';
import { InstallationAdminController } from './admin/installation-admin.controller.js';
import { MessagesController } from './messages.controller.js';
import { MessagesRepository } from './messages.repository.js';
import { ReadReceiptsService } from './read-receipts.service.js';
import { TimelineService } from './timeline/timeline.service.js';
import { MessagesService } from './messages.service.js';
import { RetriesService } from './retry/retries.service.js';
import { CheckBatchService } from './check/check-batch.service.js';
import { CheckMessageService } from './check/check-message.service.js';
import { SendBatchService } from './accept/send-batch.service.js';
import { SendPreparation } from './accept/send-preparation.js';
import { MessageStateModule } from '../message-state/message-state.module.js';
import { ScheduleRepository } from './schedule/schedule.repository.js';
import { ScheduledMessages, ScheduleProcessor } from './schedule/schedule.processor.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([MessageRetryEntity]),
    BillingModule,
    ConnectionsModule,
    ConversationsModule,
    MediaModule,
    MessageStateModule,
    OptOutsModule,
    SendingModule,
    TemplatesModule,
    WebhookModule,
  ],
  controllers: [MessagesController, InstallationAdminController],
  providers: [
    MessagesService,
    RetriesService,
    TimelineService,
    ReadReceiptsService,
    SendBatchService,
    CheckBatchService,
    CheckMessageService,
    SendPreparation,
    ContentPreparation,
    MessagesRepository,
    AcceptRepository,
    BacklogGuard,
    ScheduleRepository,
    ScheduledMessages,
    ScheduleProcessor,
    MessageReportsService,
    PlatformNewsRepository,
    MessagesMaintenance,
    MessagesMaintenanceRepository,
  ],
  exports: [MessagesService, RetriesService, ReadReceiptsService, MessageReportsService],
})
export class MessagesModule {}
