import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { Database } from '../../infrastructure/database/database.js';
import type { ListCursor } from '../../infrastructure/http/page.query.js';
import type { OtpMode, OtpProjectOfKey } from './caller.decorator.js';
import { ApiKeyEntity } from './entities/api-key.entity.js';

/** A key as shown to its workspace, without its secret. */
export type ApiKey = Omit<ApiKeyEntity, 'secretHash'>;

/** Which keys of a workspace to list, newest first. */
export interface KeyFilter extends ListCursor {
  limit: number;
}

/** The stored facts against which a request's key is checked. */
export interface StoredKey extends Pick<ApiKeyEntity, 'id' | 'organizationId' | 'secretHash' | 'otpProjectId'> {
  scopes: string[];
  revoked: boolean;
  /** Milliseconds until the key expires, by the database's clock; null: never. */
  expiresInMs: number | null;
  apiPaidUntil: Date | null;
  /** Whether the workspace has limits on sending. */
  limited: boolean;
  ratePerSecond: number | null;
  rateBurst: number | null;
  otpMode: OtpMode | null;
}

/** What a caller learns of its own key, besides scopes and rate. */
export interface KeyOfCaller {
  name: string;
  expiresAt: Date | null;
  workspaceName: string;
  otpProject: { id: string; name: string; mode: OtpMode } | null;
}

export type EndingKey = Pick<ApiKeyEntity, 'id' | 'organizationId' | 'name' | 'expiresAt'>;

/** SQL condition: a key expires within seven days, and no notice of this expiry was given. */
export const KEYS_ENDING = `revoked_at is null and end_noted_for is distinct from expires_at
  and expires_at > now() and expires_at < now() + interval '7 days'`;

/** The only place with SQL on the table `api_key`. Ids of keys are unique over all workspaces. */
@Injectable()
export class ApiKeysRepository {
  constructor(private readonly database: Database) {}

  async insert(
    row: Pick<ApiKeyEntity, 'id' | 'organizationId' | 'name' | 'secretHash' | 'scopes' | 'expiresAt' | 'otpProjectId'>,
  ) {
    await this.table.insert(row);
  }

  findOf(organizationId: string, id: string): Promise<ApiKey | null> {
    return this.table.findOneBy({ organizationId, id });
  }

  findById(id: string): Promise<ApiKey | null> {
    return this.table.findOneBy({ id });
  }

  /** Finds a key like `findById`, and locks it for a change in the ambient transaction. */
  lock(id: string): Promise<ApiKey | null> {
    return this.table.findOne({ where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /** All keys of the workspace, oldest first. */
  list(organizationId: string): Promise<ApiKey[]> {
    return this.table.find({ where: { organizationId }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** One page of the workspace's keys, newest first, including expired and revoked ones. */
  page(organizationId: string, { limit, before, beforeId }: KeyFilter): Promise<ApiKey[]> {
    const query = this.table.createQueryBuilder('k').where('k.organization_id = :organizationId', { organizationId });
    if (before !== null && beforeId !== null)
      query.andWhere('(k.created_at, k.id) < (:before, :beforeId)', { before, beforeId });
    else if (before !== null) query.andWhere('k.created_at < :before', { before });
    return query.orderBy('k.createdAt', 'DESC').addOrderBy('k.id', 'DESC').limit(limit).getMany();
  }

  async update(id: string, change: Pick<ApiKeyEntity, 'name' | 'scopes' | 'expiresAt'>): Promise<void> {
    await this.table.update({ id }, change);
  }

  /** Finds an OTP project; null where the workspace has no such project. */
  findProject(organizationId: string, id: string): Promise<OtpProjectOfKey | null> {
    return this.database.find<OtpProjectOfKey & Record<string, unknown>>(
      'select id, mode from otp_project where organization_id = $1 and id = $2',
      [organizationId, id],
    );
  }

  async revoke(id: string): Promise<void> {
    await this.table.update({ id, revokedAt: IsNull() }, { revokedAt: () => 'clock_timestamp()' });
  }

  /**
   * Lets the key expire in `seconds`, unless it expires earlier. Returns the time of the expiry. `takeEnding` gives no
   * notice of this expiry.
   */
  async expireIn(id: string, seconds: number): Promise<Date> {
    const { expiresAt } = await this.database.row<{ expiresAt: Date }>(
      `update api_key k set expires_at = ending.at, end_noted_for = ending.at
       from (select least(expires_at, clock_timestamp() + make_interval(secs => $2)) as at from api_key where id = $1) ending
       where k.id = $1 returning k.expires_at as "expiresAt"`,
      [id, seconds],
    );
    return expiresAt;
  }

  /**
   * Returns at most `limit` keys that expire soon, each once per expiry. Runs in the ambient transaction.
   */
  takeEnding(limit: number): Promise<EndingKey[]> {
    return this.database.query<EndingKey>(
      `update api_key k set end_noted_for = k.expires_at from (
         select id from api_key where ${KEYS_ENDING} order by expires_at limit $1 for no key update skip locked) due
       where k.id = due.id
       returning k.id, k.organization_id as "organizationId", k.name, k.expires_at as "expiresAt"`,
      [limit],
    );
  }

  /** One stored key per id, in the same order; null where there is none. */
  async readStored(ids: readonly string[]): Promise<(StoredKey | null)[]> {
    const rows = await this.database.query<StoredKey>(
      `select k.id, k.organization_id as "organizationId", k.secret_hash as "secretHash", k.scopes,
         k.revoked_at is not null as revoked,
         (extract(epoch from k.expires_at - clock_timestamp()) * 1000)::float8 as "expiresInMs",
         o.api_paid_until as "apiPaidUntil",
         num_nonnulls(o.messages_per_day, o.spend_per_month, o.marketing_per_recipient_per_week) > 0 as limited,
         o.rate_per_second as "ratePerSecond", o.rate_burst as "rateBurst",
         p.id as "otpProjectId", p.mode as "otpMode"
       from api_key k join organization o on o.id = k.organization_id left join otp_project p on p.id = k.otp_project_id
       where k.id = any($1::text[])`,
      [ids],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /** What a caller learns of its own key; null where the key is gone by now. */
  describe(organizationId: string, id: string): Promise<KeyOfCaller | null> {
    return this.database.find<KeyOfCaller>(
      `select k.name, k.expires_at as "expiresAt", o.name as "workspaceName",
         case when p.id is not null then jsonb_build_object('id', p.id, 'name', p.name, 'mode', p.mode) end as "otpProject"
       from api_key k join organization o on o.id = k.organization_id left join otp_project p on p.id = k.otp_project_id
       where k.organization_id = $1 and k.id = $2`,
      [organizationId, id],
    );
  }

  /** Sets the time of the last use of each key, at most once a minute for any number of processes. */
  async touch(ids: readonly string[]): Promise<void> {
    await this.database.execute(
      `update api_key k set last_used_at = clock_timestamp()
       from (
         select id from api_key
         where id = any($1::text[])
           and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')
         order by id for update skip locked
       ) due
       where k.id = due.id`,
      [ids],
    );
  }

  private get table() {
    return this.database.repository(ApiKeyEntity);
  }
}
