import { describeError } from '../../common/describe-error.js';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { databaseClock, systemClock } from '../../common/clock.js';
import { within } from '../../common/within.js';
import { isUnreachable } from '../database/database-faults.js';
import { Config } from '../config/config.js';
import { TIME } from '../database/clock-watch.js';
import { Database } from '../database/database.js';
import { Counters } from '../operations/counters.js';
import { Heartbeats } from '../operations/readiness.js';
import { anyHas, type RowsOfWorkspaces, type Turn, Turns, type TurnsOptions, workspacesWith } from './turns.js';

/** A column of times at which rows become due, by the database's clock. */
export interface AwaitedTime {
  table: string;
  column: string;
  /** SQL: the rows that wait; preferably the condition of a partial index. */
  where?: string;
  /**
   * SQL, for a row: how many seconds its time may be ahead of the clock that wrote it. A time further ahead was written
   * before the clock was set back: see ClockSteps. Default 0.
   */
  mostAhead?: string;
}

/** SQL: when the oldest row that became due at or after `from` did so, or null; by an index. */
export type DueSince = (from: string) => string;

/** Work that must be repeated, in one process at a time, in any of them. */
export interface Sweep {
  readonly name: string;
  /** Milliseconds between two rounds; a whole number of seconds. */
  readonly everyMs: number;
  /** True while every worker must run its rounds, not only the leader. */
  readonly everywhere?: boolean;
  /** The times that make its rows due. */
  readonly waitsFor?: readonly AwaitedTime[];
  /**
   * A cheap SQL condition that holds if a round may find something. One statement a second asks the conditions of all
   * sweeps, so it must cost no more than an `exists` on an index. Default: `dueSince` returns a time, or one of
   * `waitsFor` has passed; a sweep without these runs all its rounds.
   */
  readonly hasWork?: string;
  /**
   * Like `hasWork`, by a time: a search begins where the previous one found its first row, so that removed rows before
   * it are not read.
   */
  readonly dueSince?: DueSince;
  /** Does one bounded round and returns how many rows it touched. Two rounds at the same time must be harmless. */
  run(signal: AbortSignal): Promise<number>;
}

/** A sweep that works for workspaces in turn, see `Turns`. It has work if `rows` exist, or by its other conditions. */
export interface SweepInTurns extends Omit<Sweep, 'run'>, Pick<TurnsOptions, 'atOnce'> {
  readonly rows: readonly RowsOfWorkspaces[];
  readonly turn: Turn;
}

const TICK_MS = 1_000;
const ROUND_TIMEOUT_MS = 20_000;
/** A leader that has not renewed its lease for this long is no longer the leader. */
const LEASE_MS = 4_000;
const RENEW_MS = 2_000;
/** A sweep without a success for this long, or for three of its rounds, is run by every worker. */
const SILENT_MS = 15_000;
const RELEASE_TIMEOUT_MS = 1_000;
/** Longer than two releases run side by side in a rolling update. */
const FORGET_MS = 600_000;

interface Look {
  /** The database's time. */
  lookedAt: string;
  /** The token in the lease where this process holds it, otherwise null. */
  token: string | null;
  /** How long the lease of another process lasts. */
  leftMs: number | null;
  /** Seconds since the last success of each sweep; undefined where the lease was not requested. */
  ages?: Record<string, number> | null;
  /** For each sweep, since when it has work; `-infinity` where no time is known; null: it has none. */
  work: (string | null)[];
  /** The database's time in milliseconds. */
  time: string;
}

interface Lease {
  token: string;
  /** Monotonic milliseconds. */
  renewedAt: number;
}

/**
 * Runs the sweeps of every module in worker processes. One of them leads: it holds a lease, the row `leader` of
 * `heartbeat`, by the database's clock. Each second it asks in one statement which sweeps have work, so an idle second
 * costs one read-only transaction. Every two seconds the same statement renews the lease and writes the rows
 * `sweep:<name>` of the sweeps that succeeded since. Their age is part of readiness, and every worker tries a sweep
 * that has succeeded nowhere for a while: if a sweep stopped unnoticed, messages would be lost.
 */
