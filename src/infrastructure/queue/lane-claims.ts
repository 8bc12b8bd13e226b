import type { Clock } from '../../common/clock.js';
import { isOutOfTime } from '../database/database-faults.js';
import type { BusyLane } from './busy-lane.js';
import type { Claim, ClaimRequest, LanePace } from './lane-grant.js';
import { LostClaimError } from './lost-claims.js';
import { errorOf, type QueueKind } from './queue-kind.js';
import { SlowLanes, type Claiming, type ClaimTime } from './slow-lanes.js';

export interface LaneClaimsOptions<T> {
  kind: QueueKind<T>;
  /** The process's id as an owner of lanes. */
  owner: string;
  /** Whether other processes work: they may have free slots. */
  hasOthers: () => boolean;
  /** Limit of rows in work in this process, over all lanes. */
  maxInFlight: number;
  /**
   * Pause between two shared claims; lanes that become ready meanwhile share the next one. After a longer silence a
   * lane is claimed at once.
   */
  claimEveryMs: number;
  /** Like `claimEveryMs`, after a claim that returned as many rows of some lane as it was granted. */
  fullEveryMs: number;
  /** A process without free slots gives back lanes that it has owned for this long, one at a time. */
  giveBackAfterMs: () => number;
  clock: Clock;
  /** Called after the rows of a lost claim were released: these lanes may have due rows again. */
  onReleased(laneKeys: readonly string[]): void;
  onError(message: string, error: unknown): void;
}

/**
 * `give_back`: no slot is free, and another process may have some. An Error also after a stop, when nothing is claimed.
 */
export type Turn<T> = Claim<T> | Error | 'give_back';

interface Waiting<T> {
  lane: BusyLane;
  pace: LanePace;
  resolve: (turn: Turn<T>) => void;
}

const STOPPED = new Error('this process stops');
const MAX_LANES_PER_CLAIM = 100;
const MAX_ROWS_PER_LANE = 64;
/** Pause between two lanes that are given back. */
const GIVE_BACK_EVERY_MS = 100;

/**
 * The claims of one kind in a process, and its slots. A lane waits in `next` for a free slot; lanes that wait at the
 * same time share a statement. Slots are reserved while a claim is in flight. A lane whose rows take long to find is
 * claimed alone, beside the shared claims: see `SlowLanes`.
 *
 * Each `Claiming` has one claim in flight at a time: three statements, or, for a kind whose statement claims for one
 * lane (`claimEach`), one for each of its lanes.
 */
export class LaneClaims<T> {
  private waiting: Waiting<T>[] = [];
  private readonly underWay = new Set<Claiming>();
  private readonly slow = new SlowLanes();
  private sharedAt = -Infinity;
  /** The last shared claim returned as many rows of some lane as it was granted. */
  private hadMore = false;
  /**
   * The last shared claim left no free slot. Between two claims some row has usually ended, and the next claim takes
   * that slot too.
   */
  private leftNoSlot = false;
  /** When a lane was last given back, or when there was none to give back. */
  private gaveBackAt = -Infinity;
  private inFlight = 0;
  private reserved = 0;
  private releasing = 0;
  private timer: NodeJS.Timeout | null = null;
  private plannedAt = Infinity;
  private isStopped = false;

  constructor(private readonly options: LaneClaimsOptions<T>) {}

  get rowsInFlight(): number {
    return this.inFlight;
  }

  /** Lost claims whose rows are still being released. */
  get lostClaims(): number {
    return this.releasing;
  }

  /** No further row fits now, or none fitted after the last shared claim. */
  get isSaturated(): boolean {
    return this.isFull || this.leftNoSlot;
  }

  private get isFull(): boolean {
    return this.freeSlots <= 0;
  }

  private get freeSlots(): number {
    return this.options.maxInFlight - this.inFlight - this.reserved;
  }

  /** The lane's next claim. Each row that it returns has a slot until `rowEnded`. Does not reject. */
  next(lane: BusyLane, pace: LanePace): Promise<Turn<T>> {
    if (this.isStopped) return Promise.resolve(STOPPED);
    return new Promise((resolve) => {
      this.waiting.push({ lane, pace, resolve });
      this.plan();
    });
  }

  rowEnded(): void {
    this.inFlight--;
    this.plan();
  }

  stop(): void {
    this.isStopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    for (const { resolve } of this.waiting.splice(0)) resolve(STOPPED);
  }

