import { Module } from '@nestjs/common';
import { MessagesModule } from '../messages/messages.module.js';
import { MessageStateModule } from '../message-state/message-state.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { WebhookModule } from '../webhook/webhook.module.js';
import { TagCountsRepository } from './tag-counts.repository.js';
import { TagsController } from './tags.controller.js';
import { TagsRepository } from './tags.repository.js';
import { TagsService } from './tags.service.js';

/** Groups of messages that are followed, paused, canceled and retried together. */
@Module({
  imports: [MessagesModule, MessageStateModule, SendingModule, WebhookModule],
  controllers: [TagsController],
  providers: [TagsService, TagsRepository, TagCountsRepository],
})
export class TagsModule {}