@Injectable()
export class Sweeps implements OnModuleDestroy {
  private readonly logger = new Logger(Sweeps.name);
  private readonly sweeps: Sweep[] = [];
  /** When the last round of each sweep was due in this process (monotonic ms). */
  private readonly lastRound = new Map<Sweep, number>();
  private readonly running = new Map<Sweep, Promise<void>>();
  private readonly succeeded = new Set<string>();
  /** Where the next search for passed times begins. */
  private readonly cursors = new Map<Sweep, SweepCursor>();
  private readonly abort = new AbortController();
  private timer: NodeJS.Timeout | null = null;
  private ticking: Promise<void> = Promise.resolve();
  private stopped: Promise<void> | null = null;
  private lease: Lease | null = null;
  private startedAt = systemClock.monotonic();
  private nextTry = 0;

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly counters: Counters,
    private readonly heartbeats: Heartbeats,
  ) {}

  /** Adds a sweep; call it while the application starts. */
  add(sweep: Sweep): void {
    this.sweeps.push(sweep);
    this.heartbeats.expect(sweep.name, sweep.everyMs);
  }

  /**
   * Adds a sweep over rows of many workspaces, any of which may have very many. If the turn of a workspace fails, the
   * others continue; the failure is counted and logged.
   */
  addInTurns({ rows, turn, atOnce, ...sweep }: SweepInTurns): void {
    const find = workspacesWith(rows);
    const turns = new Turns({
      find: async (after, limit) =>
        (await this.database.query<{ id: string }>(find, [after, limit])).map(({ id }) => id),
      turn,
      onFailure: (error) => this.failed(sweep.name, error),
      ...(atOnce !== undefined && { atOnce }),
    });
    const hasWork = sweep.waitsFor === undefined ? { hasWork: anyHas(rows) } : {};
    this.add({ ...hasWork, ...sweep, run: (signal) => turns.run(signal) });
  }

  get names(): string[] {
    return this.sweeps.map(({ name }) => name);
  }

  /** Removes rows of sweeps that no running release has, and what processes reported about their clocks. */
  async forgetOthers(): Promise<void> {
    await this.database.execute(
      `delete from heartbeat where (name like 'sweep:%' or name like 'clock:%') and name <> all($1)
         and beat_at < clock_timestamp() - interval '${FORGET_MS} ms'`,
      [this.names.map((name) => `sweep:${name}`)],
    );
  }

  /** The awaited times of all sweeps. */
  get awaitedTimes(): AwaitedTime[] {
    return this.sweeps.flatMap((sweep) => sweep.waitsFor ?? []);
  }

  /** Starts the sweeps, in a worker. */
  start(): void {
    if (!this.config.process.roles.includes('worker')) return;
    this.startedAt = systemClock.monotonic();
    this.schedule();
  }

  onModuleDestroy(): Promise<void> {
    return this.stop();
  }

  /** Starts no more rounds; resolves when running ones have ended. Another process may lead then. */
  stop(): Promise<void> {
    this.stopped ??= this.end();
    return this.stopped;
  }

  private async end(): Promise<void> {
    this.abort.abort();
    if (this.timer !== null) clearTimeout(this.timer);
    await this.ticking;
    await Promise.all([...this.running.values(), this.release()]);
  }

  /** Runs one round now, in any process; for tests and the command line. */
  async runNow(name: string): Promise<number> {
    const sweep = this.sweeps.find((candidate) => candidate.name === name);
    if (sweep === undefined) throw new Error(`there is no sweep named ${name}`);
    return sweep.run(this.abort.signal);
  }

  private schedule(): void {
    if (this.abort.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.ticking = this.tick().finally(() => this.schedule());
    }, TICK_MS);
  }

  /** Finds out which sweeps are due and starts their rounds: once a second after `start`, by hand in tests. */
  async tick(): Promise<void> {
    const now = systemClock.monotonic();
    const led = this.leads(now);
    const renews = led ? now - (this.lease?.renewedAt ?? 0) >= RENEW_MS - TICK_MS / 2 : now >= this.nextTry;
    const due = this.sweeps.filter((sweep) => this.isDue(sweep, now) && (led || renews || sweep.everywhere === true));
    if (due.length === 0 && !renews) return;
    const look = await this.look(due, renews, now);
    if (this.abort.signal.aborted) return;
    const leads = this.leads(systemClock.monotonic());
    if (leads) this.makeOverdue(look);
    for (const [index, sweep] of due.entries()) {
      if (!leads && sweep.everywhere !== true && !this.isSilent(sweep, look, now)) continue;
      this.lastRound.set(sweep, now);
      // Without an answer each sweep searches for itself.
      if (look?.work[index] === null) this.succeeded.add(sweep.name);
      else this.begin(sweep);
    }
  }

  /** Null where the database does not answer. */
  private async look(due: readonly Sweep[], renews: boolean, now: number): Promise<Look | null> {
    const written = renews ? [...this.succeeded] : [];
    const work = `now()::text as "lookedAt", ${TIME} as time, array[${due.map((sweep) => this.workSince(sweep)).join(', ')}]::timestamptz[]::text[] as work`;
    try {
      if (!renews) return this.passed(due, (await this.database.query<Look>(`select ${work}`))[0], now);
      const names = [...written.map((name) => `sweep:${name}`), 'leader', ...(this.leads(now) ? ['clock'] : [])];
      const seconds = written.map((name) => this.sweeps.find((sweep) => sweep.name === name)!.everyMs / 1_000);
      const params = [names, this.lease?.token ?? null, seconds];
      const [look] = await this.database.query<Look>(`${RENEW}, ${work}`, params);
      if (look === undefined) return null;
      for (const name of written) this.succeeded.delete(name);
      this.lease = look.token === null ? null : { token: look.token, renewedAt: now };
      this.nextTry = now + Math.min(Math.max(look.leftMs ?? 0, 0), LEASE_MS);
      return this.passed(due, look, now);
    } catch (error) {
      if (this.abort.signal.aborted) return null;
      this.logger.warn(`which sweeps have work is not known: ${describeError(error)}`);
      // The condition of one sweep must not stop the others: without an answer all of them run.
      return due.length === 0 || isUnreachable(error) ? null : this.look([], renews, now);
    }
  }

  /**
   * The next search begins at the first row that this one found, or where it ended. Also records the database's time.
   */
  private passed(due: readonly Sweep[], look: Look | undefined, askedAt: number): Look | null {
    if (look === undefined) return null;
    databaseClock.measured(Number(look.time), askedAt, systemClock.monotonic());
    for (const [index, sweep] of due.entries()) {
      this.cursors.get(sweep)?.reached(look.work[index] ?? look.lookedAt);
    }
    return look;
  }

  private workSince(sweep: Sweep): string {
    const { hasWork, waitsFor } = sweep;
    if (hasWork !== undefined) return `case when ${hasWork} then '-infinity'::timestamptz end`;
    const dueSince = sweep.dueSince ?? (waitsFor && passedSince(waitsFor));
    if (dueSince === undefined) return `'-infinity'::timestamptz`;
    const cursor = this.cursors.get(sweep) ?? new SweepCursor(sweep.dueSince && ALL_OFTEN_MS);
    this.cursors.set(sweep, cursor);
    const next = cursor.next();
    return dueSince(SweepCursor.from(next === null ? 'null' : `'${next}'`));
  }

  private leads(now: number): boolean {
    return this.lease !== null && now - this.lease.renewedAt < LEASE_MS;
  }

  private isDue(sweep: Sweep, now: number): boolean {
    const last = this.lastRound.get(sweep) ?? this.startedAt;
    return !this.running.has(sweep) && now - last >= sweep.everyMs - TICK_MS / 2;
  }

  /** A rare sweep whose last round is too long ago has its first round at once. */
  private makeOverdue(look: Look | null): void {
    for (const sweep of this.sweeps) {
      const age = look?.ages?.[sweep.name] ?? 0;
      if (age * 1_000 > sweep.everyMs && !this.lastRound.has(sweep)) this.lastRound.set(sweep, -Infinity);
    }
  }

  /**
   * The leader hangs or fails in this sweep, or belongs to a release that does not have it. After a long stop of all
   * processes the leader gets time first.
   */
  private isSilent(sweep: Sweep, look: Look | null, now: number): boolean {
    if (look?.ages === undefined) return false;
    const patienceMs = Math.max(SILENT_MS, sweep.everyMs * 3);
    return (look.ages?.[sweep.name] ?? Infinity) * 1_000 > patienceMs && now - this.startedAt > patienceMs;
  }

  private begin(sweep: Sweep): void {
    const round = this.round(sweep).finally(() => this.running.delete(sweep));
    this.running.set(sweep, round);
  }

  private async round(sweep: Sweep): Promise<void> {
    try {
      const signal = AbortSignal.any([this.abort.signal, AbortSignal.timeout(ROUND_TIMEOUT_MS)]);
      const touched = await sweep.run(signal);
      this.succeeded.add(sweep.name);
      if (touched > 0) this.counters.incrementBy('sweep_rows', { sweep: sweep.name }, touched);
    } catch (error) {
      if (!this.abort.signal.aborted) this.failed(sweep.name, error);
    }
  }

  private failed(name: string, error: unknown): void {
    this.counters.incrementBy('sweep_failures', { sweep: name });
    this.logger.warn(`sweep ${name} failed and will be tried again: ${describeError(error)}`);
  }

  /** Lets another process lead at once. */
  private async release(): Promise<void> {
    if (this.lease === null) return;
    const released = this.database.execute(RELEASE, [this.lease.token]).catch(() => undefined);
    this.lease = null;
    await within(RELEASE_TIMEOUT_MS, released);
  }
}