  /** How many more rows of this lane may be worked on, ignoring the slots of the process. */
  capacityOf(lane: BusyLane): number {
    const { kind } = this.options;
    return Math.min(kind.maxPerLane, kind.window?.(lane.key) ?? Infinity) - lane.inFlight;
  }

  /**
   * Starts the claims that are possible now, or sets a timer for them. Called when a lane begins to wait, and when a
   * row or a claim has ended.
   */
  private plan(): void {
    if (this.isStopped) return;
    this.claimAlone();
    const at = this.nextAt();
    if (at >= this.plannedAt) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.plannedAt = at;
    this.timer = setTimeout(() => void this.share(), Math.max(0, at - this.options.clock.monotonic()));
  }

  private nextAt(): number {
    // The shared claim plans again when it ends.
    if (this.waiting.length === 0 || this.underWay.has('shared')) return Infinity;
    // With all slots in use, lanes can only be given back.
    if (this.isFull) return this.nextGiveBackAt();
    return this.waitsFor('shared') === undefined ? Infinity : this.nextShareAt();
  }

  /** The first waiting lane that is claimed in this way. */
  private waitsFor(claiming: Claiming): Waiting<T> | undefined {
    // Shortcut, since usually no lane is slow and this runs after each row.
    if (this.slow.isEmpty) return claiming === 'shared' ? this.waiting[0] : undefined;
    return this.waiting.find(({ lane }) => this.slow.of(lane.key) === claiming);
  }

  private nextShareAt(): number {
    return this.sharedAt + (this.hadMore ? this.options.fullEveryMs : this.options.claimEveryMs);
  }

  private nextGiveBackAt(): number {
    return this.options.hasOthers() ? this.gaveBackAt + GIVE_BACK_EVERY_MS : Infinity;
  }

  private async share(): Promise<void> {
    this.timer = null;
    this.plannedAt = Infinity;
    this.giveBack();
    const chosen = this.chooseShared();
    if (chosen.length > 0) {
      this.sharedAt = this.options.clock.monotonic();
      this.hadMore = await this.claim(chosen, 'shared');
      this.leftNoSlot = this.isFull;
    }
    this.plan();
  }

  /**
   * Gives back one lane at a time: of those owned for long enough, the one that has waited longest. Other processes may
   * have free slots for its rows.
   */
  private giveBack(): void {
    const now = this.options.clock.monotonic();
    if (!this.isSaturated || now < this.nextGiveBackAt()) return;
    this.gaveBackAt = now;
    const found = this.waiting.find(({ lane }) => lane.giveBackAt <= now);
    if (found === undefined) return;
    this.take([found]);
    found.resolve('give_back');
  }

  /**
   * Takes lanes in turn from those that were woken, those that are polled, and those with rows in flight; within each
   * group the one that has waited longest. So no lane waits for all the others.
   */
  private chooseShared(): Waiting<T>[] {
    const shared = this.slow.isEmpty
      ? this.waiting
      : this.waiting.filter(({ lane }) => this.slow.of(lane.key) === 'shared');
    const busy = shared.filter(({ lane }) => lane.inFlight > 0);
    const woken = shared.filter(({ lane }) => lane.inFlight === 0 && lane.isWoken);
    const polled = shared.filter(({ lane }) => lane.inFlight === 0 && !lane.isWoken);
    const byTurns = shared.flatMap((_, n) => [woken[n], busy[n], polled[n]]).filter((each) => each !== undefined);
    return this.take(byTurns.slice(0, Math.max(0, Math.min(MAX_LANES_PER_CLAIM, this.freeSlots))));
  }

  private take(chosen: Waiting<T>[]): Waiting<T>[] {
    const taken = new Set(chosen);
    this.waiting = this.waiting.filter((each) => !taken.has(each));
    return chosen;
  }

  private claimAlone(): void {
    for (const claiming of ['suspect', 'slow'] as const) {
      if (this.underWay.has(claiming) || this.isFull) continue;
      const found = this.waitsFor(claiming);
      if (found !== undefined) void this.claim(this.take([found]), claiming).then(() => this.plan());
    }
  }

