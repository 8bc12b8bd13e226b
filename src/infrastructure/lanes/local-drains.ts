/**
 * Drains that this process begins by itself, without the queue: at most `most` at once, first come, first served. A
 * lane waits once however often it is added, and one that is added again after its drain waits behind all others.
 */
export class LocalDrains {
  private readonly waiting = new Set<string>();
  private running = 0;
  private stopped = false;

  constructor(
    /** Must not reject. */
    private readonly drain: (laneKey: string) => Promise<void>,
    private readonly most: number,
  ) {}

  /** Begins a drain now; false where too many run or the process stops. */
  begin(laneKey: string): boolean {
    if (this.stopped || this.running >= this.most) return false;
    this.running++;
    void this.drain(laneKey).finally(() => {
      this.running--;
      this.next();
    });
    return true;
  }

  /** Begins a drain now or as soon as its turn comes; false where the process stops. */
  add(laneKey: string): boolean {
    if (this.stopped) return false;
    if (!this.begin(laneKey)) this.waiting.add(laneKey);
    return true;
  }

  /** Begins no more; the runner waits for those that run. */
  stop(): void {
    this.stopped = true;
    this.waiting.clear();
  }

  private next(): void {
    const [laneKey] = this.waiting;
    if (laneKey !== undefined && this.begin(laneKey)) this.waiting.delete(laneKey);
  }
}