/** By now(), because an index cannot be searched with clock_timestamp(). */
const passedSince =
  (times: readonly AwaitedTime[]): DueSince =>
  (from) => {
    const firsts = times.map(
      ({ table, column, where = 'true' }) =>
        `(select ${column} from ${table} where ${where} and ${column} <= now() and ${column} >= ${from} order by ${column} limit 1)`,
    );
    return `least(${firsts.join(', ')})`;
  };

// Not an infinite time: PostgreSQL before 17 cannot subtract it.
const RELEASE = `update heartbeat set beat_at = 'epoch' where name = 'leader' and beat_at = $1`;

/** A lease ahead of the clock was written before the clock was set back. */
const VALID = `between clock_timestamp() - interval '${LEASE_MS} ms' and clock_timestamp() + interval '${LEASE_MS} ms'`;

// $1: the rows to write, those of sweeps first. `leader` is written only where the lease is free, or this process holds
// it: the row still has its token $2. One insert in the order of the names, so that two processes never deadlock. $3:
// for each of these sweeps, the seconds between two rounds. The row `clock` keeps the latest time seen: see ClockSteps.
const RENEW = `
with beaten as (
  insert into heartbeat as h (name, beat_at, every_seconds)
  select name, clock_timestamp(), seconds from unnest($1::text[], $3::integer[]) as beat (name, seconds)
  where name <> 'leader'
    or not exists (select 1 from heartbeat where name = 'leader' and beat_at is distinct from $2 and beat_at ${VALID})
  order by name
  on conflict (name) do update
    set beat_at = case when h.name = 'clock' then greatest(h.beat_at, excluded.beat_at) else excluded.beat_at end,
      every_seconds = excluded.every_seconds
    where h.name <> 'leader' or h.beat_at = $2 or not h.beat_at ${VALID}
  returning name, beat_at
)
select (select beat_at::text from beaten where name = 'leader') as token,
  (select (extract(epoch from beat_at - clock_timestamp()) * 1000 + ${LEASE_MS})::float8
   from heartbeat where name = 'leader' and beat_at ${VALID}) as "leftMs",
  (select json_object_agg(substr(name, 7), extract(epoch from clock_timestamp() - beat_at)) from heartbeat
   where name like 'sweep:%') as ages`;

