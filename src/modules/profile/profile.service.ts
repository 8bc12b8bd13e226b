import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { systemClock } from '../../common/clock.js';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { type BucketLimits, TokenBucket } from '../../common/token-bucket.js';
import { ratesErrors } from '../../infrastructure/rates/rates.errors.js';
import { CloudApiClient, type PlatformRequest } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { ownList, ownText } from '../../infrastructure/whatsapp/json-access.js';
import { isTokenRefused, platformError } from '../../infrastructure/whatsapp/platform-result.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { SendingConnection } from '../connections/connections.types.js';
import type { ProfileResponse } from './dto/profile.response.js';
import type { UpdateProfileRequest } from './dto/update-profile.request.js';

const FIELDS = 'about,address,description,email,profile_picture_url,websites,vertical';

/** How long a read profile is cached. */
const FRESH_MS = 5_000;
const MAX_KEPT = 1_000;
/** Limit per number: WhatsApp allows 5,000 calls an hour for the whole account. */
const CALLS: BucketLimits = { ratePerSecond: 1, burst: 100 };
const MAX_COUNTED = 10_000;

/**
 * Business profiles. WhatsApp stores them; Herald stores only the time of our last change. Calls to WhatsApp are
 * counted per number, in this process, so that one caller does not use up WhatsApp's limit.
 */
@Injectable()
export class ProfileService {
  private readonly profiles = new ExpiringCache<string, { body: unknown }>({ ttlMs: FRESH_MS, maxEntries: MAX_KEPT });
  private readonly calls = new LRUCache<string, TokenBucket>({ maxSize: MAX_COUNTED, sizeCalculation: () => 1 });

  constructor(
    private readonly connections: ConnectionsService,
    private readonly client: CloudApiClient,
  ) {}

  /**
   * A number's profile at WhatsApp, at most some seconds old.
   *
   * @throws CONNECTION_NOT_FOUND (404), CONNECTION_NOT_READY (409), RATE_LIMITED (429), PLATFORM_UNAVAILABLE (502),
   * PLATFORM_TIMEOUT (504).
   */
  async get(organizationId: string, connectionId: string): Promise<ProfileResponse> {
    const connection = await this.connections.sendable(organizationId, connectionId);
    const { body } = await this.profiles.get(connectionId, async () => ({
      body: await this.ask(connection, { method: 'GET', query: { fields: FIELDS } }),
    }));
    const updatedAt = await this.connections.profileUpdatedAt(organizationId, connectionId);
    const [profile] = ownList(body, 'data');
    return {
      about: ownText(profile, 'about'),
      address: ownText(profile, 'address'),
      description: ownText(profile, 'description'),
      email: ownText(profile, 'email'),
      vertical: ownText(profile, 'vertical'),
      websites: ownList(profile, 'websites').filter((website): website is string => typeof website === 'string'),
      profile_picture_url: ownText(profile, 'profile_picture_url'),
      updated_at: updatedAt?.toISOString() ?? null,
    };
  }

  /**
   * Changes the given fields and returns the whole profile. Repeatable.
   *
   * @throws as `get`, and PLATFORM_REJECTED (400) with the platform's reason.
   */
  async change(organizationId: string, connectionId: string, change: UpdateProfileRequest): Promise<ProfileResponse> {
    const fields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    if (Object.keys(fields).length > 0) {
      const connection = await this.connections.sendable(organizationId, connectionId);
      try {
        await this.ask(connection, { method: 'POST', json: { messaging_product: 'whatsapp', ...fields } });
      } finally {
        // Also if the outcome is unknown.
        this.profiles.delete(connectionId);
      }
      await this.connections.setProfileUpdated(organizationId, connectionId);
    }
    return this.get(organizationId, connectionId);
  }

  private async ask(connection: SendingConnection, request: Omit<PlatformRequest, 'path' | 'token'>): Promise<unknown> {
    this.count(connection.phoneNumberId);
    const path = `/${encodeURIComponent(connection.phoneNumberId)}/whatsapp_business_profile`;
    const answer = await this.client.request({ ...request, path, token: connection.token });
    if (answer.ok) return answer.body;
    if (isTokenRefused(answer)) await this.connections.requireOtherToken(connection);
    throw platformError(answer);
  }

  private count(phoneNumberId: string): void {
    const now = systemClock.monotonic();
    let bucket = this.calls.get(phoneNumberId);
    if (bucket === undefined) this.calls.set(phoneNumberId, (bucket = new TokenBucket(CALLS, now)));
    if (bucket.take(now)) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(bucket.msUntil(1, now) / 1_000));
    throw ratesErrors.RATE_LIMITED({ retryAfterSeconds, scope: 'number_profile' });
  }
}
