import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database/database.js';
import { NO_MARK } from './lane.repository.js';
import { Sweeps, type AwaitedTime } from './sweeps.js';

/** Less is waited for. */
const MIN_STEP_SECONDS = 2;
const BATCH = 20_000;

/**
 * Notices that the database's clock has stepped back, as after a failover to a server with a slower one, and takes the
 * step off the times that are waited for: else what was due a moment ago would be due again only after as long.
 *
 * The row `clock` of `heartbeat` keeps the latest time that was seen; the leader of the sweeps writes it every other
 * second. Owners of lanes and their paces need none of this: see `laneGrants`.
 */
@Injectable()
export class ClockSteps implements OnModuleInit {
  private readonly logger = new Logger('Database');

  constructor(
    private readonly database: Database,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'clock',
      everyMs: 1_000,
      waitsFor: [{ table: 'lane', column: 'paused_until' }],
      hasWork: STEPPED,
      run: (signal) => this.follow(signal),
    });
  }

  private async follow(signal: AbortSignal): Promise<number> {
    const { now, seconds } = await this.database.row<{ now: string; seconds: number }>(LOOK);
    if (seconds < MIN_STEP_SECONDS) return 0;
    this.logger.warn(
      `the database's clock stepped back by ${Math.round(seconds)} s: what waits for a time waits so much less`,
    );
    // What is accepted now has times before the marks.
    await this.database.execute(`update lane set ${NO_MARK} where low_at > '-infinity'`);
    let corrected = 0;
    // A batch of each column in turn: a long queue keeps the others waiting for no more than that.
    let open = this.sweeps.awaitedTimes.map((time) => ({
      time,
      // What is written meanwhile is due now, by the clock that counts.
      from: `'${now}'::timestamptz + interval '${Math.max(MIN_STEP_SECONDS, time.leaveSeconds ?? 0)} seconds'`,
    }));
    while (open.length > 0) {
      const more: typeof open = [];
      for (const { time, from } of open) {
        // The next round does the rest: the row `clock` still says so.
        if (signal.aborted) return corrected;
        const { found, rows, last } = await this.correct(time, from, seconds);
        corrected += rows;
        // Rows that another transaction changed since they were found are looked at again.
        if (rows < found) more.push({ time, from });
        else if (found >= BATCH && last !== null) more.push({ time, from: `'${last}'::timestamptz` });
      }
      open = more;
    }
    // No more than the step that was corrected: the clock may have stepped back again meanwhile.
    await this.database.execute(
      `update heartbeat set beat_at = beat_at - make_interval(secs => $1)
       where name = 'clock' and beat_at > clock_timestamp() + interval '${MIN_STEP_SECONDS} seconds'`,
      [seconds],
    );
    return corrected;
  }

  /** In the order of the times: one that was corrected is earlier than all that follow, and is not met again. */
  private correct({ table, column, where = 'true' }: AwaitedTime, from: string, seconds: number) {
    return this.database.row<{ found: number; rows: number; last: string | null }>(
      `with found as materialized (
         select tableoid as part, ctid as row_ctid, ${column} as at from ${table} where ${where} and ${column} > ${from}
         order by ${column} fetch first ${BATCH} rows with ties
       ), corrected as (
         update ${table} t set ${column} = found.at - make_interval(secs => $1)
         from found where t.tableoid = found.part and t.ctid = found.row_ctid and t.${column} = found.at
         returning 1
       )
       select count(*)::integer as found, (select count(*) from corrected)::integer as rows, max(at)::text as last from found`,
      [seconds],
    );
  }
}

const STEPPED = `exists (select 1 from heartbeat
  where name = 'clock' and beat_at > now() + interval '${MIN_STEP_SECONDS} seconds')`;

// By the clock that counts now; `seconds` is how far it is behind the latest time that was seen.
const LOOK = `
insert into heartbeat as h (name, beat_at) values ('clock', clock_timestamp())
on conflict (name) do update set beat_at = greatest(h.beat_at, excluded.beat_at)
returning clock_timestamp()::text as now, extract(epoch from beat_at - clock_timestamp())::float8 as seconds`;
