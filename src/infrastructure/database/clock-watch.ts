import { hostname } from 'node:os';
import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { Database } from './database.js';

/** A host's clock that differs by more is reported; synchronised clocks differ by milliseconds. */
export const WRONG_CLOCK_MS = 2_000;
/** A clock counts as right again below this, so that one near the limit is not reported each second. */
const RIGHT_CLOCK_MS = 1_000;
const EVERY_MS = 1_000;
/** The statement of the sweeps measures the time each second; while it does, no other measurement is needed. */
const FRESH_MS = 1_500;
const REPORT_EVERY_MS = 30_000;

/**
 * SQL: milliseconds, for `databaseClock.measured`. As text, because a setting of the server may round a float to one
 * digit.
 */
export const TIME = '(extract(epoch from statement_timestamp()) * 1000)::numeric(20, 3)::text';

/** Measures the distance to the database's clock with the given query function. */
export async function measureClock(ask: (sql: string) => Promise<{ now: string }[]>): Promise<void> {
  const askedAt = performance.now();
  const [row] = await ask(`select ${TIME} as now`);
  if (row !== undefined) databaseClock.measured(Number(row.now), askedAt, performance.now());
}

/**
 * Keeps `databaseClock` right: measures it every second or two. If the clock of this host differs, it logs that once,
 * and keeps a row in `heartbeat` for `herald doctor` while it differs.
 */
@Injectable()
export class ClockWatch implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Clock');
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  private isWrong = false;
  private reportedAt = -Infinity;

  constructor(private readonly database: Database) {}

  onModuleInit(): void {
    this.schedule();
  }

  onModuleDestroy(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private schedule(): void {
    if (this.stopped) return;
    // While the database is away the last distance stays; other code reports that it is away.
    const look = (): void =>
      void this.look()
        .catch(() => undefined)
        .finally(() => this.schedule());
    this.timer = setTimeout(look, EVERY_MS).unref();
  }

  /** Measures if that is due, and compares. Runs each second by timer, and by hand in tests. */
  async look(): Promise<void> {
    if (databaseClock.ageMs > FRESH_MS) await measureClock((sql) => this.database.query(sql));
    const aheadMs = databaseClock.hostAheadMs;
    const isWrong = Math.abs(aheadMs) > (this.isWrong ? RIGHT_CLOCK_MS : WRONG_CLOCK_MS);
    if (isWrong !== this.isWrong) this.say(isWrong, aheadMs);
    this.isWrong = isWrong;
    if (!isWrong || this.stopped || performance.now() - this.reportedAt < REPORT_EVERY_MS) return;
    this.reportedAt = performance.now();
    await this.database.execute(REPORT, [`clock:${hostname()}:${process.pid}`, aheadMs / 1_000]);
  }

  private say(isWrong: boolean, aheadMs: number): void {
    if (!isWrong) this.logger.log("the clock of this host and the database's are the same again");
    else this.logger.warn(`${differenceOf(aheadMs / 1_000)}, by which Herald goes: synchronise both`);
  }
}

/** The text for the log and `herald doctor`. @param process its host and number; default: this one */
export function differenceOf(aheadSeconds: number, process?: string): string {
  const seconds = Math.abs(aheadSeconds);
  const whose = process === undefined ? 'this host' : `the process ${process}`;
  return `the clock of ${whose} is ${seconds.toFixed(seconds < 10 ? 1 : 0)} s ${aheadSeconds < 0 ? 'behind' : 'ahead of'} the database's`;
}

const REPORT = `
insert into heartbeat (name, beat_at, host_ahead_seconds) values ($1, clock_timestamp(), $2)
on conflict (name) do update set beat_at = excluded.beat_at, host_ahead_seconds = excluded.host_ahead_seconds`;

export interface WrongClock {
  /** Its host and number. */
  process: string;
  aheadSeconds: number;
}

/** SQL: processes that reported a wrong clock of their host within the last two minutes. */
export const WRONG_CLOCKS = `
select substr(name, 7) as process, host_ahead_seconds as "aheadSeconds" from heartbeat
where name like 'clock:%' and beat_at > clock_timestamp() - interval '2 minutes' order by abs(host_ahead_seconds) desc`;
