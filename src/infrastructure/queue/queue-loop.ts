import { type Clock, systemClock } from '../../common/clock.js';
import { Signal } from '../../common/signal.js';
import { isOutOfTime } from '../database/database-faults.js';
import { HandOver } from './hand-over.js';
import { LaneClaims } from './lane-claims.js';
import type { Claim, HoldRequest, LanePace } from './lane-hold.js';
import { Lane } from './lane-state.js';
import type { LaneRepository, ReleasedLane } from './lane.repository.js';
import { LostClaimError } from './lost-claims.js';
import type { QueueKind } from './queue-kind.js';

export interface QueueLoopOptions<T> extends Partial<typeof DEFAULTS> {
  kind: QueueKind<T>;
  lanes: Pick<LaneRepository, 'ensure' | 'missed' | 'release'>;
  /** The process's own id, under which it holds lanes. */
  owner: string;
  /** Rows that this process works on at once, over all lanes. */
  maxInFlight: number;
  /** Hands a lane with due rows over to any worker; false where that cannot be done now. */
  handOver(laneKey: string): boolean;
  onError(message: string, error: unknown): void;
}

const DEFAULT_CLOCK: Clock = systemClock;
const DEFAULTS = {
  /** A lane without rows is polled and kept for this long after the last one. */
  warmMs: 3_000,
  /** Between two looks; what comes meanwhile shares the next one. After a longer silence a wake looks at once. */
  lookEveryMs: 30,
  /** As `lookEveryMs`, where a claim brought all that it asked for. */
  fullEveryMs: 8,
  /** A process without free capacity hands lanes over that it has held for this long, not all at the same time. */
  handOverAfterMs: (): number => 2_000 + Math.random() * 2_000,
  clock: DEFAULT_CLOCK,
};

/** A stop waits for so much of its time for what lost claims took to be put back: others stop after it. */
const TAKE_BACK_SHARE = 0.3;
const MAX_LANES_PER_CLAIM = 100;
const MAX_ROWS_PER_LANE = 64;
/** Times at which lanes are woken, those of one lane this far apart. What is more, or later, is left to the sweep. */
const MAX_WAKES = 10_000;
const WAKES_APART_MS = 50;
const MAX_WAKE_IN_MS = 24 * 3_600_000;

interface Asked {
  laneKey: string;
  lane: Lane;
  pace: LanePace;
  request: HoldRequest;
}

interface Failure {
  laneKey: string;
  error: unknown;
}

/**
 * The one loop of a process over one kind of work. What it does with its lanes; what becomes of each is in the table at `Lane`:
 *
 * 1. `wake` makes it warm: it takes part in the next look.
 * 2. `look` claims due rows of all warm lanes whose time it is, in one statement, which also takes or renews the holds.
 * 3. Rows came: the work on each starts at once. Its end wakes the lane again, and so does the time at which
 *    the row or the lane is due again, as far as this process knows of it.
 * 4. No rows came: it is polled with growing delay, and released when it is not warm any more.
 * 5. The claim may not have the lane. A paused lane is released as soon as no row of it is under way, and woken when its pause
 *    ends. One that another process holds is asked for again every 250 ms while it is warm, and then forgotten.
 * 6. The claim's time is over: `LaneClaims` finds the lane that is slow. It is claimed by itself from then on (`claimSlow`), beside
 *    the looks, until its claim is quick again.
 * 7. `release` gives it back with its unused pace. A process that is full also hands lanes over: see `HandOver`.
 */
export class QueueLoop<T> {
  private readonly lanes = new Map<string, Lane>();
  private readonly options: QueueLoopOptions<T> & typeof DEFAULTS;
  private readonly clock: Clock;
  private readonly progress = new Signal();
  private readonly handOver: HandOver;
  /** By lane and time. */
  private readonly wakes = new Map<string, NodeJS.Timeout>();
  private readonly claims: LaneClaims<T>;
  /** The claim of a slow lane is under way, beside the looks. */
  private claimsSlow = false;
  /** Rows that are worked on, and those that the claim of a slow lane may bring. */
  private inFlight = 0;
  /** Lost claims that are being put back. */
  private takingBack = 0;
  private timer: NodeJS.Timeout | null = null;
  private plannedAt = Infinity;
  private looking = false;
  private lookedAt = -Infinity;
  /** Of the last look: some lane had as many rows as were asked for. */
  private gotAll = false;
  private stopping = false;

