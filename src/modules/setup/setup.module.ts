import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConnectionsModule } from '../connections/connections.module.js';
import { InboundModule } from '../inbound/inbound.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { SetupLinksAdminController } from './admin/setup-links-admin.controller.js';
import { NumberPinEntity } from './entities/number-pin.entity.js';
import { SetupLinkEntity } from './entities/setup-link.entity.js';
import { NumberPinsRepository } from './number-pins.repository.js';
import { NumberPinsService } from './number-pins.service.js';
import { SetupController } from './setup.controller.js';
import { SetupLinksService } from './setup-links.service.js';
import { SetupStepsService } from './setup-steps.service.js';
import { SetupRepository } from './setup.repository.js';
import { SignupPlatform } from './signup-platform.js';

/** Links by which a business connects its own number, and the calls of their page. */
@Module({
  imports: [
    TypeOrmModule.forFeature([SetupLinkEntity, NumberPinEntity]),
    ConnectionsModule,
    InboundModule,
    MessagesModule,
  ],
  controllers: [SetupLinksAdminController, SetupController],
  providers: [
    SetupLinksService,
    SetupStepsService,
    SetupRepository,
    NumberPinsService,
    NumberPinsRepository,
    SignupPlatform,
  ],
  exports: [SetupLinksService],
})
export class SetupModule {}
