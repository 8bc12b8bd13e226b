import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { Database } from '../../infrastructure/database/database.js';
import type { ListCursor } from '../../infrastructure/http/page.query.js';
import { SetupLinkEntity } from './entities/setup-link.entity.js';
import type { SetupLink, SetupStep, StepState } from './setup.types.js';

/** A filter of a workspace's links, newest first. */
export interface LinkFilter extends ListCursor {
  limit: number;
}

/** The fields of a link that steps need, including sealed secrets. */
export type StoredLink = SetupLink & Pick<SetupLinkEntity, 'accessTokenCiphertext' | 'continuationHash'>;

/** SQL condition: a link has expired and still has an account's token. */
export const HAS_SPARE_TOKEN = `access_token_ciphertext is not null and expires_at < clock_timestamp()
  and (busy_until is null or busy_until < clock_timestamp())`;

/** The only place with SQL on the table `setup_link`. */
@Injectable()
export class SetupRepository {
  constructor(private readonly database: Database) {}

  async insert(link: Omit<SetupLink, 'createdAt'> & Pick<SetupLinkEntity, 'tokenHash'>): Promise<void> {
    await this.table.insert(link);
  }

  findById(organizationId: string, id: string): Promise<SetupLink | null> {
    return this.table.findOneBy({ organizationId, id });
  }

  /** Like `findById`, and locks the row until the ambient transaction ends. */
  lock(organizationId: string, id: string): Promise<SetupLink | null> {
    return this.table.findOne({ where: { organizationId, id }, lock: { mode: 'pessimistic_write' } });
  }

  /** Finds a link of any workspace: the caller has only the link itself. */
  findByToken(tokenHash: Buffer): Promise<StoredLink | null> {
    return this.table
      .createQueryBuilder('link')
      .addSelect(['link.accessTokenCiphertext', 'link.continuationHash'])
      .where('link.token_hash = :tokenHash', { tokenHash })
      .getOne();
  }

  page(organizationId: string, { limit, before, beforeId }: LinkFilter): Promise<SetupLink[]> {
    const query = this.table
      .createQueryBuilder('link')
      .where('link.organization_id = :organizationId', { organizationId });
    if (before !== null && beforeId !== null)
      query.andWhere('(link.created_at, link.id) < (:before, :beforeId)', { before, beforeId });
    else if (before !== null) query.andWhere('link.created_at < :before', { before });
    return query.orderBy('link.createdAt', 'DESC').addOrderBy('link.id', 'DESC').limit(limit).getMany();
  }

  async noteOpened(id: string): Promise<void> {
    await this.table.update({ id, openedAt: IsNull() }, { openedAt: () => 'clock_timestamp()' });
  }

  async revoke(id: string): Promise<void> {
    const change = { revokedAt: () => 'clock_timestamp()', accessTokenCiphertext: null };
    await this.table.update({ id, revokedAt: IsNull() }, change);
  }

  /** Begins a step of a link, for at most `seconds`. Returns false where another step is running. */
  async begin(id: string, seconds: number): Promise<boolean> {
    const begun = await this.table
      .createQueryBuilder()
      .update()
      .set({ busyUntil: () => 'clock_timestamp() + make_interval(secs => :seconds)' })
      .where('id = :id and (busy_until is null or busy_until < clock_timestamp())', { id, seconds })
      .execute();
    return begun.affected === 1;
  }

  async end(id: string): Promise<void> {
    await this.table.update({ id }, { busyUntil: null });
  }

  /**
   * Records the result of a step, and other changes. If `change` has `steps`, they replace the results of all other
   * steps. Returns false, and stores nothing, where the link was revoked meanwhile.
   */
  async note(id: string, step: SetupStep, state: StepState, change: Partial<SetupLinkEntity> = {}): Promise<boolean> {
    const { steps, ...others } = change;
    const before = steps === undefined ? 'steps' : `'{}'::jsonb`;
    const noted = await this.table
      .createQueryBuilder()
      .update()
      .set({ ...others, steps: () => `${before} || :state::jsonb` })
      .where('id = :id and revoked_at is null', { id, state: JSON.stringify({ ...steps, [step]: state }) })
      .execute();
    return noted.affected === 1;
  }

  async complete(id: string, connectionId: string, continuationHash: Buffer): Promise<void> {
    const completedAt = () => 'clock_timestamp()';
    await this.table.update({ id }, { completedAt, connectionId, continuationHash, accessTokenCiphertext: null });
  }

  /** Deletes the tokens of at most `limit` ended links. Returns how many. */
  clearTokens(limit: number): Promise<number> {
    return this.database.execute(
      `update setup_link set access_token_ciphertext = null
       where id = any(array(select id from setup_link where ${HAS_SPARE_TOKEN} order by expires_at limit $1))`,
      [limit],
    );
  }

  private get table() {
    return this.database.repository(SetupLinkEntity);
  }
}
