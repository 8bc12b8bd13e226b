import { Module } from '@nestjs/common';
import { workQueue } from '../../infrastructure/lanes/queue.module.js';
import { BillingModule } from '../billing/billing.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MediaModule } from '../media/media.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { WebhookModule } from '../webhook/webhook.module.js';
import { AcceptRepository } from './accept/accept.repository.js';
import { BacklogGuard } from './accept/backlog-guard.js';
import { ContentPreparation } from './accept/content-preparation.js';
import { ConversationPagesRepository } from './contacts/conversation-pages.repository.js';
import { ConversationsController } from './contacts/conversations.controller.js';
import { ConversationsRepository } from './contacts/conversations.repository.js';
import { FileExchange } from './send/file-exchange.js';
import { MessageEventsService } from './reports/message-events.service.js';
import { MessageSender } from './send/message-sender.js';
import { MessagesMaintenanceRepository } from './maintenance/messages-maintenance.repository.js';
import { MessagesMaintenance } from './maintenance/messages.maintenance.js';
import { MessagesController } from './messages.controller.js';
import { MessagesRepository } from './messages.repository.js';
import { ReadReceiptsService } from './read-receipts.service.js';
import { TimelineService } from './timeline/timeline.service.js';
import { MessagesService } from './messages.service.js';
import { OutcomeRepository } from './send/outcome.repository.js';
import { SEND_QUEUE, SendProcessor } from './send/send.processor.js';
import { RecipientsService } from './contacts/recipients.service.js';
import { QueueEstimates } from './send/queue-estimate.js';
import { CheckMessageService } from './check/check-message.service.js';
import { SendBatchService } from './accept/send-batch.service.js';
import { SendPreparation } from './accept/send-preparation.js';
import { ScheduleRepository } from './schedule/schedule.repository.js';
import { SCHEDULE_QUEUE, ScheduledMessages, ScheduleProcessor } from './schedule/schedule.processor.js';
import { SendRepository } from './send/send.repository.js';

@Module({
  imports: [
    workQueue(SEND_QUEUE),
    workQueue(SCHEDULE_QUEUE),
    BillingModule,
    ConnectionsModule,
    MediaModule,
    TemplatesModule,
    WebhookModule,
  ],
  controllers: [MessagesController, ConversationsController],
  providers: [
    MessagesService,
    TimelineService,
    ReadReceiptsService,
    SendBatchService,
    CheckMessageService,
    SendPreparation,
    ContentPreparation,
    MessagesRepository,
    AcceptRepository,
    ConversationsRepository,
    ConversationPagesRepository,
    RecipientsService,
    BacklogGuard,
    SendRepository,
    QueueEstimates,
    ScheduleRepository,
    ScheduledMessages,
    ScheduleProcessor,
    OutcomeRepository,
    MessageSender,
    FileExchange,
    MessageEventsService,
    MessagesMaintenance,
    MessagesMaintenanceRepository,
    SendProcessor,
  ],
  exports: [MessagesService, MessageEventsService],
})
export class MessagesModule {}
