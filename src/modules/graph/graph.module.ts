import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MediaModule } from '../media/media.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { GraphController } from './graph.controller.js';
import { GraphService } from './graph.service.js';

/** An API in the form of WhatsApp's Cloud API, for clients that support no other. */
@Module({
  imports: [ConnectionsModule, MediaModule, MessagesModule, TemplatesModule],
  controllers: [GraphController],
  providers: [GraphService],
})
export class GraphModule {}
