import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { CountingRepository } from './counting.repository.js';
import { UsageController } from './usage.controller.js';
import { UsageRepository } from './usage.repository.js';
import { UsageService } from './usage.service.js';

/** What was sent and received, how well, and what it cost. */
@Module({
  imports: [ConnectionsModule],
  controllers: [UsageController],
  providers: [UsageService, UsageRepository, CountingRepository],
  exports: [UsageService],
})
export class UsageModule {}
