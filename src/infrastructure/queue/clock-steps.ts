import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database/database.js';
import { MAX_PAUSE_SECONDS, NO_MARK } from './lane.repository.js';
import { Sweeps, type AwaitedTime } from './sweeps.js';

/** Smaller steps are ignored: they only delay rows by as much. */
const MIN_STEP_SECONDS = 2;
const BATCH = 20_000;

/**
 * Detects that the database's clock was set back, for example by a failover to a server with a slower clock. Awaited
 * times that are then too far ahead are reduced to the furthest they may be ahead; otherwise rows due a moment ago
 * would be due only after the length of the step. The step itself is not subtracted: a lease given since would end too
 * early, and so would a retry if the correction ran twice.
 *
 * The row `clock` of `heartbeat` keeps the latest time seen; the leader of the sweeps writes it every other second.
 * Owners of lanes and their paces need no correction: see `laneGrants`.
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
      waitsFor: [{ table: 'lane', column: 'paused_until', mostAhead: `${MAX_PAUSE_SECONDS}` }],
      hasWork: STEPPED,
      run: (signal) => this.follow(signal),
    });
  }

  private async follow(signal: AbortSignal): Promise<number> {
    const { seen, now, seconds } = await this.database.row<Look>(LOOK);
    if (seconds < MIN_STEP_SECONDS) return 0;
    this.logger.warn(
      `the database's clock stepped back by ${Math.round(seconds)} s: times that are further ahead than they may be are brought back`,
    );
    // Rows accepted now have times before the marks.
    await this.database.execute(`update lane set ${NO_MARK} where low_at > '-infinity'`);
    let corrected = 0;
    // One batch per column in turn, so that a long queue delays the others by one batch only.
    let open = this.sweeps.awaitedTimes;
    while (open.length > 0) {
      const more: AwaitedTime[] = [];
      for (const time of open) {
        // The next round continues: the row `clock` still shows the step.
        if (signal.aborted) return corrected;
        const { found, rows } = await this.correct(time);
        corrected += rows;
        if (found > 0) more.push(time);
      }
      open = more;
    }
    // If the clock was set back again meanwhile, the next round detects it by the time written here.
    await this.database.execute(
      `update heartbeat set beat_at = $2::timestamptz where name = 'clock' and beat_at = $1::timestamptz`,
      [seen, now],
    );
    return corrected;
  }

  /** The earliest first. Rows that another transaction changes at the same time are read again. */
  private correct({ table, column, where = 'true', mostAhead = '0' }: AwaitedTime) {
    const latest = `clock_timestamp() + make_interval(secs => ${mostAhead})`;
    return this.database.row<{ found: number; rows: number }>(
      `with found as materialized (
         select tableoid as part, ctid as row_ctid from ${table}
         where ${where} and ${column} > statement_timestamp() and ${column} > ${latest}
         order by ${column} limit ${BATCH}
       ), corrected as (
         update ${table} t set ${column} = least(${column}, ${latest})
         from found where t.tableoid = found.part and t.ctid = found.row_ctid and ${column} is not null
         returning 1
       )
       select (select count(*) from found)::integer as found, (select count(*) from corrected)::integer as rows`,
    );
  }
}

interface Look {
  /** The latest time seen. */
  seen: string;
  /** The present time by the database's clock. */
  now: string;
  /** How far `now` is behind `seen`. */
  seconds: number;
}

const STEPPED = `exists (select 1 from heartbeat
  where name = 'clock' and beat_at > now() + interval '${MIN_STEP_SECONDS} seconds')`;

const LOOK = `
insert into heartbeat as h (name, beat_at) values ('clock', clock_timestamp())
on conflict (name) do update set beat_at = greatest(h.beat_at, excluded.beat_at)
returning beat_at::text as seen, clock_timestamp()::text as now, extract(epoch from beat_at - clock_timestamp())::float8 as seconds`;