  constructor(given: QueueLoopOptions<T>) {
    this.options = { ...DEFAULTS, ...given };
    this.clock = this.options.clock;
    const { kind, clock } = this.options;
    this.claims = new LaneClaims({ kind, clock, mayHalve: () => !this.stopping });
    this.handOver = new HandOver({
      isFull: () => this.isFull,
      afterMs: this.options.handOverAfterMs,
      announce: (laneKey) => this.options.handOver(laneKey),
    });
  }

  get isStopping(): boolean {
    return this.stopping;
  }

  /** No row more can be worked on at this moment. */
  get isFull(): boolean {
    return this.inFlight >= this.options.maxInFlight;
  }

  get isSaturated(): boolean {
    return this.handOver.isSaturated;
  }

  /** The lane may have due rows. Never waits. */
  wake(laneKey: string): void {
    if (this.stopping) return;
    const now = this.clock.monotonic();
    const lane = this.lanes.get(laneKey) ?? new Lane(now);
    this.lanes.set(laneKey, lane);
    lane.wake(now, this.options.warmMs);
    this.plan(lane.lookAt);
  }

  /**
   * Looks no more and waits until the claim that is under way has ended, the work in flight has settled and what lost claims
   * took is put back, at most `timeoutMs`; releases all lanes, and returns how much work is left.
   */
  async stop(timeoutMs: number): Promise<number> {
    this.stopping = true;
    if (this.timer !== null) clearTimeout(this.timer);
    for (const timer of this.wakes.values()) clearTimeout(timer);
    this.options.kind.stop();
    const now = this.clock.monotonic();
    const until = now + timeoutMs;
    await this.waitWhile(() => this.isClaiming, until);
    // What is still in flight needs no hold: another process may go on with the other recipients.
    if (!this.isClaiming) await this.release([...this.lanes.keys()]);
    await this.waitWhile(() => this.inFlight > 0, until);
    await this.waitWhile(() => this.takingBack > 0, now + timeoutMs * TAKE_BACK_SHARE);
    return this.inFlight;
  }

  private async waitWhile(isSo: () => boolean, until: number): Promise<void> {
    while (isSo() && this.clock.monotonic() < until) await this.progress.wait(until - this.clock.monotonic());
  }

  private get isClaiming(): boolean {
    return this.looking || this.claimsSlow;
  }

  /** The lane has a due row in so many milliseconds; it may be released meanwhile. */
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
   * Plans a look, unless one is planned earlier. At any time one is planned for `nextLookAt()` or earlier, but
   * - during a look: its end plans it;
   * - while the process is full: the end of a row's work plans it, or the end of a slow lane's claim;
   * - after `stop`.
   */
  private plan(at: number): void {
    if (this.stopping || this.looking) return;
    const { lookEveryMs, fullEveryMs } = this.options;
    const time = Math.max(at, this.lookedAt + (this.gotAll ? fullEveryMs : lookEveryMs));
    if (time >= this.plannedAt) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.plannedAt = time;
    this.timer = setTimeout(() => void this.look(), Math.max(0, time - this.clock.monotonic()));
  }

  private async look(): Promise<void> {
    this.timer = null;
    this.plannedAt = Infinity;
    this.looking = true;
    this.lookedAt = this.clock.monotonic();
    this.gotAll = false;
    try {
      await this.release(this.lanesToRelease(this.lookedAt));
      const asked = await this.requestsFor(this.dueLanes(this.lookedAt));
      const slow = asked.filter(({ laneKey }) => this.claims.isSlow(laneKey));
      const others = asked.filter((each) => !slow.includes(each));
      const next = this.claimedLongestAgo(slow);
      if (next !== undefined) void this.claimSlow(next);
      if (others.length > 0) await this.claim(others);
    } catch (error) {
      this.lookFailed(error);
    }
    this.looking = false;
    this.handOver.lookEnded();
    this.progress.notify();
    this.planNext();
  }

  private lookFailed(error: unknown): void {
    this.options.onError(`${this.options.kind.name}: a look failed`, error);
  }

  /** Where the process is full, the end of a row's work plans the next look. */
  private planNext(): void {
    if (!this.isFull) this.plan(this.nextLookAt());
  }

