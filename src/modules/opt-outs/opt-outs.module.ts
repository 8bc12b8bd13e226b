import { Module } from '@nestjs/common';
import { WebhookModule } from '../webhook/webhook.module.js';
import { OptOutsController } from './opt-outs.controller.js';
import { OptOutsRepository } from './opt-outs.repository.js';
import { OptOutsService } from './opt-outs.service.js';

/** Who wants no messages, and which. */
@Module({
  imports: [WebhookModule],
  controllers: [OptOutsController],
  providers: [OptOutsService, OptOutsRepository],
  exports: [OptOutsService],
})
export class OptOutsModule {}
