import { Injectable, type OnModuleInit } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import { Database } from '../database/database.js';
import { type Partition, Partitions, type Period } from '../database/partitions.js';
import { Sweeps } from './sweeps.js';

/** Data that is kept for a limited time. */
export interface Kept {
  readonly name: string;
  /** Days for which it is kept; 0: never removed. */
  readonly days: number;
  /**
   * Its batches wait for more than the database, for example for a file store: it is cleared in parallel with the
   * others.
   */
  readonly besides?: boolean;
  /** Usage is counted from it, and must be counted before it is cleared: see `holdWith`. */
  readonly isCounted?: boolean;
  /**
   * Clears rows older than `before`, at most `limit`, by a range of an index; returns how many. `before` is a time of
   * the database's clock, so the age of a row must come from a time of the same clock, such as that of an id.
   */
  clear(before: Date, limit: number): Promise<number>;
}

/** A table whose days or months are dropped as whole partitions: see `Partitions`. */
export interface KeptPartitions extends Pick<Kept, 'days' | 'isCounted'> {
  readonly table: string;
  readonly period: Period;
  /** Whether a partition that is old enough must stay for now. */
  readonly isNeeded?: (partition: Partition) => Promise<boolean>;
}

const EVERY_MS = 60_000;
/** Small, so that no transaction waits long for the batch's locks. */
const BATCH = 1_000;
/**
 * Limit per kind and round: 300,000 rows a minute, more than a fast installation makes. A round also has a time limit.
 */
const MAX_BATCHES = 300;
const DAY_MS = 86_400_000;

/**
 * Clears data that has been kept long enough, in small batches, in one process at a time. Each batch is a separate
 * transaction: if the process dies, nothing is lost, and the next round continues.
 */
@Injectable()
export class Retention implements OnModuleInit {
  private readonly kept: Kept[] = [];
  private hold = (before: Date): Promise<Date> => Promise.resolve(before);

  constructor(
    private readonly sweeps: Sweeps,
    private readonly partitions: Partitions,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({ name: 'retention', everyMs: EVERY_MS, run: (signal) => this.run(signal) });
  }

  /** Adds data that is kept for a limited time; call it while the application starts. */
  add(kept: Kept): void {
    if (kept.days === 0) return;
    const clear = async (before: Date, limit: number): Promise<number> => kept.clear(await this.hold(before), limit);
    this.kept.push(kept.isCounted === true ? { ...kept, clear } : kept);
  }

  /** `hold` is asked before counted data is cleared: rows newer than its answer stay. */
  holdWith(hold: (before: Date) => Promise<Date>): void {
    this.hold = hold;
  }

  /**
   * Adds a table partitioned by days or months. Partitions are created ahead, before this resolves and in each round,
   * and dropped when all their rows are older than `days`. Await it before inserting.
   */
  async addPartitioned({ table, period, days, isCounted, isNeeded }: KeptPartitions): Promise<void> {
    const { partitions } = this;
    await partitions.makeAhead(table, period);
    this.kept.push({
      name: table,
      days,
      clear: async (before) => {
        await partitions.makeAhead(table, period);
        if (days === 0) return 0;
        return partitions.dropBefore(table, isCounted === true ? await this.hold(before) : before, isNeeded);
      },
    });
  }

  private async run(signal: AbortSignal): Promise<number> {
    await this.sweeps.forgetOthers();
    const { now } = await this.database.row<{ now: Date }>('select clock_timestamp() as now');
    const inTurn = this.kept.filter(({ besides }) => besides !== true);
    const alone = this.kept.filter(({ besides }) => besides === true);
    // Each of these lists has the whole time of the round, so that removing many files does not shorten the others.
    const results = await Promise.all(
      [inTurn, ...alone.map((kept) => [kept])].map((kinds) => clear(kinds, now, signal)),
    );
    const errors = results.flatMap((result) => result.errors);
    if (errors.length > 0) throw new Error(errors.join('; '));
    return results.reduce((sum, { cleared }) => sum + cleared, 0);
  }
}

/** One batch of each kind in turn, so that neither a backlog nor a failure of one delays the others. */
async function clear(
  kinds: readonly Kept[],
  now: Date,
  signal: AbortSignal,
): Promise<{ cleared: number; errors: string[] }> {
  const errors: string[] = [];
  let cleared = 0;
  let open = kinds;
  for (let batch = 0; batch < MAX_BATCHES && open.length > 0; batch++) {
    const more: Kept[] = [];
    for (const kept of open) {
      if (signal.aborted) return { cleared, errors };
      try {
        const rows = await kept.clear(new Date(now.getTime() - kept.days * DAY_MS), BATCH);
        cleared += rows;
        if (rows >= BATCH) more.push(kept);
      } catch (error) {
        errors.push(`${kept.name}: ${describeError(error)}`);
      }
    }
    open = more;
  }
  return { cleared, errors };
}
