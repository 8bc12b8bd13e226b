import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { OtpModule } from '../otp/otp.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { NotificationErasureRepository } from './notification-erasure.repository.js';
import { NotificationsController } from './notifications.controller.js';
import { NotificationsRepository } from './notifications.repository.js';
import { NotificationsService } from './notifications.service.js';
import { NotificationsSweep } from './notifications-sweep.js';

@Module({
  imports: [ConnectionsModule, MessagesModule, OtpModule, TemplatesModule],
  controllers: [NotificationsController],
  providers: [NotificationsService, NotificationsRepository, NotificationsSweep, NotificationErasureRepository],
})
export class NotificationsModule {}
