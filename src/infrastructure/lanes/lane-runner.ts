import type { Hold, HoldRequest, LanePace } from './lane-hold.js';
import { type Clock, systemClock } from '../../common/clock.js';
import { Signal } from '../../common/signal.js';
import type { Slots } from '../../common/slots.js';
import { within } from '../../common/within.js';
import { LaneHolds } from './lane-holds.js';
import type { LaneRepository } from './lane.repository.js';

export interface Claim<T> {
  /** What the claim's `laneHold` answered. */
  hold: Hold | null;
  /** No more than `hold.slots`; none without a hold. */
  items: T[];
  /** Due rows may be left. Default: as many came as the hold gave slots. */
  more?: boolean;
}

/** What a module does with the due rows of its lanes. Lanes are independent of what the rows are. */
export interface LaneHandler<T> {
  /** Also the queue's name. */
  readonly name: string;
  /** Rows of one lane that one process works on at once. */
  readonly maxInFlightPerLane: number;
  /** The lane's pace, or null where it must not run now (its rows then stay due). */
  pace(laneKey: string): Promise<LanePace | null>;
  /**
   * Claims due rows, durably, so that no other process works on them. One statement takes or renews the hold on the
   * lane and claims: see `laneHold`.
   */
  claim(request: HoldRequest): Promise<Claim<T>>;
  /**
   * Works on one row and records the outcome. Must not reject. Resolves with true where another row may wait that could
   * not be claimed as long as this one was under way.
   */
  work(item: T): Promise<boolean>;
  /** From now on claimed rows that are not on the wire yet go back. */
  stop(): void;
}

export interface LaneRunnerOptions<T> extends Partial<typeof DEFAULTS> {
  handler: LaneHandler<T>;
  lanes: Pick<LaneRepository, 'ensure' | 'missed' | 'release'>;
  /** Requests in flight of the whole process. */
  slots: Slots;
  owner: string;
  /** Called where a lane should have another drain, as the outcome of a row may make the next one claimable. */
  wake(laneKey: string): void;
  onError(message: string, error: unknown): void;
}

/** Between the claims of lanes with more due rows: what ends meanwhile makes place for the next claim. */
const CLAIM_EVERY_MS = 8;

const DEFAULTS = {
  /** How long a drain goes on before it asks for its lane's pace again, and lets others pass that wait in this process. */
  quantumMs: 1_000,
  /** As many drains as run here at once; others may wait then. While fewer do, a drain goes on for `longestMs`. */
  mostDrains: 1,
  /**
   * After so long a lane may go over to another process; asked for each drain. To let a lane go and to drain it again by
   * a job of the queue is seven commits. Lanes that began together must not pass on together: a quiet lane would wait
   * behind all of them.
   */
  longestMs: (): number => 2_000 + Math.random() * 2_000,
  /** After this a drain is given up whatever hangs, so that its lane is not parked. */
  hardDeadlineMs: 30_000,
  /** How long a lane stays with this process after its last claim; less where its hold ends before. */
  lingerMs: 4_000,
  /** Lanes claim in turns so far apart; who comes after a longer silence claims at once. */
  claimEveryMs: CLAIM_EVERY_MS,
  clock: systemClock,
};

/**
 * `idle`: nothing is left that could be done now, and the lane stays with this process for a while. `more`: the quantum
 * is over and rows may be left. `joined`: a drain of this process goes on, and looks again. `held`: another process
 * holds the lane. `paused`: the lane rests; the sweep wakes it.
 */
export type DrainResult = 'idle' | 'more' | 'joined' | 'held' | 'paused';

interface LocalLane {
  inFlight: number;
  /** Set while a drain runs; an abandoned drain sees a foreign token and stops. */
  drain: symbol | null;
  /** A wake came while the drain ran. */
  touched: boolean;
  /** Rows that its next claim asks for. */
  want: number;
  /** Its last claim may have left due rows. */
  more: boolean;
  settled: Signal;
}

/** A lane asks for few rows until more came: places that it does not use are missing to others as long as it claims. */
const LEAST_CLAIM = 16;
const MAX_CLAIM = 64;
/** A lane that has used up its pace waits at least for so much of it: one claim for several rows. */
const PACE_EVERY_MS = 25;

/**
 * Drains lanes: holds one, claims as many of its due rows as there are places and pace for, starts the work on each at
 * once, and passes on after its quantum. Work outlives the drain that started it.
 *
 * A lane whose rows are all under way stays with this process for some seconds: the next wake claims at once, and
 * neither takes the lane nor lets it go.
 */
