import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { ProfileController } from './profile.controller.js';
import { ProfileService } from './profile.service.js';

@Module({
  imports: [ConnectionsModule],
  controllers: [ProfileController],
  providers: [ProfileService],
})
export class ProfileModule {}
