import { Module } from '@nestjs/common';
import { workQueue } from '../../infrastructure/lanes/work-queue.js';
import { BillingModule } from '../billing/billing.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MediaModule } from '../media/media.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { WebhookModule } from '../webhook/webhook.module.js';
import { AcceptRepository } from './accept.repository.js';
import { ContactErasure } from './contact-erasure.js';
import { ContactErasureRepository } from './contact-erasure.repository.js';
import { ContentRetentionRepository } from './content-retention.repository.js';
import { ContentRetention } from './content-retention.js';
import { BacklogGuard } from './backlog-guard.js';
import { ContentPreparation } from './content-preparation.js';
import { ConversationsRepository } from './conversations.repository.js';
import { FileExchange } from './file-exchange.js';
import { InboundRepository } from './inbound.repository.js';
import { JournalRepository } from './journal.repository.js';
import { LowWaterMarks } from './low-water-marks.repository.js';
import { MessageEventsService } from './message-events.service.js';
import { MessageGauges } from './message-gauges.js';
import { MessageRestoration } from './message-restoration.js';
import { MessageSender } from './message-sender.js';
import { MessagesController } from './messages.controller.js';
import { MessagesRepository } from './messages.repository.js';
import { MessagesService } from './messages.service.js';
import { OutcomeRepository } from './outcome.repository.js';

import { SEND_QUEUE, SendProcessor } from './processors/send.processor.js';
import { QueueStatusRepository } from './queue-status.repository.js';
import { QueueStatusService } from './queue-status.service.js';
import { RecipientsService } from './recipients.service.js';
import { RestoreRepository } from './restore.repository.js';
import { SendPreparation } from './send-preparation.js';
import { SendRepository } from './send.repository.js';
import { StatusReportsRepository } from './status-reports.repository.js';

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
