/** A clock for decisions within this process. Anything with a time of day uses the database's clock instead. */
export interface Clock {
  /** Milliseconds that never run backwards. */
  monotonic(): number;
}

export const systemClock: Clock = { monotonic: () => performance.now() };

/**
 * The database's time of day as this process knows it. All code that deletes, ends, expires, refuses or numbers by time
 * uses it: the stored times are the database's, it is the same for all processes, and a host's clock may be wrong.
 *
 * It adds a measured distance to the monotonic clock. The distance is measured before a process does anything, and then
 * every second or two. So setting a host's clock changes nothing, and while the database is away the last distance
 * stays. Before the first measurement, as in a command without a database, the host's clock is used.
 */
export class DatabaseClock {
  /** The difference between the monotonic clock and the time of day. */
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
   * Records that the database's clock showed `time` at some moment between two times of the monotonic clock. A distance
   * that does not contradict the answer is kept, however long the answer took.
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
