import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { In, IsNull, Not, type QueryDeepPartialEntity, type Repository } from 'typeorm';
import { isSameText } from '../../common/same-text.js';
import { ratesErrors } from '../../infrastructure/rates/rates.errors.js';
import { Audit, type AuditAction } from '../audit/audit.service.js';
import { Database } from '../../infrastructure/database/database.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { webhookLaneOf } from './dispatch/dispatch.repository.js';
import { WebhookEndpointEntity, WebhookSecretEntity } from './entities/webhook-endpoint.entity.js';
import { EndpointSecrets, type SealedSecret, type WebhookHeaders } from './webhook-secrets.js';
import { webhookErrors } from './webhook.errors.js';
import { MESSAGE_EVENTS, type WebhookEvent } from './webhook.types.js';

/**
 * Absent settings stay unchanged; the defaults of a new endpoint: events about messages, active, all numbers, no
 * headers.
 */
export interface EndpointSettings {
  url: string;
  events: WebhookEvent[] | undefined;
  active: boolean | undefined;
  /** The numbers whose events it gets, without duplicates; empty: all. */
  connectionIds: string[] | undefined;
  /** Existing headers are removed where the address changes to another origin. */
  headers: WebhookHeaders | undefined;
  /** For a new endpoint. An existing one must have this secret already, or the change is refused. */
  secret?: string;
}

/** An endpoint with its sealed values in base64, for EndpointSecrets. */
export interface SigningEndpoint {
  id: string;
  organizationId: string;
  url: string;
  headers: string | null;
  /** The secrets that sign, the current one first. */
  secrets: { id: string; sealed: string }[];
}

/** Hours for which a replaced secret continues to sign (specification: rotate-secret). */
const OVERLAP_HOURS = 24;
/** Limit of secrets that sign, after several rotations within the overlap. */
const MAX_SECRETS = 5;
/**
 * Limit per workspace and hour, since the audit trail keeps each change for good. Deletes need no limit, as each
 * follows a creation.
 */
const CHANGES_AN_HOUR = 60;
const ROTATIONS_AN_HOUR = 20;

const now = (): string => 'clock_timestamp()';
const inactiveSince = (): string => 'coalesce(inactive_since, clock_timestamp())';

