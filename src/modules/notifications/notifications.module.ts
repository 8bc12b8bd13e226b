import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { OtpModule } from '../otp/otp.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { NotificationsController } from './notifications.controller.js';
import { NotificationsRepository } from './notifications.repository.js';
import { NotificationsService } from './notifications.service.js';
import { NotificationsMaintenance } from './notifications.maintenance.js';

@Module({
  imports: [ConnectionsModule, MessagesModule, OtpModule, TemplatesModule],
  controllers: [NotificationsController],
  providers: [NotificationsService, NotificationsRepository, NotificationsMaintenance],
})
export class NotificationsModule {}
