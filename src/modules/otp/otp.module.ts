import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BillingModule } from '../billing/billing.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { OtpProjectsAdminController, OtpSenderAdminController } from './admin/otp-admin.controller.js';
import { OtpRepository } from './otp.repository.js';
import { OtpProjectEntity, OtpSenderEntity } from './entities/otp.entity.js';
import { OtpMaintenanceRepository } from './otp-maintenance.repository.js';
import { OtpCodes } from './otp-code.js';
import { OtpProjectsService } from './otp-projects.service.js';
import { OtpSenderService } from './otp-sender.service.js';
import { OtpController } from './otp.controller.js';
import { OtpMaintenance } from './otp.maintenance.js';
import { OtpService } from './otp.service.js';
import { OtpDispatcher, OtpProcessor } from './processors/otp.processor.js';
import { SendingRepository } from './sending.repository.js';

@Module({
  imports: [TypeOrmModule.forFeature([OtpProjectEntity, OtpSenderEntity]), BillingModule, ConnectionsModule],
  controllers: [OtpController, OtpProjectsAdminController, OtpSenderAdminController],
  providers: [
    OtpService,
    OtpProjectsService,
    OtpSenderService,
    OtpRepository,
    SendingRepository,
    OtpCodes,
    OtpDispatcher,
    OtpProcessor,
    OtpMaintenance,
    OtpMaintenanceRepository,
  ],
  exports: [OtpProjectsService, OtpSenderService, OtpService],
})
export class OtpModule {}
