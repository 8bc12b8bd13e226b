import { Injectable } from '@nestjs/common';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { CacheInvalidation } from '../../infrastructure/access/cache-invalidation.js';
import { EndpointsRepository } from './endpoints.repository.js';

const INVALIDATION = 'webhook';
// A stale answer costs a wake that finds nothing, or a wake that the due sweep makes up for within a second.
const CACHE = { ttlMs: 30_000, maxEntries: 100_000, keep: () => true };

/** Which endpoint a workspace has, from memory: asked after every change of a message. */
@Injectable()
export class EndpointDirectory {
  private readonly byWorkspace = new ExpiringCache<string, string | null>(CACHE);

  constructor(
    private readonly endpoints: EndpointsRepository,
    private readonly invalidation: CacheInvalidation,
  ) {
    invalidation.on(INVALIDATION, (id) => (id === null ? this.byWorkspace.clear() : this.byWorkspace.delete(id)));
  }

  /** Calls `found` with the endpoint of each workspace that has one; at once for those that are known. */
  async each(organizationIds: Iterable<string>, found: (endpointId: string) => void): Promise<void> {
    const unknown: string[] = [];
    for (const organizationId of new Set(organizationIds)) {
      const known = this.byWorkspace.peek(organizationId);
      if (known === undefined) unknown.push(organizationId);
      else if (known !== null) found(known);
    }
    if (unknown.length === 0) return;
    const readAt = performance.now();
    const rows = await this.endpoints.idsOf(unknown);
    for (const organizationId of unknown) {
      const endpointId = rows.get(organizationId) ?? null;
      this.byWorkspace.set(organizationId, endpointId, readAt);
      if (endpointId !== null) found(endpointId);
    }
  }

  /** The workspace got an endpoint, or lost it. */
  async changed(organizationId: string): Promise<void> {
    this.byWorkspace.delete(organizationId);
    await this.invalidation.publish(INVALIDATION, organizationId);
  }
}
