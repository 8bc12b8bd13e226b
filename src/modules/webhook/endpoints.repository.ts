import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { WEBHOOK_EVENTS, type DisabledReason, type WebhookEvent } from './webhook.types.js';

/** A workspace's endpoint without its secrets. */
export interface Endpoint {
  id: string;
  organizationId: string;
  /** Canonical, as `TargetChecker` gave it. */
  url: string;
  events: WebhookEvent[];
  active: boolean;
  disabledReason: DisabledReason | null;
  /** First failed attempt after the last success. */
  failingSince: Date | null;
  /** The current secret's last characters. */
  secretHint: string;
  /** Until when replaced secrets sign as well; null where none does. */
  previousSecretExpiresAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface EndpointSettings {
  url: string;
  /** null: those that it has; all kinds for a new one. */
  events: readonly WebhookEvent[] | null;
  active: boolean;
}

/** A secret as it is stored: sealed for its row. */
export interface SealedSecret {
  id: string;
  ciphertext: Buffer;
  hint: string;
}

interface EndpointRow {
  id: string;
  organization_id: string;
  url: string;
  events: WebhookEvent[];
  active: boolean;
  disabled_reason: DisabledReason | null;
  failing_since: Date | null;
  secret_hint: string;
  previous_secret_expires_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** Hours in which a replaced secret goes on to sign (contract: rotate-secret). */
const OVERLAP_HOURS = 24;
/** Of secrets that were replaced one after the other within the overlap, so many still sign. */
const MOST_SECRETS = 5;
const MAX_TRIES = 3;

/** The tables `webhook_endpoint` and `webhook_secret`, as their workspace sees them. */
@Injectable()
export class EndpointsRepository {
  constructor(private readonly database: Database) {}

  /** Returns null where the workspace has none. */
  async find(organizationId: string): Promise<Endpoint | null> {
    const [row] = await this.database.query<EndpointRow>(FIND, [organizationId]);
    return row === undefined ? null : endpointOf(row);
  }

  /** The endpoints of those workspaces that have one, by workspace. */
  async idsOf(organizationIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.database.query<{ id: string; organization_id: string }>(
      `select id, organization_id from webhook_endpoint where organization_id = any($1::uuid[]) and deleted_at is null`,
      [organizationIds],
    );
    return new Map(rows.map((row) => [row.organization_id, row.id]));
  }

  /**
   * Makes the workspace's endpoint with this secret, or changes the one that it has, which keeps its secret. Of several
   * calls at once one creates. A change makes a disabled endpoint work again.
   *
   * @returns whether it was created, and what it is now: read before the commit, so that nothing can fail after it.
   */
  async put(
    organizationId: string,
    id: string,
    settings: EndpointSettings,
    secret: SealedSecret,
  ): Promise<{ created: boolean; endpoint: Endpoint }> {
    for (let tries = 1; ; tries++) {
      const outcome = await this.database.transaction(async () => {
        const created = await this.create(organizationId, id, settings, secret);
        if (!created && !(await this.change(organizationId, settings))) return null;
        const endpoint = await this.find(organizationId);
        return endpoint === null ? null : { created, endpoint };
      });
      if (outcome !== null) return outcome;
      // It was deleted between the two statements.
      if (tries >= MAX_TRIES) throw new Error('the endpoint is deleted again and again');
    }
  }

  /** Marks the endpoint as deleted and forgets its secrets; returns its id, or null where there is none. */
  async remove(organizationId: string): Promise<string | null> {
    return this.database.transaction(async () => {
      const [row] = await this.database.query<{ id: string }>(
        `update webhook_endpoint set deleted_at = clock_timestamp(), active = false,
           inactive_since = coalesce(inactive_since, clock_timestamp())
         where organization_id = $1 and deleted_at is null returning id`,
        [organizationId],
      );
      if (row === undefined) return null;
      await this.database.execute('delete from webhook_secret where organization_id = $1 and endpoint_id = $2', [
        organizationId,
        row.id,
      ]);
      return row.id;
    });
  }

  /** Makes this the current secret; the replaced one signs for a day more. Returns false where there is no endpoint. */
  async rotate(organizationId: string, secret: SealedSecret): Promise<boolean> {
    return this.database.transaction(async () => {
      const [endpoint] = await this.database.query<{ id: string }>(
        `update webhook_endpoint set updated_at = clock_timestamp()
         where organization_id = $1 and deleted_at is null returning id`,
        [organizationId],
      );
      if (endpoint === undefined) return false;
      const of = [organizationId, endpoint.id];
      await this.database.execute(
        `update webhook_secret set expires_at = clock_timestamp() + make_interval(hours => $3)
         where organization_id = $1 and endpoint_id = $2 and expires_at is null`,
        [...of, OVERLAP_HOURS],
      );
      await this.insertSecret(organizationId, endpoint.id, secret);
      await this.database.execute(
        `delete from webhook_secret where organization_id = $1 and endpoint_id = $2 and (expires_at <= clock_timestamp()
           or id not in (select id from webhook_secret where endpoint_id = $2 order by created_at desc, id desc limit $3))`,
        [...of, MOST_SECRETS],
      );
      return true;
    });
  }

  private async create(
    organizationId: string,
    id: string,
    settings: EndpointSettings,
    secret: SealedSecret,
  ): Promise<boolean> {
    const created = await this.database.execute(
      `insert into webhook_endpoint (id, organization_id, url, events, active, inactive_since)
       values ($1, $2, $3, $4, $5, case when $5 then null else clock_timestamp() end)
       on conflict (organization_id) where deleted_at is null do nothing`,
      [id, organizationId, settings.url, settings.events ?? WEBHOOK_EVENTS, settings.active],
    );
    if (created === 0) return false;
    await this.insertSecret(organizationId, id, secret);
    return true;
  }

  private async change(organizationId: string, settings: EndpointSettings): Promise<boolean> {
    const changed = await this.database.execute(
      `update webhook_endpoint set url = $2, events = coalesce($3, events), active = $4, revision = revision + 1,
         disabled_reason = null, failing_since = null, last_failure_at = null, rests_until = null, rests = 0,
         inactive_since = case when $4 then null else coalesce(inactive_since, clock_timestamp()) end,
         updated_at = clock_timestamp()
       where organization_id = $1 and deleted_at is null`,
      [organizationId, settings.url, settings.events, settings.active],
    );
    return changed > 0;
  }

  private async insertSecret(organizationId: string, endpointId: string, secret: SealedSecret): Promise<void> {
    await this.database.execute(
      `insert into webhook_secret (id, organization_id, endpoint_id, ciphertext, hint) values ($1, $2, $3, $4, $5)`,
      [secret.id, organizationId, endpointId, secret.ciphertext, secret.hint],
    );
  }
}

function endpointOf(row: EndpointRow): Endpoint {
  return {
    id: row.id,
    organizationId: row.organization_id,
    url: row.url,
    events: row.events,
    active: row.active,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since,
    secretHint: row.secret_hint,
    previousSecretExpiresAt: row.previous_secret_expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const FIND = `
select e.id, e.organization_id, e.url, e.events, e.active, e.disabled_reason, e.failing_since, e.created_at, e.updated_at,
  (select s.hint from webhook_secret s where s.endpoint_id = e.id and s.expires_at is null) as secret_hint,
  (select max(s.expires_at) from webhook_secret s
   where s.endpoint_id = e.id and s.expires_at > clock_timestamp()) as previous_secret_expires_at
from webhook_endpoint e where e.organization_id = $1 and e.deleted_at is null`;
