import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { ConversationsModule } from '../conversations/conversations.module.js';
import { MediaModule } from '../media/media.module.js';
import { MessageStateModule } from '../message-state/message-state.module.js';
import { OptOutsModule } from '../opt-outs/opt-outs.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { WebhookModule } from '../webhook/webhook.module.js';
import { ClaimRepository } from './claim/claim.repository.js';
import { QueueEstimates } from './estimate/queue-estimate.js';
import { OutcomeRepository } from './outcome/outcome.repository.js';
import { FileExchange } from './processors/file-exchange.js';
import { MessageSender } from './processors/message-sender.js';
import { SendProcessor } from './processors/send.processor.js';
import { SendingService } from './sending.service.js';
import { SendingSweepsRepository } from './sweeps/sending-sweeps.repository.js';

/** Sends queued messages to WhatsApp and records the answers. */
@Module({
  imports: [
    ConnectionsModule,
    ConversationsModule,
    MediaModule,
    MessageStateModule,
    OptOutsModule,
    TemplatesModule,
    WebhookModule,
  ],
  providers: [
    SendingService,
    SendProcessor,
    MessageSender,
    FileExchange,
    ClaimRepository,
    SendingSweepsRepository,
    OutcomeRepository,
    QueueEstimates,
  ],
  exports: [SendingService],
})
export class SendingModule {}
