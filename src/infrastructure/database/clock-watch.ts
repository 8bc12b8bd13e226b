import { hostname } from 'node:os';
import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { Database } from './database.js';

/** A host whose clock differs by more is reported; synchronised ones differ by milliseconds. */
export const WRONG_CLOCK_MS = 2_000;
/** And is right again below this, so that one at the bound is not reported each second. */
const RIGHT_CLOCK_MS = 1_000;
const EVERY_MS = 1_000;
/** The sweeps look each second, and bring the time along: where they do, nothing else asks for it. */
const FRESH_MS = 1_500;
const REPORT_EVERY_MS = 30_000;

/** SQL: milliseconds, for `databaseClock.measured`. As text: a setting of the server may round a float to one digit. */
export const TIME = '(extract(epoch from statement_timestamp()) * 1000)::numeric(20, 3)::text';

/** Measures the distance to the database's clock, by any way to it. */
export async function measureClock(ask: (sql: string) => Promise<{ now: string }[]>): Promise<void> {
  const askedAt = performance.now();
  const [row] = await ask(`select ${TIME} as now`);
  if (row !== undefined) databaseClock.measured(Number(row.now), askedAt, performance.now());
}

/**
 * Keeps `databaseClock` right: measures it every second or two. Where the clock of this host is another one, the log says so once,
 * and a row of `heartbeat` to `herald doctor` for as long as it is.
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
    // While the database is away the last distance holds; others say that it is.
    const look = (): void =>
      void this.look()
        .catch(() => undefined)
        .finally(() => this.schedule());
    this.timer = setTimeout(look, EVERY_MS).unref();
  }

  /** Measures where that is due, and compares; each second by itself, by hand in tests. */
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

/** As the log and `herald doctor` say it. @param process by its host and number; default: this one */
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

/** SQL: the processes that have said within the last two minutes that the clock of their host is wrong. */
export const WRONG_CLOCKS = `
select substr(name, 7) as process, host_ahead_seconds as "aheadSeconds" from heartbeat
where name like 'clock:%' and beat_at > clock_timestamp() - interval '2 minutes' order by abs(host_ahead_seconds) desc`;
