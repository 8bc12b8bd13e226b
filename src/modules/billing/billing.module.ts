import { Module } from '@nestjs/common';
import { BillingRepository } from './billing.repository.js';
import { BillingService } from './billing.service.js';
import { LimitsMaintenance } from './limits.maintenance.js';
import { OtpPackagesService } from './otp-packages.service.js';

@Module({
  providers: [BillingService, OtpPackagesService, BillingRepository, LimitsMaintenance],
  exports: [BillingService, OtpPackagesService],
})
export class BillingModule {}