  /** @returns whether the claim returned as many rows of some lane as it was granted. */
  private async claim(chosen: readonly Waiting<T>[], claiming: Claiming): Promise<boolean> {
    const { clock } = this.options;
    this.underWay.add(claiming);
    const requests = this.requestsFor(chosen, claiming);
    const reserved = requests.reduce((sum, { limit }) => sum + limit, 0);
    this.reserved += reserved;
    for (const { lane } of chosen) lane.isWoken = false;
    const startedAt = clock.monotonic();
    // A rejection concerns all lanes, an error within the answers only one.
    const claimed = await this.ask(requests, this.slow.withinMs(claiming)).catch(errorOf);
    this.reserved -= reserved;
    this.underWay.delete(claiming);
    const turns = chosen.map((_, n) =>
      claimed instanceof Error ? claimed : (claimed[n] ?? new Error('a claim without an answer')),
    );
    const times = chosen.map(({ lane: { key } }, n) => ({ key, time: timeOf(turns[n]) }));
    this.slow.claimed(claiming, times, clock.monotonic() - startedAt);
    if (claimed instanceof Error && chosen.length > 1 && isOutOfTime(claimed)) {
      // The claim changed nothing.
      this.waiting.push(...chosen);
      // A stop meanwhile has answered only the lanes that waited then.
      if (this.isStopped) this.stop();
      return false;
    }
    this.failed(chosen, turns);
    for (const [n, turn] of turns.entries()) this.settle(chosen[n] as Waiting<T>, turn);
    return turns.some((turn) => !(turn instanceof Error) && hasMore(turn));
  }

  /** Turns a synchronous error into a rejection. */
  private async ask(requests: readonly ClaimRequest[], withinMs?: number): Promise<(Claim<T> | Error)[]> {
    return this.options.kind.claim(requests, withinMs);
  }

  /**
   * Each lane gets a share of the free slots. A claim of one lane alone may take long, so it leaves half of them to the
   * others.
   */
  private requestsFor(chosen: readonly Waiting<T>[], claiming: Claiming): ClaimRequest[] {
    const { owner, clock } = this.options;
    const now = clock.monotonic();
    const part = Math.max(1, Math.floor(this.freeSlots / (claiming === 'shared' ? chosen.length : 2)));
    return chosen.map(({ lane, pace }) => {
      const capacity = Math.min(part, this.capacityOf(lane), MAX_ROWS_PER_LANE, lane.rowsByPace(now));
      return { laneKey: lane.key, owner, limit: Math.max(0, capacity), knowsPace: lane.knowsPace, pace };
    });
  }

  private settle({ lane, pace, resolve }: Waiting<T>, turn: Claim<T> | Error): void {
    const now = this.options.clock.monotonic();
    if (turn instanceof Error) {
      // A statement that ran out of time changed nothing. After another error the claim may have been committed.
      if (!isOutOfTime(turn)) lane.claimFailed();
      resolve(turn);
      return;
    }
    lane.claimed(now, pace, turn, now + this.options.giveBackAfterMs());
    this.inFlight += turn.items.length;
    lane.inFlight += turn.items.length;
    resolve(turn);
  }

  /**
   * An error that many lanes share, as in a common claim, is reported once. Rows that a lost claim took are released.
   */
  private failed(chosen: readonly Waiting<T>[], turns: readonly (Claim<T> | Error)[]): void {
    const alike = new Map<string, { error: Error; keys: string[] }>();
    for (const [n, { lane }] of chosen.entries()) {
      const error = turns[n];
      if (!(error instanceof Error)) continue;
      const found = alike.get(String(error)) ?? { error, keys: [] };
      alike.set(String(error), found);
      found.keys.push(lane.key);
    }
    for (const { error, keys } of alike.values()) {
      const lanes = keys.length === 1 ? `lane ${keys[0]}` : `${keys.length} lanes, as ${keys[0]}`;
      this.options.onError(`${lanes}: a claim failed`, error);
    }
    for (const lost of new Set(turns)) {
      if (lost instanceof LostClaimError)
        this.releaseLost(
          lost,
          chosen.filter((_, n) => turns[n] === lost),
        );
    }
  }

  /** The lanes continue meanwhile; a stop waits for the release. */
  private releaseLost(lost: LostClaimError, chosen: readonly Waiting<T>[]): void {
    const laneKeys = chosen.map(({ lane }) => lane.key);
    const releasing = this.options.kind.releaseLost?.(lost, laneKeys);
    if (releasing === undefined) return;
    this.releasing++;
    void releasing.finally(() => {
      this.releasing--;
      this.options.onReleased(laneKeys);
    });
  }
}

function timeOf(turn: Claim<unknown> | Error | undefined): ClaimTime {
  if (!(turn instanceof Error)) return 'in_time';
  return isOutOfTime(turn) ? 'out_of_time' : 'failed';
}

/** The claim returned as many rows as it was granted, so there may be more. */
export function hasMore({ grant, items }: Claim<unknown>): boolean {
  return items.length > 0 && items.length >= (grant?.slots ?? 0);
}
