import { Injectable } from '@nestjs/common';
import { In, IsNull } from 'typeorm';
import { Database } from '../../../infrastructure/database/database.js';
import type { ListCursor } from '../../../infrastructure/http/page.query.js';
import { OperatorKeyEntity } from '../entities/operator-key.entity.js';

/** A key as shown to operators, without its secret. */
export type OperatorKey = Omit<OperatorKeyEntity, 'secretHash'>;

/** Which operator keys to list, newest first. */
export interface OperatorKeyFilter extends ListCursor {
  limit: number;
  /** Only keys that are limited to workspaces among these; null: all keys. */
  only: readonly string[] | null;
}

/** The stored facts against which a request's operator key is checked. */
export type StoredOperatorKey = Pick<OperatorKeyEntity, 'id' | 'secretHash' | 'scopes' | 'workspaceIds'> & {
  revoked: boolean;
  /** Milliseconds until the key expires, by the database's clock; null: never. */
  expiresInMs: number | null;
};

/** The only place with SQL on the table `operator_key`. */
@Injectable()
export class OperatorKeysRepository {
  constructor(private readonly database: Database) {}

  async insert(
    row: Pick<OperatorKeyEntity, 'id' | 'name' | 'secretHash' | 'scopes' | 'workspaceIds' | 'expiresAt'>,
  ): Promise<void> {
    await this.table.insert(row);
  }

  findById(id: string): Promise<OperatorKey | null> {
    return this.table.findOneBy({ id });
  }

  /**
   * Reads keys and locks them until the ambient transaction, which changes one of them, has ended. The keys are locked
   * in the order of their ids, so that two transactions never wait for each other.
   */
  lock(ids: readonly string[]): Promise<OperatorKey[]> {
    return this.table.find({ where: { id: In(ids) }, order: { id: 'ASC' }, lock: { mode: 'for_no_key_update' } });
  }

  /** All operator keys, oldest first. */
  list(): Promise<OperatorKey[]> {
    return this.table.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** One page of operator keys, newest first, including expired and revoked ones. */
  page({ limit, before, beforeId, only }: OperatorKeyFilter): Promise<OperatorKey[]> {
    const query = this.table.createQueryBuilder('k').where('true');
    if (before !== null && beforeId !== null)
      query.andWhere('(k.created_at, k.id) < (:before, :beforeId)', { before, beforeId });
    else if (before !== null) query.andWhere('k.created_at < :before', { before });
    if (only !== null) query.andWhere('k.workspace_ids <@ :only::uuid[]', { only });
    return query.orderBy('k.createdAt', 'DESC').addOrderBy('k.id', 'DESC').limit(limit).getMany();
  }

  async revoke(id: string): Promise<void> {
    await this.table.update({ id, revokedAt: IsNull() }, { revokedAt: () => 'clock_timestamp()' });
  }

  /** Lets the key expire in `seconds`, unless it expires earlier. */
  async expireIn(id: string, seconds: number): Promise<void> {
    await this.database.execute(
      `update operator_key set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $2))
       where id = $1`,
      [id, seconds],
    );
  }

  /** One stored key per id, in the same order; null where there is none. */
  async readStored(ids: readonly string[]): Promise<(StoredOperatorKey | null)[]> {
    const rows = await this.database.query<StoredOperatorKey>(
      `select id, secret_hash as "secretHash", scopes, workspace_ids::text[] as "workspaceIds",
         revoked_at is not null as revoked,
         (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "expiresInMs"
       from operator_key where id = any($1::text[])`,
      [ids],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /** Sets the time of the last use of each key, at most once a minute for any number of processes. */
  async touch(ids: readonly string[]): Promise<void> {
    await this.database.execute(
      `update operator_key set last_used_at = clock_timestamp()
       where id = any($1::text[]) and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`,
      [ids],
    );
  }

  private get table() {
    return this.database.repository(OperatorKeyEntity);
  }
}
