import { type Clock, systemClock } from '../../common/clock.js';
import { Signal } from '../../common/signal.js';
import { BusyLane } from './busy-lane.js';
import { hasMore, LaneClaims } from './lane-claims.js';
import type { LanePace } from './lane-grant.js';
import type { LaneRepository, ReleasedLane } from './lane.repository.js';
import { errorOf, type QueueKind } from './queue-kind.js';

export interface LaneRunnerOptions<T> extends Partial<typeof DEFAULTS> {
  kind: QueueKind<T>;
  lanes: Pick<LaneRepository, 'ensure' | 'missed' | 'release'>;
  /** The process's id as an owner of lanes. */
  owner: string;
  /** Limit of rows in work in this process, over all lanes. */
  maxInFlight: number;
  /** Whether other processes work: lanes that are given back, or released by a stop, are announced to them. */
  hasOthers: () => boolean;
  announce(laneKey: string): void;
  onError(message: string, error: unknown): void;
}

const DEFAULT_CLOCK: Clock = systemClock;
const DEFAULTS = {
  /** How long a lane without rows is polled and kept after the last row or wake. */
  warmMs: 3_000,
  claimEveryMs: 30,
  fullEveryMs: 8,
  /** Interval of the polls of a lane that is kept only for its rows in flight. */
  busyPollMs: 1_000,
  /** Wait after a failed claim or a failed release. */
  failedMs: 1_000,
  giveBackAfterMs: (): number => 2_000 + Math.random() * 2_000,
  clock: DEFAULT_CLOCK,
};

/**
 * A lane that returned rows is polled after the first of these times, then after twice as long for each empty claim, up
 * to the second.
 */
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 250;
/** A lane whose slots are all used checks again after this time, as its window may have grown. */
const SLOT_MS = 1_000;
/** Minimum wait of a lane that has used up its pace, so that one claim takes several rows. */
const MIN_PACE_MS = 25;
/** For this long no wake makes this process claim the lane: another process owns it, or it is paused. */
const DENIED_MS = 250;
/** Interval between a stop's attempts to release lanes. */
const RELEASE_AGAIN_MS = 100;
/** After giving a lane back, leaves another process this long to take it. */
const GIVEN_BACK_MS = 100;
/** The part of a stop's time in which it waits for the release of lost claims' rows; other parts stop after it. */
const RELEASE_LOST_SHARE = 0.3;
/**
 * Limits of timed wakes: their number, the interval between those of one lane, and how far ahead they are. The sweep
 * finds the rest.
 */
const MAX_WAKES = 10_000;
const WAKES_APART_MS = 50;
const MAX_WAKE_IN_MS = 24 * 3_600_000;

/** The result of a claim; see `drain`. */
type Claimed = 'more' | 'used_up' | 'some' | 'none' | 'denied' | 'paused' | 'no_pace' | 'failed' | 'give_back';

/** Why a drain ended. */
export type Ended = 'quiet' | 'denied' | 'give_back';

/**
 * Works on the lanes of one kind: `wake` starts a drain of the lane, or notifies the running one. A drain ends when its
 * lane has been quiet for three seconds, or has another owner; then the lane is released.
 */
export class LaneRunner<T> {
  private readonly lanes = new Map<string, BusyLane>();
  private readonly options: LaneRunnerOptions<T> & typeof DEFAULTS;
  private readonly clock: Clock;
  private readonly claims: LaneClaims<T>;
  /** Notified when a run or a row has ended, or the rows of a lost claim are released. */
  private readonly progress = new Signal();
  private readonly stopped = new Signal();
  /** By lane and time. */
  private readonly wakes = new Map<string, NodeJS.Timeout>();
  private released: ReleasedLane[] = [];
  /** Resolves with the keys of lanes that could not be released yet. */
  private releasing: Promise<ReadonlySet<string>> | null = null;
  private stopping = false;
  /** Monotonic ms. */
  private stopBy = Infinity;

  constructor(given: LaneRunnerOptions<T>) {
    this.options = { ...DEFAULTS, ...given };
    this.clock = this.options.clock;
    const onReleased = (laneKeys: readonly string[]): void => {
      this.progress.notify();
      for (const laneKey of laneKeys) this.wake(laneKey);
    };
    this.claims = new LaneClaims({ ...this.options, onReleased });
  }

  get isStopping(): boolean {
    return this.stopping;
  }

  get isSaturated(): boolean {
    return this.claims.isSaturated;
  }

  /** This process has made rows of the lane due. Never waits. */
  wake(laneKey: string): void {
    void this.start(laneKey, this.clock.monotonic() + this.options.warmMs);
  }

  /**
   * Another process announces due rows of the lane. An owner elsewhere hears it too, or polls: a drain that finds no
   * rows, or gets no grant, ends.
   *
   * @returns the end of the drain that this wake starts; null where this process is draining the lane already. Does not
   * reject.
   */
  wokenByOther(laneKey: string): Promise<Ended | null> {
    return this.start(laneKey, -Infinity);
  }

