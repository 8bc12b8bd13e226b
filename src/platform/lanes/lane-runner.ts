import { systemClock, type Clock } from '../../common/clock.js';
import { Signal } from '../../common/signal.js';
import type { Slots } from '../../common/slots.js';
import { TokenBucket } from '../../common/token-bucket.js';
import type { LaneHandler, LanePace } from './lane-handler.js';
import type { LaneRepository } from './lane.repository.js';

export interface LaneRunnerOptions<T> {
  handler: LaneHandler<T>;
  lanes: Pick<LaneRepository, 'ensure' | 'missed' | 'release'>;
  /** Requests in flight of the whole process. */
  slots: Slots;
  owner: string;
  /** How long a drain goes on before it lets others pass. */
  quantumMs?: number;
  /** After this a drain is given up whatever hangs, so that its lane is not parked. */
  hardDeadlineMs?: number;
  onError(message: string, error: unknown): void;
  clock?: Clock;
}

/**
 * `idle`: nothing is left that could be done now. `more`: the quantum is over and rows may be left. `held`: somebody
 * else drains. `paused`: the lane rests; the sweep wakes it.
 */
export type DrainResult = 'idle' | 'more' | 'held' | 'paused';

interface LocalLane {
  inFlight: number;
  /** Set while a drain runs; an abandoned drain sees a foreign token and stops. */
  drain: symbol | null;
  /** A wake came while the drain ran. */
  touched: boolean;
  settled: Signal;
  /** Unused pace in hand; null where this process does not hold the lane, or does not know what it has used. */
  bucket: TokenBucket | null;
}

const MAX_CLAIM = 64;
/** A lane with work in flight claims at most once in this time: answers that come meanwhile make room for more rows. */
const CLAIM_EVERY_MS = 4;

/**
 * Drains lanes: holds one, claims as many of its due rows as there are places and pace for, starts the work on each at
 * once, and passes on after its quantum. Work outlives the drain that started it.
 */
export class LaneRunner<T> {
  private readonly local = new Map<string, LocalLane>();
  private readonly clock: Clock;
  private readonly quantumMs: number;
  private readonly hardDeadlineMs: number;
  private readonly settled = new Signal();
  private readonly sleepers = new Set<() => void>();
  private inFlight = 0;
  /** Drains that have not ended, those given up included: each may be about to claim. */
  private running = 0;
  private stopping = false;

  constructor(private readonly options: LaneRunnerOptions<T>) {
    this.clock = options.clock ?? systemClock;
    this.quantumMs = options.quantumMs ?? 1_000;
    this.hardDeadlineMs = options.hardDeadlineMs ?? 30_000;
  }

  /** Tells a drain of this process that rows came; false where none runs, and the queue must be used. */
  touch(laneKey: string): boolean {
    const lane = this.local.get(laneKey);
    if (lane === undefined || lane.drain === null || this.stopping) return false;
    lane.touched = true;
    lane.settled.notify();
    return true;
  }

  /** Never rejects: a drain that failed is reported, and the sweep wakes its lane again. */
  async drain(laneKey: string): Promise<DrainResult> {
    const lane = this.laneOf(laneKey);
    if (lane.drain !== null) {
      // Who asks, perhaps another process through the queue, knows of rows that the drain may not have seen.
      this.touch(laneKey);
      return 'held';
    }
    if (this.stopping) return 'more';
    const token = Symbol(laneKey);
    lane.drain = token;
    lane.touched = false;
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<'hung'>((resolve) => {
      timer = setTimeout(() => resolve('hung'), this.hardDeadlineMs);
    });
    this.running++;
    const run = this.run(laneKey, lane, token).finally(() => {
      this.running--;
      this.settled.notify();
    });
    try {
      const result = await Promise.race([run, deadline]);
      // Rows that were announced while the drain was ending must not wait for the sweep.
      if (result !== 'hung') return lane.touched && result === 'idle' ? 'more' : result;
      this.options.onError(`lane ${laneKey}: a drain hung and was given up`, undefined);
      return 'more';
    } catch (error) {
      this.options.onError(`lane ${laneKey}: a drain failed`, error);
      return 'paused';
    } finally {
      clearTimeout(timer);
      if (lane.drain === token) lane.drain = null;
      this.forget(laneKey, lane);
    }
  }

