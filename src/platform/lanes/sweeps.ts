import { describeError } from '../../common/describe-error.js';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Counters } from '../operations/counters.js';
import { Heartbeats } from '../operations/heartbeats.js';

/** A column of times that are waited for, by the database's clock. */
export interface AwaitedTime {
  table: string;
  column: string;
  /** SQL: the rows that wait; best the condition of a partial index. */
  where?: string;
  /** Where the clock steps back, a time no further ahead is left alone: for leases their length. Default 0. */
  leaveSeconds?: number;
}

/** Work that must happen again and again in one process at a time, whichever that is. */
export interface Sweep {
  readonly name: string;
  /** Milliseconds between two rounds. */
  readonly everyMs: number;
  /** True while every worker is to do its rounds, whoever has the turn. */
  readonly everywhere?: boolean;
  /** The times that make its rows due. */
  readonly waitsFor?: readonly AwaitedTime[];
  /** Does one bounded round and returns how many rows it touched. Two rounds at once must do no harm. */
  run(signal: AbortSignal): Promise<number>;
}

const ROUND_TIMEOUT_MS = 20_000;

/**
 * Runs the sweeps of every room in worker processes. A round belongs to the process that moves the row
 * `turn:<name>` on by the database's clock; the row `sweep:<name>` keeps the time of the last success, which is part
 * of readiness: a sweep that died in silence is the classic way to lose mail.
 */
@Injectable()
export class Sweeps implements OnModuleDestroy {
  private readonly logger = new Logger(Sweeps.name);
  private readonly sweeps: Sweep[] = [];
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly running = new Set<Promise<void>>();
  private readonly abort = new AbortController();

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

  /** What the rows of all sweeps wait for. */
  get awaitedTimes(): AwaitedTime[] {
    return this.sweeps.flatMap((sweep) => sweep.waitsFor ?? []);
  }

  /** Begins, in a worker. Only after `Restoration.checkAtStart`, which takes their beats for signs of life. */
  start(): void {
    if (!this.config.process.roles.includes('worker')) return;
    for (const sweep of this.sweeps) this.schedule(sweep);
  }

  async onModuleDestroy(): Promise<void> {
    this.abort.abort();
    for (const timer of this.timers) clearTimeout(timer);
    await Promise.allSettled(this.running);
  }

  /** Runs one round now, whoever's turn it is; for tests and the command line. */
  async runNow(name: string): Promise<number> {
    const sweep = this.sweeps.find((candidate) => candidate.name === name);
    if (sweep === undefined) throw new Error(`there is no sweep named ${name}`);
    return sweep.run(this.abort.signal);
  }

  private schedule(sweep: Sweep): void {
    if (this.abort.signal.aborted) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      const round = this.round(sweep).finally(() => {
        this.running.delete(round);
        this.schedule(sweep);
      });
      this.running.add(round);
    }, sweep.everyMs);
    this.timers.add(timer);
  }

  private async round(sweep: Sweep): Promise<void> {
    try {
      if (!(await this.takeTurn(sweep)) && sweep.everywhere !== true) return;
      const signal = AbortSignal.any([this.abort.signal, AbortSignal.timeout(ROUND_TIMEOUT_MS)]);
      const touched = await sweep.run(signal);
      await this.beat(`sweep:${sweep.name}`);
      if (touched > 0) this.counters.incrementBy('sweep_rows', { sweep: sweep.name }, touched);
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.counters.incrementBy('sweep_failures', { sweep: sweep.name });
      this.logger.warn(`sweep ${sweep.name} failed and will be tried again: ${describeError(error)}`);
    }
  }

  private async takeTurn(sweep: Sweep): Promise<boolean> {
    const taken = await this.database.execute(
      `insert into heartbeat as h (name, beat_at) values ($1, clock_timestamp())
       on conflict (name) do update set beat_at = clock_timestamp()
       where h.beat_at <= clock_timestamp() - make_interval(secs => $2) or h.beat_at > clock_timestamp() + interval '5 seconds'`,
      [`turn:${sweep.name}`, (sweep.everyMs * 0.9) / 1_000],
    );
    return taken > 0;
  }

  private async beat(name: string): Promise<void> {
    await this.database.execute(
      `insert into heartbeat (name, beat_at) values ($1, clock_timestamp())
       on conflict (name) do update set beat_at = excluded.beat_at`,
      [name],
    );
  }
}
