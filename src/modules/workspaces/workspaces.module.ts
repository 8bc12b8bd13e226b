import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationEntity } from './entities/workspace.entity.js';
import { Erasure } from './erasure/erasure.service.js';
import { WorkspaceErasureRepository } from './erasure/workspace-erasure.repository.js';
import { WorkspaceErasure } from './erasure/workspace-erasure.service.js';
import { WorkspacesRepository } from './workspaces.repository.js';
import { WorkspacesService } from './workspaces.service.js';

/** Workspaces, and the erasure of their contacts and of themselves, for every module that stores something of theirs. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity])],
  providers: [WorkspacesRepository, WorkspacesService, Erasure, WorkspaceErasure, WorkspaceErasureRepository],
  exports: [WorkspacesService, Erasure, WorkspaceErasure],
})
export class WorkspacesModule {}