  /**
   * While the process was full no look was planned, and the one that the end of a row plans for its own lane may be late: other lanes
   * wait for the place, too.
   */
  private placeBecameFree(): void {
    if (this.plannedAt > this.clock.monotonic() + this.options.lookEveryMs) this.planNext();
  }

  private nextLookAt(): number {
    let next = Infinity;
    for (const [laneKey, lane] of this.lanes) {
      if (lane.lookAt < next && this.mayAsk(laneKey, lane)) next = lane.lookAt;
    }
    return next;
  }

  private mayAsk(laneKey: string, lane: Lane): boolean {
    return this.capacityOf(laneKey, lane) > 0 && !(this.claimsSlow && this.claims.isSlow(laneKey));
  }

  /** How many more rows of this lane may be worked on; what the process has left is not considered. */
  private capacityOf(laneKey: string, lane: Lane): number {
    const { kind } = this.options;
    return Math.min(kind.maxPerLane, kind.window?.(laneKey) ?? Infinity) - lane.inFlight;
  }

  /**
   * Those that this look asks for. Lanes without rows in flight and busy ones by turns: neither waits until there are no more of
   * the others. Of each, the one that was claimed longest ago first.
   */
  private dueLanes(now: number): [string, Lane][] {
    if (this.isFull) return [];
    const due = [...this.lanes].filter(([key, lane]) => lane.lookAt <= now && this.mayAsk(key, lane));
    const quiet = due.filter(([, lane]) => lane.inFlight === 0);
    const busy = due.filter(([, lane]) => lane.inFlight > 0);
    const byTurns = due.flatMap((_, n) => [quiet[n], busy[n]]).filter((each) => each !== undefined);
    return byTurns.slice(0, Math.min(MAX_LANES_PER_CLAIM, this.options.maxInFlight - this.inFlight));
  }

  /** Whether they are quiet or busy. */
  private claimedLongestAgo(asked: readonly Asked[]): Asked | undefined {
    if (asked.length < 2) return asked[0];
    const order = [...this.lanes.keys()];
    return asked.toSorted((a, b) => order.indexOf(a.laneKey) - order.indexOf(b.laneKey))[0];
  }

  /** What each lane may claim: its part of the free capacity, and what its pace allows. */
  private async requestsFor(due: readonly [string, Lane][]): Promise<Asked[]> {
    const { kind, owner, lanes, maxInFlight } = this.options;
    const failures: Failure[] = [];
    const part = Math.max(1, Math.floor((maxInFlight - this.inFlight) / Math.max(1, due.length)));
    const asked = await Promise.all(
      due.map(async ([laneKey, lane]): Promise<Asked | null> => {
        try {
          const pace = await kind.pace(laneKey);
          const now = this.clock.monotonic();
          if (pace === null) {
            lane.planRelease(now);
            return null;
          }
          await lanes.ensure(laneKey);
          lane.setPace(now, pace);
          const waitMs = lane.bucket?.msUntil(1, now) ?? 0;
          if (waitMs > 0) {
            lane.rest(now, waitMs);
            return null;
          }
          const unusedRows = lane.bucket?.level(now) ?? null;
          const capacity = Math.max(0, Math.min(part, this.capacityOf(laneKey, lane), MAX_ROWS_PER_LANE));
          const limit = Math.min(capacity, Math.floor(unusedRows ?? capacity));
          return { laneKey, lane, pace, request: { laneKey, owner, limit, pace, unusedRows } };
        } catch (error) {
          lane.claimFailed(this.clock.monotonic(), { mayBeCommitted: false });
          failures.push({ laneKey, error });
          return null;
        }
      }),
    );
    this.report(failures);
    return asked.filter((each) => each !== null);
  }

  /** The looks go on meanwhile. One lane at a time, so that all that are slow take one connection. */
  private async claimSlow(asked: Asked): Promise<void> {
    const { limit } = asked.request;
    this.claimsSlow = true;
    this.inFlight += limit;
    try {
      await this.claim([asked]);
    } catch (error) {
      this.lookFailed(error);
    }
    this.inFlight -= limit;
    this.claimsSlow = false;
    this.progress.notify();
    this.planNext();
  }