  /**
   * Stops claiming, and releases each lane once its claim in flight has ended. Waits, at most `timeoutMs`, for this,
   * for rows in work to end, and for the release of lost claims' rows. Returns how many rows are left in work.
   */
  async stop(timeoutMs: number): Promise<number> {
    this.stopping = true;
    for (const timer of this.wakes.values()) clearTimeout(timer);
    this.options.kind.stop();
    this.claims.stop();
    this.stopped.notify();
    for (const lane of this.lanes.values()) lane.wake(-Infinity);
    const now = this.clock.monotonic();
    const until = (this.stopBy = now + timeoutMs);
    // Rows still in flight do not need the lane's owner: another process may work on the other recipients.
    await this.waitWhile(() => [...this.lanes.values()].some(({ run }) => run !== null), until);
    await this.waitWhile(() => this.claims.rowsInFlight > 0, until);
    await this.waitWhile(() => this.claims.lostClaims > 0, now + timeoutMs * RELEASE_LOST_SHARE);
    return this.claims.rowsInFlight;
  }

  private async waitWhile(isSo: () => boolean, until: number): Promise<void> {
    while (isSo() && this.clock.monotonic() < until) await this.progress.wait(until - this.clock.monotonic());
  }

  private async start(laneKey: string, warmUntil: number): Promise<Ended | null> {
    if (this.stopping) return null;
    const lane = this.lanes.get(laneKey) ?? new BusyLane(laneKey);
    this.lanes.set(laneKey, lane);
    lane.wake(warmUntil);
    if (lane.run !== null) return null;
    const run = this.run(lane);
    lane.run = run;
    return run;
  }

  /**
   * A wake between the last claim of a drain and its release starts another drain: the lane stays here until both have
   * ended. A lane whose release fails stays too, because the sweep leaves owned lanes alone.
   */
  private async run(lane: BusyLane): Promise<Ended> {
    const again = (): boolean => lane.isWoken && !this.stopping;
    let ended: Ended;
    do {
      ended = await this.drain(lane);
      while (!(await this.release(lane)) && !again() && this.clock.monotonic() < this.stopBy) {
        await (this.stopping ? this.progress.wait(RELEASE_AGAIN_MS) : this.pause(this.options.failedMs));
      }
      if (ended === 'give_back') await this.passOn(lane);
    } while (again());
    lane.run = null;
    if (lane.inFlight === 0) this.lanes.delete(lane.key);
    this.progress.notify();
    return ended;
  }

  /**
   * Works on one lane until it has been quiet for a while, belongs to another process, must not run, or is given back.
   *
   * | The claim         | The next one                                                           | The drain ends where it is not woken, and |
   * | ----------------- | ---------------------------------------------------------------------- | ----------------------------------------- |
   * | `more`, `used_up` | as soon as slots and pace allow (`mayClaim`, `LaneClaims.next`)        | never                                     |
   * | `some`, `none`    | at a wake, or after 50, 100, 200, 250 ms; 1 s where it is not warm     | not warm, none in flight                  |
   * | `denied`          | in 250 ms, whatever wakes it                                           | not warm                                  |
   * | `paused`          | in 250 ms, whatever wakes it                                           | none in flight                            |
   * | `no_pace`         | in 250 ms, whatever wakes it                                           |                                           |
   * | `failed`          | in 1 s, whatever wakes it                                              | not warm                                  |
   * | `give_back`       | none                                                                   | at once, woken or not                     |
   *
   * A lane is warm for three seconds after a row or a wake of this process. `isWoken` is cleared when a claim follows,
   * while all slots of the lane are used, and when the lane must not run.
   */
  private async drain(lane: BusyLane): Promise<Ended> {
    let pollMs = MIN_POLL_MS;
    while (!this.stopping) {
      const claimed = await this.claim(lane);
      switch (claimed) {
        case 'more':
        case 'used_up':
          break;
        case 'some':
        case 'none':
          pollMs = claimed === 'some' || lane.isWoken ? MIN_POLL_MS : Math.min(2 * pollMs, MAX_POLL_MS);
          if (!(await this.wokenOrPolled(lane, pollMs))) return 'quiet';
          break;
        case 'denied':
        case 'failed':
          await this.pause(claimed === 'denied' ? DENIED_MS : this.options.failedMs);
          if (!lane.isWoken && !this.isWarm(lane)) return claimed === 'denied' ? claimed : 'quiet';
          break;
        case 'paused':
        case 'no_pace':
          lane.warmUntil = -Infinity;
          await this.pause(DENIED_MS);
          if (!lane.isWoken && (claimed === 'no_pace' || lane.inFlight === 0)) return 'quiet';
          break;
        case 'give_back':
          return claimed;
      }
    }
    return 'quiet';
  }

