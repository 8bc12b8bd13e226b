import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { CountingRepository } from './counting.repository.js';
import { UsageController } from './usage.controller.js';
import { RatesAdminController, UsageAdminController } from './admin/usage-admin.controller.js';
import { UsageByWorkspaceService } from './usage-by-workspace.service.js';
import { UsageRepository } from './usage.repository.js';
import { UsageService } from './usage.service.js';

/** Messages sent and received, their delivery, and their cost. */
@Module({
  imports: [ConnectionsModule],
  controllers: [UsageController, UsageAdminController, RatesAdminController],
  providers: [UsageService, UsageByWorkspaceService, UsageRepository, CountingRepository],
  exports: [UsageService, UsageByWorkspaceService],
})
export class UsageModule {}
