/**
 * A moment after which something must no longer happen. It uses two clocks, and the first to pass the deadline counts:
 * the monotonic clock stops while the machine is suspended, and the time of day may be set back.
 */
export class Deadline {
  private constructor(
    private readonly monotonic: number,
    private readonly timeOfDay: number,
  ) {}

  static in(ms: number): Deadline {
    return new Deadline(performance.now() + ms, Date.now() + ms);
  }

  get msLeft(): number {
    return Math.min(this.monotonic - performance.now(), this.timeOfDay - Date.now());
  }
}
