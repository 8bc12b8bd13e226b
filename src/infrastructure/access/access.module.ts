import { Global, Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BodyGuard } from '../http/body.guard.js';
import { AccessGuard } from './access.guard.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { ApiKeysService } from './api-keys.service.js';
import { CacheInvalidation } from './cache-invalidation.js';
import { DirectRoutes } from './direct-routes.js';
import { ApiKeyEntity, OrganizationEntity } from './entities/access.entity.js';
import { RateBucketRepository, RateLimiter } from './rate-limiter.js';
import { WorkspaceReads } from './workspace-reads.js';
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
    // Guards run in this order: a body is read only once its sender is admitted.
    AccessGuard,
    BodyGuard,
    { provide: APP_GUARD, useExisting: AccessGuard },
    { provide: APP_GUARD, useExisting: BodyGuard },
    { provide: APP_INTERCEPTOR, useClass: WorkspaceReads },
    DirectRoutes,
  ],
  exports: [CacheInvalidation, WorkspacesService, ApiKeysService, RateLimiter, DirectRoutes],
})
export class AccessModule {}