  /** Claims rows when slots and pace allow, and starts work on them. */
  private async claim(lane: BusyLane): Promise<Claimed> {
    const pace = await this.mayClaim(lane);
    if (pace === null) {
      // The wake is answered: the lane must not run.
      lane.isWoken = false;
      return 'no_pace';
    }
    const turn = pace instanceof Error ? pace : await this.claims.next(lane, pace);
    if (turn instanceof Error) return 'failed';
    if (turn === 'give_back') return turn;
    const { grant, items } = turn;
    for (const item of items) this.work(lane, item);
    if (grant === null) {
      this.options.lanes.missed(lane.key);
      return 'denied';
    }
    if (grant.paused) {
      if (grant.pausedMs !== null) this.wakeIn(lane.key, grant.pausedMs);
      return 'paused';
    }
    if (items.length > 0) lane.warmUntil = this.clock.monotonic() + this.options.warmMs;
    if (hasMore(turn)) return 'more';
    if (grant.slots === 0) return 'used_up';
    return items.length > 0 ? 'some' : 'none';
  }

  /**
   * Waits until the lane has a free slot and its pace allows a row.
   *
   * @returns its pace; null: it must not run now; an Error: the check failed.
   */
  private async mayClaim(lane: BusyLane): Promise<LanePace | Error | null> {
    const { kind, lanes } = this.options;
    while (!this.stopping) {
      if (this.claims.capacityOf(lane) <= 0) {
        lane.isWoken = false;
        await lane.woken(SLOT_MS);
        continue;
      }
      let pace: LanePace | null;
      try {
        pace = await kind.pace(lane.key);
        if (pace === null) return null;
        await lanes.ensure(lane.key);
      } catch (error) {
        this.options.onError(`lane ${lane.key}: a claim failed`, error);
        return errorOf(error);
      }
      lane.setPace(this.clock.monotonic(), pace);
      const waitMs = lane.msUntilPace(this.clock.monotonic());
      if (waitMs <= 0) return pace;
      await this.pause(Math.max(waitMs, MIN_PACE_MS));
    }
    return null;
  }

  private isWarm(lane: BusyLane): boolean {
    return lane.warmUntil > this.clock.monotonic();
  }

  /**
   * A lane with rows in flight is kept and polled, since their order may depend on it.
   * @returns whether to claim the lane again.
   */
  private async wokenOrPolled(lane: BusyLane, pollMs: number): Promise<boolean> {
    const isWarm = this.isWarm(lane);
    if (!isWarm && lane.inFlight === 0) return lane.isWoken;
    await lane.woken(isWarm ? pollMs : this.options.busyPollMs);
    return true;
  }

  /** Ends early when this process stops. */
  private pause(ms: number): Promise<void> {
    return this.stopping ? Promise.resolve() : this.stopped.wait(ms);
  }

  private work(lane: BusyLane, item: T): void {
    const rowDone = (dueInMs: number | null): void => {
      lane.inFlight--;
      this.claims.rowEnded();
      this.progress.notify();
      this.wake(lane.key);
      if (dueInMs !== null && dueInMs > 0) this.wakeIn(lane.key, dueInMs);
    };
    const failed = (error: unknown): void => {
      this.options.onError('a row of a lane failed outside its own handling', error);
      rowDone(null);
    };
    // Avoids an extra promise: this runs thousands of times a second.
    try {
      this.options.kind.work(item).then(rowDone, failed);
    } catch (error) {
      failed(error);
    }
  }

  /** The lane has a row that becomes due in `ms` milliseconds; the lane may be released meanwhile. */
  private wakeIn(laneKey: string, ms: number): void {
    const tick = Math.ceil((this.clock.monotonic() + ms) / WAKES_APART_MS);
    const key = `${laneKey} ${tick}`;
    if (this.stopping || ms > MAX_WAKE_IN_MS || this.wakes.size >= MAX_WAKES || this.wakes.has(key)) return;
    const wake = (): void => {
      this.wakes.delete(key);
      this.wake(laneKey);
    };
    this.wakes.set(key, setTimeout(wake, tick * WAKES_APART_MS - this.clock.monotonic()));
  }

  /**
   * Lanes that end at the same time share the statement.
   * @returns false where the lane is not released yet: the statement failed, or its row is locked.
   */
  private async release(lane: BusyLane): Promise<boolean> {
    const released = lane.toRelease(this.clock.monotonic());
    if (released === null) return true;
    this.released.push(released);
    this.releasing ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.releasing = null;
      const { lanes, owner } = this.options;
      const all = this.released.splice(0);
      return lanes.release(owner, all).then(
        (locked) => new Set(locked),
        () => new Set(all.map(({ laneKey }) => laneKey)),
      );
    });
    if ((await this.releasing).has(lane.key)) return false;
    lane.released();
    if (this.stopping && this.options.hasOthers()) this.options.announce(lane.key);
    return true;
  }

  /** Announces a lane that was given back to the other processes, and leaves one of them time to take it. */
  private async passOn(lane: BusyLane): Promise<void> {
    this.options.announce(lane.key);
    await this.pause(GIVEN_BACK_MS);
    lane.isWoken = true;
  }
}
