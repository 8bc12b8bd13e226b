import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllConnectionsAdminController, ConnectionsAdminController } from './admin/connections-admin.controller.js';
import { ConnectionCheckService } from './connection-check.service.js';
import { ConnectionsController } from './connections.controller.js';
import { ConnectionsMaintenance } from './connections.maintenance.js';
import { ConnectionsRepository } from './connections.repository.js';
import { ConnectionsService } from './connections.service.js';
import { ConnectionEntity } from './entities/connection.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([ConnectionEntity])],
  controllers: [ConnectionsController, ConnectionsAdminController, AllConnectionsAdminController],
  providers: [ConnectionsService, ConnectionsRepository, ConnectionsMaintenance, ConnectionCheckService],
  exports: [ConnectionsService, ConnectionCheckService],
})
export class ConnectionsModule {}
