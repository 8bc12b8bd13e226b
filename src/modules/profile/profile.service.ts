import { Injectable } from '@nestjs/common';
import { CloudApiClient, type PlatformRequest } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { ownList, ownText } from '../../infrastructure/whatsapp/json-access.js';
import { isTokenRefused, platformError } from '../../infrastructure/whatsapp/platform-result.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { SendingConnection } from '../connections/connections.types.js';
import type { ProfileResponse } from './dto/profile.response.js';
import type { UpdateProfileRequest } from './dto/update-profile.request.js';

const FIELDS = 'about,address,description,email,profile_picture_url,websites,vertical';

/** Business profiles. The platform keeps them; nothing of them is stored here but the time of our last change. */
@Injectable()
export class ProfileService {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly client: CloudApiClient,
  ) {}

  /**
   * Reads the profile of a number from the platform.
   *
   * @throws CONNECTION_NOT_FOUND (404), CONNECTION_NOT_READY (409), PLATFORM_UNAVAILABLE (502), PLATFORM_TIMEOUT (504).
   */
  async get(organizationId: string, connectionId: string): Promise<ProfileResponse> {
    const connection = await this.connections.sendable(organizationId, connectionId);
    const body = await this.ask(connection, { method: 'GET', query: { fields: FIELDS } });
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
   * Changes the given fields and returns the whole profile. Repeating it does no harm.
   *
   * @throws as `get`, and PLATFORM_REJECTED (400) with the platform's reason.
   */
  async change(organizationId: string, connectionId: string, change: UpdateProfileRequest): Promise<ProfileResponse> {
    const fields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    if (Object.keys(fields).length > 0) {
      const connection = await this.connections.sendable(organizationId, connectionId);
      await this.ask(connection, { method: 'POST', json: { messaging_product: 'whatsapp', ...fields } });
      await this.connections.profileChanged(organizationId, connectionId);
    }
    return this.get(organizationId, connectionId);
  }

  private async ask(connection: SendingConnection, request: Omit<PlatformRequest, 'path' | 'token'>): Promise<unknown> {
    const path = `/${encodeURIComponent(connection.phoneNumberId)}/whatsapp_business_profile`;
    const answer = await this.client.request({ ...request, path, token: connection.token });
    if (answer.ok) return answer.body;
    if (isTokenRefused(answer)) await this.connections.requireOtherToken(connection);
    throw platformError(answer);
  }
}
