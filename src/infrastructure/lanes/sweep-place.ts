// A look begins this far before the last one: rows of then may have been locked, or not committed yet.
const AGAIN_SECONDS = 30;
const ALL_EVERY_MS = 60_000;

/**
 * From where on a sweep looks for times that have passed: where its last complete look ended. Removed rows precede the
 * others for as long as another transaction keeps them from being vacuumed, and are not read again and again. All rows
 * are looked at once a minute.
 */
export class SweepPlace {
  private from: string | null = null;
  private since = -Infinity;

  /** The database's time, for `since`; null: all. */
  next(): string | null {
    if (performance.now() - this.since > ALL_EVERY_MS) {
      this.from = null;
      this.since = performance.now();
    }
    return this.from;
  }

  /** @param lookedAt the statement's own time, where it has found all there was. */
  reached(lookedAt: string | null): void {
    this.from = lookedAt;
  }

  /** SQL: the time to look from, of the parameter or literal that has `next()`. */
  static from(time: string): string {
    return `coalesce(${time}::timestamptz - interval '${AGAIN_SECONDS} seconds', '-infinity')`;
  }

  /** SQL: as `from`, as things stand now. Of no round: does not begin to look at all again. */
  get condition(): string {
    const all = this.from === null || performance.now() - this.since > ALL_EVERY_MS;
    return SweepPlace.from(all ? 'null' : `'${this.from}'`);
  }
}
