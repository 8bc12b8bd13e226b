import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { OtpModule } from '../otp/otp.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { NotificationErasure } from './notification-erasure.js';
import { NotificationErasureRepository } from './notification-erasure.repository.js';
import { NotificationsBacklogRepository } from './notifications-backlog.repository.js';
import { NotificationsController } from './notifications.controller.js';
import { NotificationsRepository } from './notifications.repository.js';
import { NotificationsService } from './notifications.service.js';
import { NotificationsSweep } from './notifications-sweep.js';
import { OtpNotifications } from './otp-notifications.js';

@Module({
  imports: [ConnectionsModule, MessagesModule, OtpModule, TemplatesModule],
  controllers: [NotificationsController],
  providers: [
    NotificationsService,
    NotificationsRepository,
    NotificationsSweep,
    NotificationsBacklogRepository,
    OtpNotifications,
    NotificationErasure,
    NotificationErasureRepository,
  ],
})
export class NotificationsModule {}
