import { Module } from '@nestjs/common';
import { workQueue } from '../../infrastructure/lanes/queue.module.js';
import { BillingModule } from '../billing/billing.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { ChallengesRepository } from './challenges.repository.js';
import { GuessesRepository } from './guesses.repository.js';
import { OtpBacklogRepository } from './otp-backlog.repository.js';
import { OtpCodes } from './otp-code.js';
import { OtpDispatcher } from './otp-dispatcher.js';
import { OtpErasure } from './otp-erasure.js';
import { OtpErasureRepository } from './otp-erasure.repository.js';
import { OtpGauges } from './otp-gauges.js';
import { OtpLimits } from './otp-limits.js';
import { OtpPlatform } from './otp-platform.js';
import { OtpProjectsRepository } from './otp-projects.repository.js';
import { OtpProjectsService } from './otp-projects.service.js';
import { OtpReportsRepository } from './otp-reports.repository.js';
import { OtpReportsService } from './otp-reports.service.js';
import { OtpRestoration } from './otp-restoration.js';
import { OtpRestoreRepository } from './otp-restore.repository.js';
import { OtpRetentionRepository } from './otp-retention.repository.js';
import { OtpRetention } from './otp-retention.js';
import { OtpSenderCheckService } from './otp-sender-check.service.js';
import { OtpSenderRepository } from './otp-sender.repository.js';
import { OtpSenderService } from './otp-sender.service.js';
import { OtpController } from './otp.controller.js';
import { OtpService } from './otp.service.js';

import { OTP_QUEUE, OtpProcessor } from './processors/otp.processor.js';
import { SendingRepository } from './sending.repository.js';

@Module({
  imports: [workQueue(OTP_QUEUE), BillingModule, ConnectionsModule],
  controllers: [OtpController],
  providers: [
    OtpService,
    OtpReportsService,
    OtpReportsRepository,
    OtpProjectsService,
    OtpProjectsRepository,
    OtpSenderService,
    OtpSenderCheckService,
    OtpSenderRepository,
    ChallengesRepository,
    GuessesRepository,
    SendingRepository,
    OtpErasure,
    OtpErasureRepository,
    OtpCodes,
    OtpLimits,
    OtpPlatform,
    OtpDispatcher,
    OtpGauges,
    OtpBacklogRepository,
    OtpRestoration,
    OtpRestoreRepository,
    OtpRetention,
    OtpRetentionRepository,
    OtpProcessor,
  ],
  exports: [OtpProjectsService, OtpSenderService, OtpSenderCheckService, OtpReportsService],
})
export class OtpModule {}
