import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { ErasureBatch, Subject } from '../../platform/erasure/erasure.js';

const PAGE = 500;

/**
 * The platform's notifications as they came, kept for a time after they were applied. They belong to no workspace: one
 * may tell of several. Whichever has the number in it goes as a whole; nothing is lost by that, for it is applied.
 */
@Injectable()
export class NotificationErasureRepository {
  constructor(private readonly database: Database) {}

  async batch(subject: Subject, cursor: string | null, erase: boolean): Promise<ErasureBatch> {
    const rows = await this.database.query<{ ids: string[] | null; passed: number; last: string | null }>(FIND, [
      cursor ?? '00000000-0000-0000-0000-000000000000',
      PAGE,
      namesOf(subject),
    ]);
    const { ids = null, passed = 0, last = null } = rows[0] ?? {};
    if (erase && ids !== null) {
      await this.database.execute(
        `delete from platform_notification where id = any($1::uuid[]) and state <> 'stored'`,
        [ids],
      );
    }
    return { found: { notifications: ids?.length ?? 0 }, cursor: passed < PAGE ? null : last };
  }

  /** Those that name the contact and are not applied yet. */
  async countWaiting(subject: Subject): Promise<number> {
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::integer as count from platform_notification n where n.state = 'stored' and ${NAMES('n', '$1')}`,
      [namesOf(subject)],
    );
    return rows[0]?.count ?? 0;
  }
}

function namesOf({ numbers, userIds }: Subject): Buffer[] {
  return [...numbers, ...userIds].map((name) => Buffer.from(name, 'utf8'));
}

const NAMES = (row: string, names: string): string =>
  `exists (select from unnest(${names}::bytea[]) as name where position(name in ${row}.body) > 0)`;

const FIND = `
with page as materialized (
  select id, state, body from platform_notification where id > $1 order by id limit $2
), hit as (
  select id from page where state <> 'stored' and ${NAMES('page', '$3')}
)
select (select array_agg(id) from hit) as ids, (select count(*)::integer from page) as passed,
  (select id from page order by id desc limit 1) as last`;
