import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { AccessGuard } from './access.guard.js';
import { ApiKeyEntity } from './entities/api-key.entity.js';
import { KeysController } from './keys.controller.js';
import { ApiKeysRepository } from './keys.repository.js';
import { ApiKeysService } from './keys.service.js';

/** API keys and what they admit, for every module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyEntity]), WorkspacesModule],
  controllers: [KeysController],
  providers: [ApiKeysRepository, ApiKeysService, AccessGuard],
  exports: [ApiKeysService, AccessGuard],
})
export class KeysModule {
  constructor(keys: ApiKeysService, erasure: WorkspaceErasure) {
    erasure.add({ stop: (organizationId) => keys.revokeAll(organizationId) });
  }
}
