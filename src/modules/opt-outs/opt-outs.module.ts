import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WebhookModule } from '../webhook/webhook.module.js';
import { OptOutKeywordsAdminController } from './admin/opt-out-keywords-admin.controller.js';
import { OptOutKeywordsEntity } from './entities/opt-out-keywords.entity.js';
import { OptOutsController } from './opt-outs.controller.js';
import { OptOutsRepository } from './opt-outs.repository.js';
import { OptOutsService } from './opt-outs.service.js';

/** Opt-outs of people, and their categories. */
@Module({
  imports: [TypeOrmModule.forFeature([OptOutKeywordsEntity]), WebhookModule],
  controllers: [OptOutsController, OptOutKeywordsAdminController],
  providers: [OptOutsService, OptOutsRepository],
  exports: [OptOutsService],
})
export class OptOutsModule {}
