import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Removes contents and attempts of every workspace, oldest first, by their ids, which begin with their time. */
@Injectable()
export class ContentRetentionRepository {
  /** Where the last batch of a table ended: the index is not read again through what is gone. */
  private readonly places = new Map<string, string>();

  constructor(private readonly database: Database) {}

  /** Removes contents of messages with ids below this one, but of those that wait; returns how many. */
  removeContents(below: string, limit: number): Promise<number> {
    return this.remove(CONTENTS, below, limit);
  }

  /** Removes closed attempts with ids below this one; returns how many. */
  removeAttempts(below: string, limit: number): Promise<number> {
    return this.remove(ATTEMPTS, below, limit);
  }

  private async remove(sql: string, below: string, limit: number): Promise<number> {
    const from = this.places.get(sql) ?? FIRST_ID;
    const rows = await this.database.query<{ removed: number; last: string | null }>(sql, [from, below, limit]);
    const { removed = 0, last = null } = rows[0] ?? {};
    // The next round begins at the start again, for what waited.
    if (removed < limit || last === null) this.places.delete(sql);
    else this.places.set(sql, last);
    return removed;
  }
}

const CONTENTS = `
with gone as (
  delete from message_content where message_id = any(array(
    select c.message_id from message_content c
    where c.message_id > $1 and c.message_id < $2 and not exists (
      select from message_queue q where q.message_id = c.message_id)
    order by c.message_id limit $3))
  returning message_id as id
)
select count(*)::integer as removed, max(id::text) as last from gone`;

const ATTEMPTS = `
with gone as (
  delete from message_attempt where id = any(array(
    select id from message_attempt where id > $1 and id < $2 and status <> 'started' order by id limit $3))
  returning id
)
select count(*)::integer as removed, max(id::text) as last from gone`;