/** Repeats bounded work until a batch is not full, or the round must end; returns how many rows it touched. */
export async function inBatches(
  signal: AbortSignal,
  batch: number,
  work: (limit: number) => Promise<number>,
): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const done = await work(batch);
    total += done;
    if (done < batch) break;
  }
  return total;
}

// A search begins this long before the last one: rows of that time may have been locked, or not committed yet.
const AGAIN_SECONDS = 30;
/** Limit on how long a cursor can hide a row, for example after a step of the clock. */
const ALL_EVERY_MS = 60_000;
/** The same for rows that may enter after their time, such as an expired message that returns to the queue. */
export const ALL_OFTEN_MS = 5_000;

/**
 * The place from which a sweep searches for times that have passed: where its last complete search ended. Removed rows
 * come before it while another transaction keeps them from being vacuumed, and are not read again and again. All rows
 * are read once a minute, or as often as `allEveryMs` says.
 */
export class SweepCursor {
  private from: string | null = null;
  private since = -Infinity;

  constructor(private readonly allEveryMs = ALL_EVERY_MS) {}

  /** The database's time for `since`; null: all rows. */
  next(): string | null {
    if (systemClock.monotonic() - this.since > this.allEveryMs) {
      this.from = null;
      this.since = systemClock.monotonic();
    }
    return this.from;
  }

  /** @param time the time of the statement where it found all rows; otherwise the time of the first row. */
  reached(time: string | null): void {
    this.from = time;
  }

  /** SQL: the start of the search, from the parameter or literal with the value of `next()`. */
  static from(time: string): string {
    return `coalesce(${time}::timestamptz - interval '${AGAIN_SECONDS} seconds', '-infinity')`;
  }
}
