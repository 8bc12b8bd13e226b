import { Module } from '@nestjs/common';
import { workQueue } from '../../infrastructure/lanes/work-queue.js';
import { BillingModule } from '../billing/billing.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MediaModule } from '../media/media.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { WebhookModule } from '../webhook/webhook.module.js';
import { AcceptRepository } from './accept/accept.repository.js';
import { ContactErasure } from './maintenance/contact-erasure.js';
import { ContactErasureRepository } from './maintenance/contact-erasure.repository.js';
import { ContentRetentionRepository } from './maintenance/content-retention.repository.js';
import { ContentRetention } from './maintenance/content-retention.js';
import { BacklogGuard } from './accept/backlog-guard.js';
import { ContentPreparation } from './accept/content-preparation.js';
import { ConversationsRepository } from './contacts/conversations.repository.js';
import { FileExchange } from './send/file-exchange.js';
import { InboundRepository } from './reports/inbound.repository.js';
import { JournalRepository } from './journal/journal.repository.js';
import { LowWaterMarks } from './send/low-water-marks.repository.js';
import { MessageEventsService } from './reports/message-events.service.js';
import { MessageGauges } from './journal/message-gauges.js';
import { MessageRestoration } from './maintenance/message-restoration.js';
import { MessageSender } from './send/message-sender.js';
import { MessagesController } from './messages.controller.js';
import { MessagesRepository } from './messages.repository.js';
import { MessagesService } from './messages.service.js';
import { OutcomeRepository } from './send/outcome.repository.js';

import { SEND_QUEUE, SendProcessor } from './send/send.processor.js';
import { QueueStatusRepository } from './journal/queue-status.repository.js';
import { QueueStatusService } from './journal/queue-status.service.js';
import { RecipientsService } from './contacts/recipients.service.js';
import { RestoreRepository } from './maintenance/restore.repository.js';
import { SendPreparation } from './accept/send-preparation.js';
import { SendRepository } from './send/send.repository.js';
import { StatusReportsRepository } from './reports/status-reports.repository.js';

@Module({
  imports: [workQueue(SEND_QUEUE), BillingModule, ConnectionsModule, MediaModule, TemplatesModule, WebhookModule],
  controllers: [MessagesController],
  providers: [
    MessagesService,
    SendPreparation,
    ContentPreparation,
    MessagesRepository,
    AcceptRepository,
    JournalRepository,
    ConversationsRepository,
    RecipientsService,
    QueueStatusService,
    QueueStatusRepository,
    MessageGauges,
    MessageRestoration,
    RestoreRepository,
    ContentRetention,
    ContentRetentionRepository,
    ContactErasure,
    ContactErasureRepository,
    BacklogGuard,
    SendRepository,
    LowWaterMarks,
    OutcomeRepository,
    MessageSender,
    FileExchange,
    MessageEventsService,
    StatusReportsRepository,
    InboundRepository,
    SendProcessor,
  ],
  exports: [MessagesService, MessageEventsService],
})
export class MessagesModule {}