export class LaneRunner<T> {
  private readonly local = new Map<string, LocalLane>();
  private readonly kept: LaneHolds;
  private readonly options: LaneRunnerOptions<T> & typeof DEFAULTS;
  private readonly clock: Clock;
  private readonly turns: ClaimTurns;
  private readonly settled = new Signal();
  private readonly sleepers = new Set<() => void>();
  private inFlight = 0;
  /** Drains that have not ended, those given up included: each may be about to claim. */
  private running = 0;
  private stopping = false;

  constructor(given: LaneRunnerOptions<T>) {
    const options = { ...DEFAULTS, ...given };
    this.options = options;
    this.clock = options.clock;
    this.turns = new ClaimTurns(options.clock);
    this.kept = new LaneHolds(options.lanes, options.owner, options.lingerMs, options.clock);
  }

  /** Signals a drain of this process that rows came; false where none runs. */
  touch(laneKey: string): boolean {
    const lane = this.local.get(laneKey);
    if (lane === undefined || lane.drain === null || this.stopping) return false;
    lane.touched = true;
    lane.settled.notify();
    return true;
  }

  /** A drain of this process runs, or the lane stays with it for a while. */
  holds(laneKey: string): boolean {
    return this.kept.has(laneKey) || (this.local.get(laneKey)?.drain ?? null) !== null;
  }

  /** Never rejects: a drain that failed is reported, and the sweep wakes its lane again. */
  async drain(laneKey: string): Promise<DrainResult> {
    // The caller, perhaps another process through the queue, knows of rows that a drain may not have seen.
    if (this.touch(laneKey)) return 'joined';
    if (this.stopping) return 'more';
    const lane = this.laneOf(laneKey);
    const token = Symbol(laneKey);
    lane.drain = token;
    lane.touched = false;
    this.running++;
    const run = this.run(laneKey, lane, token).finally(() => {
      this.running--;
      this.settled.notify();
    });
    try {
      const result = await within(this.options.hardDeadlineMs, run);
      if (result !== null) return result;
      this.options.onError(`lane ${laneKey}: a drain hung and was given up`, undefined);
      return 'more';
    } catch (error) {
      this.options.onError(`lane ${laneKey}: a drain failed`, error);
      return 'paused';
    } finally {
      if (lane.drain === token) {
        lane.drain = null;
        // Rows that were announced while the drain was ending must not wait for the sweep.
        if (lane.touched && this.kept.has(laneKey)) this.options.wake(laneKey);
      }
      this.forget(laneKey, lane);
    }
  }

  /**
   * Stops claiming and waits until claims that are under way have ended and the work in flight has settled, at most
   * `timeoutMs`; lets go of all lanes, and returns how much work is left.
   */
  async stop(timeoutMs: number): Promise<number> {
    this.stopping = true;
    for (const lane of this.local.values()) lane.settled.notify();
    for (const wake of this.sleepers) wake();
    this.turns.begin();
    await this.kept.stop();
    const until = this.clock.monotonic() + timeoutMs;
    while (this.inFlight + this.running > 0 && this.clock.monotonic() < until) {
      await this.settled.wait(until - this.clock.monotonic());
    }
    return this.inFlight;
  }

  get isStopping(): boolean {
    return this.stopping;
  }

  private async run(laneKey: string, lane: LocalLane, token: symbol): Promise<DrainResult> {
    let result: DrainResult = 'paused';
    const endsAt = this.clock.monotonic() + Math.max(this.options.quantumMs, this.options.longestMs());
    const goesOn = (): boolean =>
      lane.drain === token && !this.stopping && !this.isCrowded && this.clock.monotonic() < endsAt;
    try {
      do {
        result = 'paused';
        const pace = await this.options.handler.pace(laneKey);
        if (pace === null) break;
        await this.options.lanes.ensure(laneKey);
        await this.kept.begin(laneKey, pace);
        result = await this.claimForQuantum({ laneKey, lane, token, pace }, endsAt);
      } while (result === 'more' && goesOn());
    } finally {
      // A drain that was given up leaves the hold alone: it may be that of the drain which goes on in its place.
      if (lane.drain === token) {
        if (result === 'idle' && !this.stopping) this.kept.linger(laneKey);
        else await this.kept.letGo([laneKey]);
      }
    }
    return result;
  }

  private async claimForQuantum(turn: Turn, latest: number): Promise<DrainResult> {
    const { laneKey, lane, token } = turn;
    const endsAt = Math.min(this.clock.monotonic() + this.options.quantumMs, latest);
    const left = (): number => endsAt - this.clock.monotonic();
    while (lane.drain === token && !this.stopping && left() > 0) {
      const capacity = Math.min(lane.want, this.options.handler.maxInFlightPerLane - lane.inFlight);
      if (capacity <= 0) {
        await lane.settled.wait(left());
        continue;
      }
      const waitMs = this.kept.msUntilSlot(laneKey);
      if (waitMs > 0) {
        await this.sleep(Math.min(Math.max(waitMs, PACE_EVERY_MS), left()));
        continue;
      }
      await this.turns.next(lane.more ? CLAIM_EVERY_MS : this.options.claimEveryMs);
      lane.touched = false;
      const claimed = await this.claim(turn, capacity);
      lane.more = claimed === 'more';
      if (claimed === 'over') break;
      if (claimed === 'held' || claimed === 'paused') return claimed;
      // A lane that is only touched again and again keeps no other waiting: its next drain goes on with the hold.
      if (claimed === 'done' && (!lane.touched || left() <= 0)) return 'idle';
    }
    return 'more';
  }

