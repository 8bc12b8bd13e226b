/** Time for pure decisions in this process. What has a time of day takes the database's clock instead. */
export interface Clock {
  /** Milliseconds that never run backwards. */
  monotonic(): number;
}

export const systemClock: Clock = { monotonic: () => performance.now() };

/**
 * The database's time of day as this process knows it. Whatever deletes, ends, expires, refuses or numbers asks this one:
 * times are stored by it, it is the same for all processes, and the clock of a host may be wrong.
 *
 * It is the monotonic clock and its distance from the database's, which is measured before a process does anything, and
 * every second or two from then on. So a host's clock that is set changes nothing, and while the database is away the last
 * distance holds. Before the first measurement, as in a command that needs no database, it is the clock of the host.
 */
export class DatabaseClock {
  /** From the monotonic clock to the time of day. */
  private distanceMs = Date.now() - performance.now(); // the host's clock: nothing is measured yet
  private measuredAt = -Infinity;

  /** Whole milliseconds since the epoch. A correction may set it back. */
  now(): number {
    return Math.floor(performance.now() + this.distanceMs);
  }

  date(): Date {
    return new Date(this.now());
  }

  /**
   * The database's clock said `time` at some moment between two of the monotonic clock. However long the answer took: a
   * distance that it does not contradict is kept.
   */
  measured(time: number, askedAt: number, answeredAt: number): void {
    const [least, most] = [time - answeredAt, time - askedAt];
    const known = this.measuredAt > 0 ? this.distanceMs : (least + most) / 2;
    this.distanceMs = Math.min(Math.max(known, least), most);
    this.measuredAt = answeredAt;
  }

  /** Milliseconds since the last measurement. */
  get ageMs(): number {
    return performance.now() - this.measuredAt;
  }

  /** How far the clock of this host is ahead of the database's; negative where it is behind. */
  get hostAheadMs(): number {
    return Date.now() - (performance.now() + this.distanceMs); // the host's clock: it is what is compared
  }
}

export const databaseClock = new DatabaseClock();
