import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MediaModule } from '../media/media.module.js';
import { TemplateEntity } from './entities/template.entity.js';
import { TemplateAccountsRepository } from './template-accounts.repository.js';
import { TemplateSync } from './template-sync.js';
import { TemplateWriter } from './template-writer.js';
import { TemplatesController } from './templates.controller.js';
import { TemplatesRepository } from './templates.repository.js';
import { TemplatesService } from './templates.service.js';

@Module({
  imports: [ConnectionsModule, MediaModule, TypeOrmModule.forFeature([TemplateEntity])],
  controllers: [TemplatesController],
  providers: [TemplatesService, TemplatesRepository, TemplateAccountsRepository, TemplateSync, TemplateWriter],
  exports: [TemplatesService],
})
export class TemplatesModule {}
