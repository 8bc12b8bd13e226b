import type { Database } from './database.js';

interface Batch {
  changed: number;
  /** The place of the last row, in the order of the batch; null where there was none. */
  last: string | null;
}

/**
 * Remembers where the last batch of a removal ended. The next batch begins there, so it does not read removed rows
 * again, which stay in the indexes while another transaction is open. After a batch that was not full the next one
 * begins at the start, for rows that were skipped.
 */
export class BatchPlace {
  private last: string | null = null;

  /** @param start a place before all rows: an id or a time. */
  constructor(private readonly start: string) {}

  get from(): string {
    return this.last ?? this.start;
  }

  /**
   * Runs one batch; returns how many rows it changed.
   *
   * @param change SQL that changes rows in the order of their places and returns the `place` of each: an id as text, or
   * a time. $1 is the place to begin at, $2 the limit, then the `params` follow.
   */
  async run(database: Database, change: string, limit: number, params: readonly unknown[]): Promise<number> {
    return this.reached(await database.row<Batch>(batchSql(change), [this.from, limit, ...params]), limit);
  }

  reached({ changed, last }: Batch, limit: number): number {
    this.last = changed < limit ? null : last;
    return changed;
  }
}

export const batchSql = (change: string): string =>
  `with gone as (${change}) select count(*)::integer as changed, max(place)::text as last from gone`;
