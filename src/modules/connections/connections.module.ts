import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConnectionCheckService } from './connection-check.service.js';
import { ConnectionErasure } from './connection-erasure.js';
import { ConnectionFactsService } from './connection-facts.service.js';
import { ConnectionTokens } from './connection-token.js';
import { ConnectionsController } from './connections.controller.js';
import { ConnectionsRepository } from './connections.repository.js';
import { ConnectionsService } from './connections.service.js';
import { ConnectionEntity } from './entities/connection.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([ConnectionEntity])],
  controllers: [ConnectionsController],
  providers: [
    ConnectionsService,
    ConnectionsRepository,
    ConnectionFactsService,
    ConnectionCheckService,
    ConnectionTokens,
    ConnectionErasure,
  ],
  exports: [ConnectionsService, ConnectionFactsService, ConnectionCheckService],
})
export class ConnectionsModule {}
