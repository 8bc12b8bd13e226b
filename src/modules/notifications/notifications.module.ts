import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { NotificationsController } from './notifications.controller.js';
import { NotificationsRepository } from './notifications.repository.js';
import { NotificationsService } from './notifications.service.js';
import { NotificationsSweep } from './notifications-sweep.js';

@Module({
  imports: [ConnectionsModule, MessagesModule],
  controllers: [NotificationsController],
  providers: [NotificationsService, NotificationsRepository, NotificationsSweep],
})
export class NotificationsModule {}