  /**
   * Stops claiming and waits until claims that are under way have ended and the work in flight has settled, at most
   * `timeoutMs`; returns how much work is left.
   */
  async stop(timeoutMs: number): Promise<number> {
    this.stopping = true;
    for (const lane of this.local.values()) lane.settled.notify();
    for (const wake of this.sleepers) wake();
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
    const { handler } = this.options;
    const pace = await handler.pace(laneKey);
    if (pace === null) return 'paused';
    await this.options.lanes.ensure(laneKey);
    const endsAt = this.clock.monotonic() + this.quantumMs;
    const left = (): number => endsAt - this.clock.monotonic();
    try {
      while (lane.drain === token && !this.stopping && left() > 0) {
        const room = Math.min(MAX_CLAIM, handler.maxInFlightPerLane - lane.inFlight);
        if (room <= 0) {
          await lane.settled.wait(left());
          continue;
        }
        const waitMs = lane.bucket?.msUntil(1, this.clock.monotonic()) ?? 0;
        if (waitMs > 0) {
          await this.sleep(Math.min(waitMs, left()));
          continue;
        }
        lane.touched = false;
        const turn = await this.claim({ laneKey, lane, token, pace, room });
        if (turn === 'over') break;
        if (turn === 'held' || turn === 'paused') return turn;
        if (turn === 'more') {
          if (lane.inFlight > 0) await this.sleep(Math.min(CLAIM_EVERY_MS, left()));
          continue;
        }
        if (lane.touched) continue;
        if (lane.inFlight === 0 || handler.independentRows === true) return 'idle';
        await lane.settled.wait(left());
      }
      return 'more';
    } finally {
      // A drain that was given up leaves the hold alone: it may be that of the drain which goes on in its place.
      if (lane.drain === token) await this.letGo(laneKey, lane, pace);
    }
  }

  private async letGo(laneKey: string, lane: LocalLane, pace: LanePace): Promise<void> {
    const { bucket } = lane;
    if (bucket === null) return;
    lane.bucket = null;
    const inHandSeconds = bucket.level(this.clock.monotonic()) / pace.ratePerSecond;
    await this.options.lanes.release(laneKey, this.options.owner, inHandSeconds);
  }

  /** `over`: stopped or given up, nothing more may be claimed. `more`: rows may be left. `done`: no due row is left. */
  private async claim({
    laneKey,
    lane,
    token,
    pace,
    room,
  }: {
    laneKey: string;
    lane: LocalLane;
    token: symbol;
    pace: LanePace;
    room: number;
  }): Promise<'over' | 'held' | 'paused' | 'more' | 'done'> {
    const { handler, lanes, slots, owner } = this.options;
    // Who has nothing under way goes ahead: a quiet lane's first message does not wait for a hundred busy ones.
    const places = await slots.acquire(room, lane.inFlight === 0);
    let used = 0;
    try {
      if (this.stopping || lane.drain !== token) return 'over';
      const { bucket } = lane;
      const inHand = bucket?.level(this.clock.monotonic());
      const limit = Math.min(places, Math.floor(inHand ?? places));
      // Until its answer comes nobody knows what the statement used.
      lane.bucket = null;
      const inHandSeconds = inHand === undefined ? null : inHand / pace.ratePerSecond;
      const { hold, items, more } = await handler.claim({ laneKey, owner, limit, pace, inHandSeconds });
      used = items.length;
      for (const item of items) this.start(laneKey, lane, item);
      if (hold === null) {
        lanes.missed(laneKey);
        return 'held';
      }
      const now = this.clock.monotonic();
      lane.bucket = hold.available === null ? bucket : bucketOf(pace, now, hold.available);
      lane.bucket?.take(now, used);
      if (hold.paused) return 'paused';
      return (more ?? used === hold.slots) ? 'more' : 'done';
    } finally {
      if (used < places) slots.release(places - used);
    }
  }

  private start(laneKey: string, lane: LocalLane, item: T): void {
    lane.inFlight++;
    this.inFlight++;
    void this.options.handler
      .work(item)
      .catch((error: unknown) => this.options.onError('a row of a lane failed outside its own handling', error))
      .finally(() => {
        lane.inFlight--;
        this.inFlight--;
        this.options.slots.release(1);
        lane.settled.notify();
        this.settled.notify();
        this.forget(laneKey, lane);
      });
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
      lane = { inFlight: 0, drain: null, touched: false, settled: new Signal(), bucket: null };
      this.local.set(laneKey, lane);
    }
    return lane;
  }

  private forget(laneKey: string, lane: LocalLane): void {
    if (lane.inFlight > 0 || lane.drain !== null) return;
    if (this.local.get(laneKey) === lane) this.local.delete(laneKey);
  }
}

function bucketOf({ ratePerSecond, burstSeconds }: LanePace, now: number, tokens: number): TokenBucket {
  return new TokenBucket({ ratePerSecond, burst: ratePerSecond * burstSeconds }, now, tokens);
}
