import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MirrorRepository } from './mirror.repository.js';
import { TemplateAccountsRepository } from './template-accounts.repository.js';
import { TemplateListing } from './template-listing.js';
import { TemplateNotifications } from './template-notifications.js';
import { TemplateSync } from './template-sync.js';
import { TemplateWriter } from './template-writer.js';
import { TemplatesController } from './templates.controller.js';
import { TemplatesRepository } from './templates.repository.js';
import { TemplatesService } from './templates.service.js';
import { TemplatesSweep } from './templates-sweep.js';

@Module({
  imports: [ConnectionsModule],
  controllers: [TemplatesController],
  providers: [
    TemplatesService,
    TemplatesRepository,
    TemplateAccountsRepository,
    MirrorRepository,
    TemplateListing,
    TemplateSync,
    TemplateNotifications,
    TemplateWriter,
    TemplatesSweep,
  ],
  exports: [TemplatesService],
})
export class TemplatesModule {}
