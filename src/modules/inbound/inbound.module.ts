import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { OptOutsModule } from '../opt-outs/opt-outs.module.js';
import { OtpModule } from '../otp/otp.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { HistoryAdminController } from './admin/history-admin.controller.js';
import { InboundController } from './inbound.controller.js';
import { InboundRepository } from './inbound.repository.js';
import { InboundService } from './inbound.service.js';
import { HistoryImportService } from './history-import.service.js';
import { InboundMaintenance } from './inbound.maintenance.js';
import { InboundProcessor, StoredNotifications } from './inbound.processor.js';

@Module({
  imports: [ConnectionsModule, MessagesModule, OptOutsModule, OtpModule, TemplatesModule],
  controllers: [InboundController, HistoryAdminController],
  providers: [
    InboundService,
    InboundRepository,
    InboundMaintenance,
    StoredNotifications,
    InboundProcessor,
    HistoryImportService,
  ],
  exports: [HistoryImportService],
})
export class InboundModule {}
