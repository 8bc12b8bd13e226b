import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { insertStatusEvents, MOVED_COLUMNS } from './message-event-sql.js';
import { statesThatTake } from './message-state.js';

interface Place {
  connection_id: string;
  recipient: string;
  seq: string;
}

const BATCH = 2_000;
const COUNT_LIMIT = 1_000_000;
const FROM_STATES = statesThatTake('restored')
  .map((status) => `'${status}'`)
  .join(', ');

/** Messages of a restored backup that may have been sent in the time which it does not know of. */
@Injectable()
export class RestoreRepository {
  constructor(private readonly database: Database) {}

  /** Counted up to a million. */
  async count(before: Date): Promise<number> {
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::integer as count from (
         select 1 from message where status in (${FROM_STATES}) and queued_at < $1 limit ${COUNT_LIMIT}) as counted`,
      [before],
    );
    return rows[0]?.count ?? 0;
  }

  /** Turns them into `outcome_unknown` and closes their attempts, in the ambient transaction; returns how many. */
  async mark(before: Date): Promise<number> {
    let marked = 0;
    let after: Place = { connection_id: '00000000-0000-0000-0000-000000000000', recipient: '', seq: '0' };
    for (;;) {
      const rows = await this.database.query<Place>(MARK, [
        before,
        after.connection_id,
        after.recipient,
        after.seq,
        BATCH,
      ]);
      const last = rows.at(-1);
      if (last === undefined) return marked;
      marked += rows.length;
      after = last;
    }
  }
}

// In the order of the lanes' index, going on behind the last batch: the rows left behind are dead until the commit.
const MARK = `
with doubtful as (
  select id, connection_id, recipient, seq, status, current_attempt_id from message
  where status in (${FROM_STATES}) and queued_at < $1 and (connection_id, recipient, seq) > ($2::uuid, $3::text, $4::bigint)
  order by connection_id, recipient, seq limit $5 for update
), moved as (
  update message m set status = 'outcome_unknown', lease_until = null, next_attempt_at = null, failure_category = null,
    error_code = 'RESTORED',
    error_message = 'The database was restored from a backup; whether the message was sent before is not known.',
    event_count = m.event_count + 1
  from doubtful where m.id = doubtful.id
  returning ${MOVED_COLUMNS}, doubtful.status as previous_status, clock_timestamp() as occurred_at
), closed as (
  update message_attempt a set status = 'unknown', finished_at = clock_timestamp()
  from doubtful where a.id = doubtful.current_attempt_id and a.status = 'started'
), announced as (
  ${insertStatusEvents('moved')}
)
select connection_id, recipient, seq from doubtful order by connection_id, recipient, seq`;