  private get isCrowded(): boolean {
    return this.running >= this.options.mostDrains;
  }

  /** `over`: stopped or given up, nothing more may be claimed. `more`: rows may be left. `done`: no due row is left. */
  private async claim(
    { laneKey, lane, token, pace }: Turn,
    capacity: number,
  ): Promise<'over' | 'held' | 'paused' | 'more' | 'done'> {
    const { handler, lanes, slots, owner } = this.options;
    // A lane with nothing under way goes first: a quiet lane's first message does not wait for a hundred busy ones.
    const places = await slots.acquire(capacity, lane.inFlight === 0);
    let used = 0;
    try {
      if (this.stopping || lane.drain !== token) return 'over';
      const inHand = this.kept.slots(laneKey);
      const limit = Math.min(places, Math.floor(inHand ?? places));
      const inHandSeconds = inHand === null ? null : inHand / pace.ratePerSecond;
      const note = this.kept.use(laneKey, pace);
      const { hold, items, more } = await handler.claim({ laneKey, owner, limit, pace, inHandSeconds });
      used = items.length;
      for (const item of items) this.start(laneKey, lane, item);
      if (hold === null) {
        lanes.missed(laneKey);
        return 'held';
      }
      note(hold, used);
      lane.want = Math.min(Math.max(LEAST_CLAIM, 2 * used), MAX_CLAIM);
      if (hold.paused) return 'paused';
      return (more ?? used === hold.slots) ? 'more' : 'done';
    } finally {
      if (used < places) slots.release(places - used);
    }
  }

  private start(laneKey: string, lane: LocalLane, item: T): void {
    lane.inFlight++;
    this.inFlight++;
    const ended = (mayLetGo: boolean): void => {
      lane.inFlight--;
      this.inFlight--;
      this.options.slots.release(1);
      if (mayLetGo && !this.stopping && !this.touch(laneKey)) this.options.wake(laneKey);
      lane.settled.notify();
      this.settled.notify();
      this.forget(laneKey, lane);
    };
    const failed = (error: unknown): void => {
      this.options.onError('a row of a lane failed outside its own handling', error);
      ended(true);
    };
    // Without a promise more: thousands of rows begin in a second.
    try {
      this.options.handler.work(item).then(ended, failed);
    } catch (error) {
      failed(error);
    }
  }

  private sleep(ms: number): Promise<void> {
    if (this.stopping) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(1, ms));
      this.sleepers.add(wake);
    });
  }

  private laneOf(laneKey: string): LocalLane {
    let lane = this.local.get(laneKey);
    if (lane === undefined) {
      lane = { inFlight: 0, drain: null, touched: false, want: LEAST_CLAIM, more: false, settled: new Signal() };
      this.local.set(laneKey, lane);
    }
    return lane;
  }

  private forget(laneKey: string, lane: LocalLane): void {
    if (lane.inFlight > 0 || lane.drain !== null) return;
    if (this.local.get(laneKey) === lane) this.local.delete(laneKey);
  }
}

interface Turn {
  laneKey: string;
  lane: LocalLane;
  token: symbol;
  pace: LanePace;
}

/**
 * Lets lanes claim together, so that one statement can serve many: a claim some time after the last turn runs at once,
 * an earlier one runs in the next turn together with all others that wait.
 */
export class ClaimTurns {
  private lastAt = -Infinity;
  private nextAt = Infinity;
  private timer: NodeJS.Timeout | null = null;
  private waiting: (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  /** Resolves at a turn so many milliseconds after the last one at the latest. */
  next(everyMs: number): Promise<void> {
    const now = this.clock.monotonic();
    const at = this.lastAt + everyMs;
    const turn = new Promise<void>((resolve) => this.waiting.push(resolve));
    if (at <= now) this.begin();
    else if (at < this.nextAt) {
      if (this.timer !== null) clearTimeout(this.timer);
      this.nextAt = at;
      this.timer = setTimeout(() => this.begin(), at - now);
    }
    return turn;
  }

  /** Begins a turn now. */
  begin(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.nextAt = Infinity;
    this.lastAt = this.clock.monotonic();
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
