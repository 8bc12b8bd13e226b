import { Global, Module } from '@nestjs/common';
import { Erasure } from './erasure.js';
import { WorkspaceErasure } from './workspace-erasure.js';
import { WorkspaceErasureRepository } from './workspace-erasure.repository.js';

/** Erasure of personal data and of whole workspaces, for every module that stores some. */
@Global()
@Module({
  providers: [Erasure, WorkspaceErasure, WorkspaceErasureRepository],
  exports: [Erasure, WorkspaceErasure],
})
export class ErasureModule {}
