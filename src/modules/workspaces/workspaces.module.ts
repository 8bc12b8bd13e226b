import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ErasuresAdminController } from './admin/erasures-admin.controller.js';
import { WorkspacesAdminController } from './admin/workspaces-admin.controller.js';
import { ErasureEntity } from './entities/erasure.entity.js';
import { OrganizationEntity } from './entities/workspace.entity.js';
import { ErasedNames } from './erasure/erased-names.service.js';
import { Erasure } from './erasure/erasure.service.js';
import { ErasuresRepository } from './erasure/erasures.repository.js';
import { WorkspaceErasureRepository } from './erasure/workspace-erasure.repository.js';
import { WorkspaceErasure } from './erasure/workspace-erasure.service.js';
import { WorkspaceReads } from './workspace-reads.interceptor.js';
import { WorkspacesRepository } from './workspaces.repository.js';
import { WorkspacesService } from './workspaces.service.js';

/** Workspaces, and the erasure of contacts and of workspaces, for every module that stores their data. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity, ErasureEntity])],
  controllers: [WorkspacesAdminController, ErasuresAdminController],
  providers: [
    WorkspacesRepository,
    WorkspacesService,
    WorkspaceReads,
    Erasure,
    ErasuresRepository,
    ErasedNames,
    WorkspaceErasure,
    WorkspaceErasureRepository,
  ],
  exports: [WorkspacesService, WorkspaceReads, Erasure, ErasedNames, WorkspaceErasure],
})
export class WorkspacesModule {}
