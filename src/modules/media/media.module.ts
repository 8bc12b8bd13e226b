import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';

@Module({ imports: [ConnectionsModule] })
export class MediaModule {}
