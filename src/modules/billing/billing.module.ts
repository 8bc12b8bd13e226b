import { Module } from '@nestjs/common';
import { BillingRepository } from './billing.repository.js';
import { BillingService } from './billing.service.js';
import { OtpPackagesService } from './otp-packages.service.js';

@Module({
  providers: [BillingService, OtpPackagesService, BillingRepository],
  exports: [BillingService, OtpPackagesService],
})
export class BillingModule {}
