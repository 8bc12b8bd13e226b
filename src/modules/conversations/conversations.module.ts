import { Module } from '@nestjs/common';
import { BillingModule } from '../billing/billing.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { WebhookModule } from '../webhook/webhook.module.js';
import { ContactBookMaintenance } from './contacts/contact-book.maintenance.js';
import { ContactBookRepository } from './contacts/contact-book.repository.js';
import { ContactsService } from './contacts/contacts.service.js';
import { ConversationControlService } from './control/conversation-control.service.js';
import { ConversationsController } from './conversations.controller.js';
import { ConversationsRepository } from './conversations.repository.js';
import { ConversationsService } from './conversations.service.js';
import { ConversationPagesRepository } from './pages/conversation-pages.repository.js';
import { RecipientsService } from './windows/recipients.service.js';

/** Contacts, their open windows and owners, and the conversations of a workspace. */
@Module({
  imports: [BillingModule, ConnectionsModule, WebhookModule],
  controllers: [ConversationsController],
  providers: [
    ConversationsService,
    ConversationControlService,
    ConversationsRepository,
    ContactsService,
    ConversationPagesRepository,
    RecipientsService,
    ContactBookRepository,
    ContactBookMaintenance,
  ],
  exports: [ContactsService, RecipientsService],
})
export class ConversationsModule {}
