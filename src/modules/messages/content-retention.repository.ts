import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

const CURSOR = 'message_content';

/** Clears contents of messages of every workspace, oldest first, by their ids, which begin with their time. */
@Injectable()
export class ContentRetentionRepository {
  constructor(private readonly database: Database) {}

  /** Removes closed attempts whose ids, which begin with their time, are below this one; returns how many. */
  removeAttempts(below: string, limit: number): Promise<number> {
    return this.database.execute(
      `delete from message_attempt where id = any(array(
         select id from message_attempt where id < $1 and status <> 'started' order by id limit $2))`,
      [below, limit],
    );
  }

  /** In the ambient transaction: the walk moves on with what it cleared. Returns how many rows it passed. */
  async clear(below: string, limit: number): Promise<number> {
    const rows = await this.database.query<{ passed: number; last_id: string | null }>(CLEAR, [CURSOR, below, limit]);
    const { passed = 0, last_id: lastId = null } = rows[0] ?? {};
    if (lastId !== null) {
      await this.database.execute(
        `insert into retention_cursor (name, last_id) values ($1, $2)
         on conflict (name) do update set last_id = excluded.last_id`,
        [CURSOR, lastId],
      );
    }
    return passed;
  }
}

// A message that still waits, however old, keeps what it has to say, and so does the walk stop before it.
const CLEAR = `
with old as (
  select id, status from message
  where id > coalesce((select last_id from retention_cursor where name = $1), '00000000-0000-0000-0000-000000000000')
    and id < $2
  order by id limit $3
), waiting as (
  select min(id::text)::uuid as id from old where status in ('queued', 'processing')
), passed as (
  select old.id from old, waiting where waiting.id is null or old.id < waiting.id
), cleared as (
  update message m set body = null, content = '{}', inbound_context = null
  from passed where m.id = passed.id and (m.content <> '{}'::jsonb or m.inbound_context is not null)
)
select count(*)::integer as passed, max(id::text)::uuid as last_id from passed`;