/** Endpoints and their secrets, as seen by their workspace. */
@Injectable()
export class WebhookRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: Audit,
    private readonly box: EndpointSecrets,
    private readonly lanes: LaneRepository,
  ) {}

  /** The workspace's endpoint with the secrets that sign; null where it has none. */
  async find(organizationId: string): Promise<WebhookEndpointEntity | null> {
    return this.endpoints
      .createQueryBuilder('endpoint')
      .leftJoinAndSelect(
        'endpoint.secrets',
        'secret',
        'secret.expires_at is null or secret.expires_at > clock_timestamp()',
      )
      .where({ organizationId, deletedAt: IsNull() })
      .getOne();
  }

  /** What deliveries to the workspace's endpoint need; null where it has none. */
  async findSigning(organizationId: string): Promise<SigningEndpoint | null> {
    const endpoint = await this.endpoints
      .createQueryBuilder('endpoint')
      .addSelect('endpoint.headersCiphertext')
      .leftJoinAndSelect(
        'endpoint.secrets',
        'secret',
        'secret.expires_at is null or secret.expires_at > clock_timestamp()',
      )
      .addSelect('secret.ciphertext')
      .where({ organizationId, deletedAt: IsNull() })
      .orderBy('secret.createdAt', 'DESC')
      .addOrderBy('secret.id', 'DESC')
      .getOne();
    if (endpoint === null) return null;
    const { id, url, headersCiphertext, secrets } = endpoint;
    return {
      id,
      organizationId,
      url,
      headers: headersCiphertext?.toString('base64') ?? null,
      secrets: secrets.map((secret) => ({ id: secret.id, sealed: secret.ciphertext.toString('base64') })),
    };
  }

  /** The endpoints of those workspaces that have one, by workspace. */
  async idsOf(organizationIds: readonly string[]): Promise<Map<string, string>> {
    const found = await this.endpoints.find({
      select: { id: true, organizationId: true },
      where: { organizationId: In(organizationIds), deletedAt: IsNull() },
    });
    return new Map(found.map((endpoint) => [endpoint.organizationId, endpoint.id]));
  }

  /** The ids that are not numbers of the workspace. */
  async unknownConnections(organizationId: string, ids: readonly string[]): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `select wanted.id from unnest($2::uuid[]) as wanted (id)
       where not exists (select from connection c where c.organization_id = $1 and c.id = wanted.id)`,
      [organizationId, ids],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Creates the workspace's endpoint with this secret, or changes the existing one, which keeps its secret. Of several
   * concurrent calls one creates it. A change enables a disabled endpoint again.
   *
   * @returns whether it was created, and its present state, read before the commit so that nothing can fail after it.
   * @throws RATE_LIMITED (429) where the workspace made too many changes, WEBHOOK_SECRET_DIFFERS (400).
   */
  async put(
    organizationId: string,
    id: string,
    settings: EndpointSettings,
    secret: SealedSecret,
  ): Promise<{ created: boolean; endpoint: WebhookEndpointEntity }> {
    return this.database.transaction(async () => {
      await this.lock(organizationId);
      const changed = await this.change(organizationId, settings);
      const created = changed === null;
      if (created) await this.create(organizationId, id, settings, secret);
      else if (settings.secret !== undefined) await this.requireSecret(organizationId, settings.secret);
      const endpoint = await this.find(organizationId);
      if (endpoint === null) throw new Error('the endpoint that was written is not there');
      const { id: target, url, events, active, connectionIds, headerNames } = endpoint;
      // The path may contain a secret of the receiver.
      const details = {
        origin: new URL(url).origin,
        events,
        active,
        ...(connectionIds.length > 0 && { connection_ids: connectionIds }),
        ...(headerNames.length > 0 && { header_names: headerNames }),
      };
      const action = created ? 'webhook.created' : 'webhook.changed';
      if (changed !== false) {
        await this.requireFew(organizationId, ['webhook.created', 'webhook.changed'], CHANGES_AN_HOUR);
        await this.audit.record({ action, organizationId, target, details });
      }
      return { created, endpoint };
    });
  }

  /** Marks the endpoint as deleted and deletes its secrets and headers; returns its id, or null where there is none. */
  async remove(organizationId: string): Promise<string | null> {
    return this.database.transaction(async () => {
      await this.lock(organizationId);
      const endpointId = await this.update(organizationId, {
        deletedAt: now,
        active: false,
        inactiveSince,
        headerNames: [],
        headersCiphertext: null,
      });
      if (endpointId === null) return null;
      await this.secrets.delete({ organizationId, endpointId });
      await this.audit.record({ action: 'webhook.removed', organizationId, target: endpointId });
      // The days without an endpoint and without a reader start now.
      await this.database.execute('update event_recording set read_at = clock_timestamp() where organization_id = $1', [
        organizationId,
      ]);
      return endpointId;
    });
  }

  /**
   * Makes this the current secret. The replaced secret signs for one more day. Returns false where there is no
   * endpoint.
   *
   * @throws RATE_LIMITED (429) where the workspace replaced its secret too often.
   */
  async rotate(organizationId: string, secret: SealedSecret): Promise<boolean> {
    return this.database.transaction(async () => {
      const endpointId = await this.update(organizationId, { updatedAt: now });
      if (endpointId === null) return false;
      await this.requireFew(organizationId, ['webhook.secret_rotated'], ROTATIONS_AN_HOUR);
      const expiresAt = (): string => `clock_timestamp() + make_interval(hours => ${OVERLAP_HOURS})`;
      await this.secrets.update({ organizationId, endpointId, expiresAt: IsNull() }, { expiresAt });
      await this.secrets.insert({ ...secret, organizationId, endpointId });
      const kept = await this.secrets.find({
        select: { id: true },
        where: { organizationId, endpointId },
        order: { createdAt: 'DESC', id: 'DESC' },
        take: MAX_SECRETS,
      });
      await this.secrets.delete({ organizationId, endpointId, id: Not(In(kept.map(({ id }) => id))) });
      await this.audit.record({ action: 'webhook.secret_rotated', organizationId, target: endpointId });
      return true;
    });
  }

  private async requireSecret(organizationId: string, given: string): Promise<void> {
    const { id, ciphertext } = await this.secrets.findOneOrFail({
      select: { id: true, ciphertext: true },
      where: { organizationId, expiresAt: IsNull(), endpoint: { organizationId, deletedAt: IsNull() } },
    });
    const known = this.box.open(organizationId, id, ciphertext.toString('base64'));
    if (!isSameText(given, known)) throw webhookErrors.WEBHOOK_SECRET_DIFFERS();
  }

  /** Makes the ambient transaction, until its end, the only one that creates, changes or deletes the endpoint. */
  private async lock(organizationId: string): Promise<void> {
    await this.database.query(`select pg_advisory_xact_lock(hashtextextended('webhook ' || $1, 0))`, [organizationId]);
  }

  /**
   * Refuses a change where the workspace made too many. The caller has locked the endpoint's row, so no other change is
   * recorded meanwhile.
   */
  private async requireFew(organizationId: string, actions: AuditAction[], perHour: number): Promise<void> {
    const retryAfterSeconds = await this.audit.secondsUntilNext(organizationId, actions, perHour);
    if (retryAfterSeconds > 0) throw ratesErrors.RATE_LIMITED({ retryAfterSeconds, scope: 'webhook_changes' });
  }

  private async create(
    organizationId: string,
    id: string,
    { url, events, active = true, connectionIds, headers }: EndpointSettings,
    secret: SealedSecret,
  ): Promise<void> {
    await this.endpoints.insert({
      id,
      organizationId,
      url,
      events: events ?? [...MESSAGE_EVENTS],
      active,
      connectionIds: connectionIds ?? [],
      ...this.sealed(organizationId, id, headers ?? {}),
      inactiveSince: active ? null : now,
    });
    await this.secrets.insert({ ...secret, organizationId, endpointId: id });
  }

  /** Whether any value changed; null: there is no endpoint. */
  private async change(organizationId: string, settings: EndpointSettings): Promise<boolean | null> {
    const { url, events, connectionIds } = settings;
    const known = await this.endpoints.findOne({
      where: { organizationId, deletedAt: IsNull() },
      lock: { mode: 'pessimistic_write' },
    });
    if (known === null) return null;
    const { active = known.active } = settings;
    // Header values are never shown, so a caller who may set the address must not be able to redirect them.
    const headers = settings.headers ?? (new URL(known.url).origin === new URL(url).origin ? undefined : {});
    const sameHeaders = headers === undefined || (await this.hasHeaders(known, headers));
    await this.update(organizationId, {
      url,
      active,
      events,
      connectionIds,
      ...(headers && this.sealed(organizationId, known.id, headers)),
      revision: () => 'revision + 1',
      disabledReason: null,
      failingSince: null,
      lastFailureAt: null,
      inactiveSince: active ? null : inactiveSince,
      updatedAt: now,
    });
    await this.lanes.resume(webhookLaneOf(known.id));
    const before = { url: known.url, active: known.active, events: known.events, connectionIds: known.connectionIds };
    const after = { url, active, events: events ?? known.events, connectionIds: connectionIds ?? known.connectionIds };
    return known.disabledReason !== null || !sameHeaders || !isDeepStrictEqual(before, after);
  }

  private async hasHeaders({ id, organizationId }: WebhookEndpointEntity, headers: WebhookHeaders): Promise<boolean> {
    const select = { id: true, headersCiphertext: true };
    const { headersCiphertext } = await this.endpoints.findOneOrFail({ select, where: { organizationId, id } });
    const known = this.box.openHeaders(organizationId, id, headersCiphertext?.toString('base64') ?? null);
    return isDeepStrictEqual({ ...known }, { ...headers });
  }

  private sealed(organizationId: string, id: string, headers: WebhookHeaders) {
    return {
      headerNames: Object.keys(headers),
      headersCiphertext: this.box.sealHeaders(organizationId, id, headers),
    };
  }

  /** Changes the workspace's endpoint; returns its id, or null where there is none. */
  private async update(
    organizationId: string,
    changes: QueryDeepPartialEntity<WebhookEndpointEntity>,
  ): Promise<string | null> {
    const { raw } = await this.endpoints
      .createQueryBuilder()
      .update()
      .set(changes)
      .where({ organizationId, deletedAt: IsNull() })
      .returning('id')
      .execute();
    return (raw as { id: string }[])[0]?.id ?? null;
  }

  private get endpoints(): Repository<WebhookEndpointEntity> {
    return this.database.repository(WebhookEndpointEntity);
  }

  private get secrets(): Repository<WebhookSecretEntity> {
    return this.database.repository(WebhookSecretEntity);
  }
}
