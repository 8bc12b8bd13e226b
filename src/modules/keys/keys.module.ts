import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { AccessGuard } from './access.guard.js';
import { ApiKeyEntity } from './entities/api-key.entity.js';
import { OperatorKeyEntity } from './entities/operator-key.entity.js';
import { KeysController } from './keys.controller.js';
import { KeysMaintenance } from './keys.maintenance.js';
import { ApiKeysRepository } from './keys.repository.js';
import { ApiKeysService } from './keys.service.js';
import { OperatorKeysRepository } from './operator/operator-keys.repository.js';
import { KeysAdminController } from './operator/keys-admin.controller.js';
import { OperatorKeyAdminController } from './operator/operator-key-admin.controller.js';
import { OperatorKeysAdminController } from './operator/operator-keys-admin.controller.js';
import { OperatorRepeats } from './operator/operator-repeats.interceptor.js';
import { OperatorRepeatsRepository } from './operator/operator-repeats.repository.js';
import { OperatorKeysService } from './operator/operator-keys.service.js';

/** API keys and operator keys, and access control, for every module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyEntity, OperatorKeyEntity]), WorkspacesModule],
  controllers: [KeysController, KeysAdminController, OperatorKeyAdminController, OperatorKeysAdminController],
  providers: [
    ApiKeysRepository,
    ApiKeysService,
    KeysMaintenance,
    OperatorKeysRepository,
    OperatorKeysService,
    OperatorRepeats,
    OperatorRepeatsRepository,
    AccessGuard,
  ],
  exports: [ApiKeysService, OperatorKeysService, OperatorRepeats, AccessGuard],
})
export class KeysModule {
  constructor(keys: ApiKeysService, erasure: WorkspaceErasure) {
    erasure.add({ stop: (organizationId) => keys.revokeAll(organizationId) });
  }
}
