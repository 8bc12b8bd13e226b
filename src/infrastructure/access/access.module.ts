import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessGuard } from './access.guard.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { ApiKeysService } from './api-keys.service.js';
import { CacheInvalidation } from './cache-invalidation.js';
import { ApiKeyEntity, OrganizationEntity } from './entities/access.entity.js';
import { RateBucketRepository, RateLimiter } from './rate-limiter.js';
import { WorkspacesService } from './workspaces.service.js';

/** Workspaces, API keys and scopes, for every module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity, ApiKeyEntity])],
  providers: [
    CacheInvalidation,
    WorkspacesService,
    ApiKeysRepository,
    ApiKeysService,
    RateBucketRepository,
    RateLimiter,
    AccessGuard,
  ],
  exports: [CacheInvalidation, WorkspacesService, ApiKeysService, RateLimiter, AccessGuard],
})
export class AccessModule {}
