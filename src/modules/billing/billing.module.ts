import { Module } from '@nestjs/common';
import { BillingRepository } from './billing.repository.js';
import { BillingService } from './billing.service.js';
import { OtpPackagesRepository } from './otp-packages.repository.js';
import { OtpPackagesService } from './otp-packages.service.js';

@Module({
  providers: [BillingService, BillingRepository, OtpPackagesService, OtpPackagesRepository],
  exports: [BillingService, OtpPackagesService],
})
export class BillingModule {}
