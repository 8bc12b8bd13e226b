import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { insertStatusEvents, MOVED_COLUMNS } from '../reports/message-event-sql.js';
import { queueTakes } from '../message-state.js';

const BATCH = 2_000;
const COUNT_LIMIT = 1_000_000;

/** Messages of a restored backup that may have been sent in the time which it does not know of. */
@Injectable()
export class RestoreRepository {
  constructor(private readonly database: Database) {}

  /** Counted up to a million. */
  async count(before: Date): Promise<number> {
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::integer as count from (
         select 1 from message_queue q where ${queueTakes('restored')} and queued_at < $1 limit ${COUNT_LIMIT}) as counted`,
      [before],
    );
    return rows[0]?.count ?? 0;
  }

  /** Turns them into `outcome_unknown` and closes their attempts, in the ambient transaction; returns how many. */
  async mark(before: Date): Promise<number> {
    let marked = 0;
    let after = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const rows = await this.database.query<{ message_id: string }>(MARK, [before, after, BATCH]);
      const last = rows.at(-1);
      if (last === undefined) return marked;
      marked += rows.length;
      after = last.message_id;
    }
  }
}

// By their ids, going on behind the last batch: the rows left behind are dead until the commit.
const MARK = `
with doubtful as (
  select * from message_queue q
  where ${queueTakes('restored')} and queued_at < $1 and message_id > $2
  order by message_id limit $3 for update
), gone as (
  delete from message_queue where message_id = any(array(select message_id from doubtful))
), moved as (
  insert into message_state as s (message_id, organization_id, connection_id, conversation_id, created_at, status,
    event_count, queued_at, processing_at, error_code, error_message, attempt_id, attempt_number, attempt_status,
    attempt_finished_at)
  select message_id, organization_id, connection_id, conversation_id, created_at, 'outcome_unknown', event_count + 1,
    queued_at, claimed_at, 'RESTORED',
    'The database was restored from a backup; whether the message was sent before is not known.', attempt_id,
    attempt_number, case when attempt_id is not null then 'unknown' end,
    case when attempt_id is not null then clock_timestamp() end
  from doubtful
  returning ${MOVED_COLUMNS}, case when s.attempt_id is null then 'queued' else 'processing' end as previous_status,
    clock_timestamp() as occurred_at
), announced as (
  ${insertStatusEvents('moved')}
)
select message_id from doubtful order by message_id`;
