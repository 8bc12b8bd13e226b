import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { NO_MARK } from '../../../infrastructure/lanes/lane.repository.js';
import { READY } from './claim-sql.js';

const CHECK_EVERY_MS = 60_000;

/**
 * The low-water marks of the lanes: `lane.low_at` and `low_seq`, before which nothing stands that has been due since it
 * was accepted. By them claims and sweeps pass over the rows that are gone without reading them, however many another
 * transaction keeps from being removed.
 *
 * A mark moves up to fifteen seconds behind the clock, longer than an INSERT may take. Whatever is passed all the same,
 * as by a commit that stalled for longer or a clock that stepped back, a check finds, once a minute: it takes the mark
 * of that lane back.
 */
@Injectable()
export class LowWaterMarks {
  private checkedAt = -Infinity;

  constructor(private readonly database: Database) {}

  /** Moves the marks of lanes in use; returns how many. */
  async move(): Promise<number> {
    if (performance.now() - this.checkedAt >= CHECK_EVERY_MS) {
      this.checkedAt = performance.now();
      await this.check();
    }
    return this.database.execute(MOVE);
  }

  /** Takes back the marks of lanes where something stands before them; returns how many. */
  check(): Promise<number> {
    return this.database.execute(CHECK);
  }
}

// A row accepted after `seen_at` has a higher place than `seen_seq`, for it takes its time first and its place then.
// So that place becomes the mark's as soon as the time of the mark is not before it.
// A lane that was not drained since stays as it is: it costs no write.
const MOVE = `
with sequence as materialized (
  select last_value from message_queue_seq_seq
), old as materialized (
  select l.key, l.low_at from lane l join connection c on c.id::text = l.key
  where l.low_at < statement_timestamp() - interval '20 seconds' and l.low_at < l.next_slot_at
  order by l.key for no key update of l skip locked
), found as materialized (
  select old.key, least(statement_timestamp() - interval '15 seconds',
    (select q.created_at from message_queue q where q.connection_id = old.key::uuid and q.created_at >= old.low_at
       and ${READY} order by q.connection_id, q.created_at limit 1)) as low_at
  from old
)
update lane l set low_at = found.low_at,
  low_seq = case when found.low_at >= l.seen_at then greatest(l.low_seq, l.seen_seq) else l.low_seq end,
  seen_seq = case when found.low_at >= l.seen_at or l.seen_at = 'infinity' then last_value else l.seen_seq end,
  seen_at = case when found.low_at >= l.seen_at or l.seen_at = 'infinity' then clock_timestamp() else l.seen_at end
from found cross join sequence
where l.key = found.key and found.low_at > l.low_at`;

// Deferred messages are found without the mark, but only after those in front of it: where there are always enough of
// these, one that has been due for long has its turn once all are looked at again.
const CHECK = `
with passed as materialized (
  select l.key from lane l join connection c on c.id::text = l.key
  where l.low_at > '-infinity' and (
    exists (select 1 from message_queue q where q.connection_id = c.id and q.created_at < l.low_at and ${READY})
    or exists (select 1 from message_queue q where q.connection_id = c.id and q.seq < l.low_seq and ${READY})
    or exists (select 1 from message_queue q where q.connection_id = c.id and q.seq < l.low_seq
      and q.next_attempt_at < statement_timestamp() - interval '1 minute'))
  order by l.key for no key update of l
)
update lane l set ${NO_MARK} from passed where l.key = passed.key`;
