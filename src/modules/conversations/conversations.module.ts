import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { ConversationsController } from './conversations.controller.js';
import { ConversationsRepository } from './conversations.repository.js';
import { ConversationsService } from './conversations.service.js';
import { ConversationPagesRepository } from './pages/conversation-pages.repository.js';
import { RecipientsService } from './windows/recipients.service.js';

/** Who a contact is, whether an ordinary message may reach them now, and the conversations that a workspace sees. */
@Module({
  imports: [ConnectionsModule],
  controllers: [ConversationsController],
  providers: [ConversationsService, ConversationsRepository, ConversationPagesRepository, RecipientsService],
  exports: [ConversationsRepository, RecipientsService],
})
export class ConversationsModule {}
