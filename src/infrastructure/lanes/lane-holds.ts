import type { Clock } from '../../common/clock.js';
import { TokenBucket } from '../../common/token-bucket.js';
import type { Hold, LanePace } from './lane-hold.js';
import type { LaneRepository } from './lane.repository.js';

/** What this process knows of a lane that it holds. */
interface LocalHold {
  /** Unused pace. */
  bucket: TokenBucket;
  pace: LanePace;
  /** Monotonic ms until which the lane stays here without a drain. */
  until: number;
  /** No drain runs. */
  lingers: boolean;
}

/** The hold of a lane is let go so long before it ends. */
const MARGIN_MS = 500;
const LET_GO_EVERY_MS = 250;

/**
 * The lanes that this process holds, and how much of their pace it has not used. Lanes without a drain stay for a while,
 * then many are let go in one statement.
 */
export class LaneHolds {
  private readonly holds = new Map<string, LocalHold>();
  /** Holds that are being let go: nothing is claimed before that has ended, or it would end what the claim began. */
  private readonly ending = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly lanes: Pick<LaneRepository, 'release'>,
    private readonly owner: string,
    private readonly lingerMs: number,
    private readonly clock: Clock,
  ) {}

  has(laneKey: string): boolean {
    return this.holds.has(laneKey);
  }

  /** For a drain that begins. */
  async begin(laneKey: string, pace: LanePace): Promise<void> {
    await this.ending.get(laneKey);
    const hold = this.holds.get(laneKey);
    if (hold === undefined) return;
    hold.lingers = false;
    hold.pace = pace;
    hold.bucket.setLimits(limitsOf(pace), this.clock.monotonic());
  }

  /** Milliseconds until the pace in hand lets a row go; 0 where none is known. */
  msUntilSlot(laneKey: string): number {
    return this.holds.get(laneKey)?.bucket.msUntil(1, this.clock.monotonic()) ?? 0;
  }

  /** Rows that the pace in hand lets go; null where none is known. */
  slots(laneKey: string): number | null {
    return this.holds.get(laneKey)?.bucket.level(this.clock.monotonic()) ?? null;
  }

  /**
   * Forgets the hold as long as a statement that uses it is under way: where its answer is lost, what it used is
   * unknown.
   *
   * @returns what notes the answer, with the number of rows that it claimed.
   */
  use(laneKey: string, pace: LanePace): (hold: Hold, used: number) => void {
    const bucket = this.holds.get(laneKey)?.bucket;
    this.holds.delete(laneKey);
    return ({ available, lastsMs }, used) => {
      const now = this.clock.monotonic();
      const goesOn = available === null ? bucket : new TokenBucket(limitsOf(pace), now, available);
      if (lastsMs === 0 || goesOn === undefined) return;
      goesOn.take(now, used);
      const until = now + Math.min(this.lingerMs, lastsMs - MARGIN_MS);
      this.holds.set(laneKey, { bucket: goesOn, pace, until, lingers: false });
    };
  }

  /** For a drain that has ended with nothing left. */
  linger(laneKey: string): void {
    const hold = this.holds.get(laneKey);
    if (hold === undefined) return;
    hold.lingers = true;
    this.timer ??= setInterval(() => this.look(), LET_GO_EVERY_MS).unref();
  }

  /** Lets go of the lanes that this process holds of these. Where it fails, the holds end by themselves. */
  async letGo(laneKeys: Iterable<string>): Promise<void> {
    const now = this.clock.monotonic();
    const inHand = new Map<string, number>();
    for (const laneKey of laneKeys) {
      const hold = this.holds.get(laneKey);
      if (hold !== undefined) inHand.set(laneKey, hold.bucket.level(now) / hold.pace.ratePerSecond);
    }
    if (inHand.size === 0) return;
    const ending = this.lanes.release(this.owner, inHand).catch(() => undefined);
    for (const laneKey of inHand.keys()) {
      this.holds.delete(laneKey);
      this.ending.set(laneKey, ending);
    }
    await ending;
    for (const laneKey of inHand.keys()) this.ending.delete(laneKey);
  }

  /** Lets go of all; those of drains that are about to end they let go themselves. */
  async stop(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await this.letGo(this.holds.keys());
  }

  private look(): void {
    const now = this.clock.monotonic();
    const over = [...this.holds]
      .filter(([, { lingers, until }]) => lingers && until <= now)
      .map(([laneKey]) => laneKey);
    void this.letGo(over);
    if (this.holds.size > 0 || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}

function limitsOf({ ratePerSecond, burstSeconds }: LanePace) {
  // A product of rounded numbers: at least one row must go at a time.
  return { ratePerSecond, burst: Math.max(1, ratePerSecond * burstSeconds) };
}
