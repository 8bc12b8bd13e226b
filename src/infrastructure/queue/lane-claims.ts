import type { Clock } from '../../common/clock.js';
import { isOutOfTime } from '../database/database-faults.js';
import type { BusyLane } from './busy-lane.js';
import type { Claim, ClaimRequest, LanePace } from './lane-grant.js';
import { LostClaimError } from './lost-claims.js';
import { errorOf, type QueueKind } from './queue-kind.js';
import { SlowLanes, type Claiming, type ClaimTime } from './slow-lanes.js';

export interface LaneClaimsOptions<T> {
  kind: QueueKind<T>;
  /** The process's own id, under which it owns lanes. */
  owner: string;
  /** Other processes work: they may have free slots. */
  hasOthers: () => boolean;
  /** Rows that this process works on at once, over all lanes. */
  maxInFlight: number;
  /** Between two shared claims; what comes meanwhile shares the next one. After a longer silence a lane is claimed at once. */
  claimEveryMs: number;
  /** As `claimEveryMs`, where a claim brought all that it asked for. */
  fullEveryMs: number;
  /** A process without free slots gives back lanes that it has owned for this long, not all at the same time. */
  giveBackAfterMs: () => number;
  clock: Clock;
  /** What a lost claim took of these lanes is released: they may have due rows again. */
  onReleased(laneKeys: readonly string[]): void;
  onError(message: string, error: unknown): void;
}

/** `give_back`: no slot is free, and another process may have some. An Error also where nothing is claimed any more. */
export type Turn<T> = Claim<T> | Error | 'give_back';

interface Waiting<T> {
  lane: BusyLane;
  pace: LanePace;
  resolve: (turn: Turn<T>) => void;
}

const STOPPED = new Error('this process stops');
const MAX_LANES_PER_CLAIM = 100;
const MAX_ROWS_PER_LANE = 64;
/** Between two lanes that are given back. */
const GIVE_BACK_EVERY_MS = 100;

/**
 * The claims of one kind in a process, and its slots. A lane waits in `next` for a free slot; those that wait at the same time share
 * a statement. Slots are reserved while a claim is under way.
 * A lane whose rows take long to find is claimed alone, beside the shared claims: see `SlowLanes`. One claim of each `Claiming` is under way
 * at a time: three statements, or of a kind whose statement claims for one lane (`claimEach`) one for each of its lanes.
 */
export class LaneClaims<T> {
  private waiting: Waiting<T>[] = [];
  private readonly underWay = new Set<Claiming>();
  private readonly slow = new SlowLanes();
  private sharedAt = -Infinity;
  /** Of the last shared claim: some lane had as many rows as it might claim. */
  private hadMore = false;
  /** The last shared claim left no slot: between two claims some row has usually ended, and the next one takes that slot, too. */
  private leftNoSlot = false;
  /** When a lane was last given back, or none was to be. */
  private gaveBackAt = -Infinity;
  private inFlight = 0;
  private reserved = 0;
  private releasing = 0;
  private timer: NodeJS.Timeout | null = null;
  private plannedAt = Infinity;
  private isStopped = false;

  constructor(private readonly options: LaneClaimsOptions<T>) {}

  /** Rows that are worked on. */
  get rowsInFlight(): number {
    return this.inFlight;
  }

  /** Lost claims whose rows are being released. */
  get lostClaims(): number {
    return this.releasing;
  }

  /** No row more can be worked on at this moment, or could after the last shared claim. */
  get isSaturated(): boolean {
    return this.isFull || this.leftNoSlot;
  }

  private get isFull(): boolean {
    return this.freeSlots <= 0;
  }

  private get freeSlots(): number {
    return this.options.maxInFlight - this.inFlight - this.reserved;
  }

  /** The lane's next claim; each row that it brings has a slot, until `rowEnded`. Does not reject. */
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

  /** How many more rows of this lane may be worked on; the slots of the process are not considered. */
  capacityOf(lane: BusyLane): number {
    const { kind } = this.options;
    return Math.min(kind.maxPerLane, kind.window?.(lane.key) ?? Infinity) - lane.inFlight;
  }

  /** Claims what may be claimed now, or sets the timer for it. For when a lane begins to wait, and when a row or a claim has ended. */
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
    // The end of the shared claim plans again.
    if (this.waiting.length === 0 || this.underWay.has('shared')) return Infinity;
    // While it is full only lanes may be given back.
    if (this.isFull) return this.nextGiveBackAt();
    return this.waitsFor('shared') === undefined ? Infinity : this.nextShareAt();
  }

  /** The first lane that waits to be claimed so. */
  private waitsFor(claiming: Claiming): Waiting<T> | undefined {
    // Most of the time none is slow; this runs with each row that ends.
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

  /** One lane at a time, the longest owned that waits: others may have free slots for its rows. */
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
   * By turns lanes that were woken, that are polled, and that have rows in flight, of each those first that have waited longest: none waits
   * for all of the others.
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

  /** @returns whether some lane had as many rows as it might claim. */
  private async claim(chosen: readonly Waiting<T>[], claiming: Claiming): Promise<boolean> {
    const { clock } = this.options;
    this.underWay.add(claiming);
    const requests = this.requestsFor(chosen, claiming);
    const reserved = requests.reduce((sum, { limit }) => sum + limit, 0);
    this.reserved += reserved;
    for (const { lane } of chosen) lane.isWoken = false;
    const startedAt = clock.monotonic();
    // A rejection is of all lanes, an error in the answer of one.
    const claimed = await this.ask(requests, this.slow.withinMs(claiming)).catch(errorOf);
    this.reserved -= reserved;
    this.underWay.delete(claiming);
    const turns = chosen.map((_, n) =>
      claimed instanceof Error ? claimed : (claimed[n] ?? new Error('a claim without an answer')),
    );
    const times = chosen.map(({ lane: { key } }, n) => ({ key, time: timeOf(turns[n]) }));
    this.slow.claimed(claiming, times, clock.monotonic() - startedAt);
    if (claimed instanceof Error && chosen.length > 1 && isOutOfTime(claimed)) {
      // It has done nothing.
      this.waiting.push(...chosen);
      // A stop has answered those that waited then.
      if (this.isStopped) this.stop();
      return false;
    }
    this.failed(chosen, turns);
    for (const [n, turn] of turns.entries()) this.settle(chosen[n] as Waiting<T>, turn);
    return turns.some((turn) => !(turn instanceof Error) && hasMore(turn));
  }

  /** An error in it is a rejection. */
  private async ask(requests: readonly ClaimRequest[], withinMs?: number): Promise<(Claim<T> | Error)[]> {
    return this.options.kind.claim(requests, withinMs);
  }

  /** Each lane gets its part of the free slots. A claim alone, which may take long, leaves half of them to the others. */
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
      // What is out of time has done nothing. After another error the claim may have been committed.
      if (!isOutOfTime(turn)) lane.claimFailed();
      resolve(turn);
      return;
    }
    lane.claimed(now, pace, turn, now + this.options.giveBackAfterMs());
    this.inFlight += turn.items.length;
    lane.inFlight += turn.items.length;
    resolve(turn);
  }

  /** What failed for many lanes alike, as a claim of all of them, is one report. Rows that a lost claim took are released. */
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

  /** The lanes go on meanwhile; the stop waits for it. */
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

/** The claim brought all that it might. */
export function hasMore({ grant, items }: Claim<unknown>): boolean {
  return items.length > 0 && items.length >= (grant?.slots ?? 0);
}
