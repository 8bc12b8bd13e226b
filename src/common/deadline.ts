/**
 * A moment after which something must not happen any more. By two clocks: the monotonic one stands still while the machine
 * is suspended, and the time of day may be set back. Whichever comes first counts.
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
