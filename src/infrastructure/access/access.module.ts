import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessGuard } from './access.guard.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { ApiKeysService } from './api-keys.service.js';
import { PgNotifier } from '../database/pg-notifier.js';
import { ApiKeyEntity, OrganizationEntity } from './entities/access.entity.js';
import { RateBucketRepository, RateLimiter } from './rate-limiter.js';
import { WorkspacesService } from './workspaces.service.js';

/** Workspaces, API keys and scopes, for every module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity, ApiKeyEntity])],
  providers: [
    PgNotifier,
    WorkspacesService,
    ApiKeysRepository,
    ApiKeysService,
    RateBucketRepository,
    RateLimiter,
    AccessGuard,
  ],
  exports: [PgNotifier, WorkspacesService, ApiKeysService, RateLimiter, AccessGuard],
})
export class AccessModule {}
