import type { Database } from '../../database/database.js';
import type { GaugeSource } from './metrics.js';

const KINDS = ['session', 'prepared', 'slot'] as const;

/** For how long removed rows have been kept from vacuum; read from the database, the same in every process. */
export function oldestXmin(database: Database): GaugeSource {
  const times = new TransactionTimes();
  return {
    name: 'database_oldest_xmin_seconds',
    help:
      'Age of the oldest open transaction that keeps the database from clearing rows away: a session, a prepared transaction, ' +
      'or what a replication slot holds, as far back as this process was asked.',
    labelNames: ['holder'],
    collect: async () => {
      const { xid } = await database.row<{ xid: number }>(
        'select pg_snapshot_xmax(pg_current_snapshot())::text::float8 as xid',
      );
      const holders = await database.query<Holder>(VACUUM_HORIZON);
      const now = performance.now();
      times.note(now, xid);
      return KINDS.map((kind) => {
        const ages = holders
          .filter((holder) => holder.kind === kind)
          .map(({ xid: oldest, seconds }) => seconds ?? times.secondsSince(oldest, now));
        return { labels: { holder: kind }, value: Math.max(0, ...ages) };
      });
    },
  };
}

/** What keeps removed rows from being vacuumed. `name`: of the program, the prepared transaction, or the slot. */
export interface Holder {
  kind: (typeof KINDS)[number];
  name: string;
  /** The process of the session, or of the slot's user; null where there is none. */
  pid: number | null;
  /** The oldest transaction that it may still see, as a count from the database's start. */
  xid: number;
  /** The age of the transaction; null where it is unknown: for a slot, or without the rights of pg_read_all_stats. */
  seconds: number | null;
}

// Vacuum itself delays no vacuum. A logical slot holds back only the catalogs, but those grow too.
export const VACUUM_HORIZON = `
with latest as (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xid)
select kind, name, pid, (latest.xid - age)::float8 as xid, seconds
from latest cross join (
  select 'session' as kind, application_name as name, pid, greatest(age(backend_xmin), age(backend_xid)) as age,
    extract(epoch from clock_timestamp() - xact_start)::float8 as seconds
  from pg_stat_activity
  where (datid is null or datname = current_database()) and pid <> pg_backend_pid() and usesysid is not null
    and not exists (select from pg_stat_progress_vacuum v where v.pid = pg_stat_activity.pid)
  union all
  select 'prepared', gid, null, age(transaction), extract(epoch from clock_timestamp() - prepared)::float8
  from pg_prepared_xacts where database = current_database()
  union all
  select 'slot', slot_name::text, active_pid, greatest(age(xmin), age(catalog_xmin)), null from pg_replication_slots
) as holder
where age is not null
order by age desc limit 200`;

interface Seen {
  /** Monotonic milliseconds. */
  at: number;
  /** Every transaction before this one had begun at that time. */
  xid: number;
}

const MAX_SEEN = 1_500;
const SEEN_EVERY_MS = 60_000;

/**
 * The newest transaction at past times. PostgreSQL does not record that: without it the age of a replication slot, or
 * of another role's session, would be a number of transactions. Covers a day at most.
 */
export class TransactionTimes {
  private readonly seen: Seen[] = [];

  note(at: number, xid: number): void {
    const last = this.seen.at(-1);
    if (last !== undefined && at - last.at < SEEN_EVERY_MS) return;
    this.seen.push({ at, xid });
    if (this.seen.length > MAX_SEEN) this.seen.shift();
  }

  /** The minimum time for which later transactions have existed; 0 where it is unknown. */
  secondsSince(xid: number, now: number): number {
    const later = this.seen.find((each) => each.xid > xid);
    return later === undefined ? 0 : (now - later.at) / 1_000;
  }
}