  private async claim(asked: readonly Asked[]): Promise<void> {
    for (const { lane } of asked) lane.beginClaim();
    const failures: Failure[] = [];
    // Calls `kind.claim`: once, but where that is out of time.
    await this.claims.claim(asked, (each, answer) => {
      const { laneKey, lane } = each;
      // Behind all others: the lane that was claimed last is asked last.
      this.lanes.delete(laneKey);
      this.lanes.set(laneKey, lane);
      if (!(answer instanceof Error)) {
        this.answered(each, answer);
        return;
      }
      lane.claimFailed(this.clock.monotonic(), { mayBeCommitted: !isOutOfTime(answer) });
      failures.push({ laneKey, error: answer });
    });
    this.report(failures);
    for (const lost of new Set(failures.map(({ error }) => error))) {
      if (!(lost instanceof LostClaimError)) continue;
      this.takeBack(
        lost,
        failures.filter(({ error }) => error === lost).map(({ laneKey }) => laneKey),
      );
    }
  }

  /** The lanes go on meanwhile; the stop waits for it. */
  private takeBack(lost: LostClaimError, laneKeys: readonly string[]): void {
    const taking = this.options.kind.takeBack?.(lost, laneKeys);
    if (taking === undefined) return;
    this.takingBack++;
    void taking.finally(() => {
      this.takingBack--;
      this.progress.notify();
    });
  }

  private answered({ laneKey, lane, pace }: Asked, { hold, items }: Claim<T>): void {
    const now = this.clock.monotonic();
    if (hold === null) {
      this.options.lanes.missed(laneKey);
      lane.claimDenied(now);
    } else if (hold.paused) {
      lane.claimPaused(now);
      if (hold.pausedMs !== null) this.wakeIn(laneKey, hold.pausedMs);
    } else {
      const { warmMs } = this.options;
      const handOverAt = this.handOver.timeIfTakenAt(now);
      const gotAll = lane.claimGranted(now, { hold, pace, rows: items.length, warmMs, handOverAt });
      this.gotAll ||= gotAll;
      for (const item of items) this.start(laneKey, lane, item);
    }
  }

  /** What failed for many lanes alike, as a claim of all of them, is one report. */
  private report(failures: readonly Failure[]): void {
    const alike = new Map<string, Failure[]>();
    for (const failure of failures) {
      const text = String(failure.error);
      alike.set(text, [...(alike.get(text) ?? []), failure]);
    }
    for (const [first, ...others] of alike.values()) {
      if (first === undefined) continue;
      const lanes = others.length === 0 ? `lane ${first.laneKey}` : `${others.length + 1} lanes, as ${first.laneKey}`;
      this.options.onError(`${lanes}: a claim failed`, first.error);
    }
  }

  private start(laneKey: string, lane: Lane, item: T): void {
    lane.inFlight++;
    this.inFlight++;
    const rowDone = (dueInMs: number | null): void => {
      const wasFull = this.isFull;
      lane.inFlight--;
      this.inFlight--;
      this.progress.notify();
      this.wake(laneKey);
      if (wasFull) this.placeBecameFree();
      if (dueInMs !== null && dueInMs > 0) this.wakeIn(laneKey, dueInMs);
    };
    const failed = (error: unknown): void => {
      this.options.onError('a row of a lane failed outside its own handling', error);
      rowDone(null);
    };
    // No extra promise: this runs thousands of times a second.
    try {
      this.options.kind.work(item).then(rowDone, failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Lanes that have been without rows for a while, and one that is handed over. */
  private lanesToRelease(now: number): string[] {
    const lanes = [...this.lanes];
    const idle = lanes.filter(([, lane]) => lane.releaseWhenIdle && lane.inFlight === 0).map(([key]) => key);
    const held = lanes.filter(([, lane]) => lane.isHeldHere());
    return [...idle, ...this.handOver.announceNext(held, now)];
  }

  /**
   * Releases those that this process holds, and forgets those of which nothing more is to be known. Where the release fails, the
   * holds end by themselves.
   */
  private async release(laneKeys: readonly string[]): Promise<void> {
    const now = this.clock.monotonic();
    const held: ReleasedLane[] = [];
    for (const laneKey of laneKeys) {
      const lane = this.lanes.get(laneKey);
      if (lane === undefined) continue;
      if (lane.isHeldHere() && lane.pace !== null) {
        held.push({ laneKey, pace: lane.pace, unusedRows: lane.bucket.level(now) });
      }
      if (lane.released(now)) this.lanes.delete(laneKey);
    }
    if (held.length > 0) await this.options.lanes.release(this.options.owner, held).catch(() => undefined);
  }
}
