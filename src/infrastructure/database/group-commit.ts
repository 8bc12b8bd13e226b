import { commonErrors } from '../../common/common.errors.js';
import { codeOf } from '../../common/describe-error.js';
import type { Span, Tracing } from '../operations/tracing.js';
import { BY_INDEX, type Database, type Statements } from './database.js';
import { isExhausted, isLocked, isOutOfTime, isTransientConflict, isUnreachable } from './database-faults.js';

interface GroupCommitSettings<I, O> extends Partial<typeof DEFAULTS> {
  name: string;
  /**
   * Writes all items and returns one result per item, in the same order. Runs in a transaction; with `transactional:
   * false` its single statement is the transaction, which saves two round trips.
   */
  commit(items: I[], statements: Statements): Promise<O[]>;
  transactional?: boolean;
  /** The statements concern a queue: see `Database.byIndex`. */
  byIndex?: boolean;
  /** The size of an item for `maxSize`. Default 1: then `maxBatch` alone limits a batch. */
  sizeOf?(item: I): number;
  /** Limit of the sizes in one batch; a larger item gets a batch of its own. */
  maxSize?: number;
  /** Even the first try of a batch waits only briefly for locks, so that a locked item hardly delays the others. */
  careful?: boolean;
  gather?: GatherTimes;
  /** For a span per batch, if items were submitted with spans. */
  tracing?: Tracing;
}

const DEFAULTS = {
  /** Limit of items in one batch. */
  maxBatch: 200,
  /** Items waiting for a batch; further ones are refused with SERVICE_UNAVAILABLE. */
  maxWaiting: 2_000,
  /**
   * How long an item whose row is locked by another transaction is retried, in milliseconds from its arrival; null: the
   * batch only reads, and waits for no lock.
   */
  lockedForMs: 10_000 as number | null,
  /**
   * A batch starts beside another one if that has been in flight for this long, or if a full batch waits. Few large
   * batches cost less than many small ones.
   */
  overlapAfterMs: 0,
  /** Limit of batches in flight; further items collect. */
  maxInFlight: 2,
};

/** How long items that may wait are collected into one batch. */
export interface GatherTimes {
  /** The batch starts after this long without a new item: callers that wait for their answers send no more. */
  quietMs: number;
  /** The batch starts at the latest this long after its first item. */
  atMostMs: number;
  /** While items keep coming, the batch starts no earlier than this long after a large one. */
  apartMs?: number;
  /** A batch of at least this size (`sizeOf`) is large. Default 0: every batch. */
  apartAfter?: number;
  /** The batch starts as soon as this many items wait. Default: a full batch. */
  enough?: number;
}

interface Waiting<I, O> {
  item: I;
  span: Span | undefined;
  /** Monotonic milliseconds. */
  since: number;
  resolve(result: O): void;
  reject(error: unknown): void;
}

const MAX_TRIES = 3;
const LOCKED_AGAIN_MS = 500;
// Not for every batch, because it costs a round trip.
const CAREFUL = `set local lock_timeout = '200ms'`;
/**
 * Callers within one turn of the event loop share a batch, and so do those of the next turns while each brings more.
 */
const TURNS_MS = 2;

/**
 * Collects the writes of many callers into few transactions: while two batches are being committed, further callers
 * wait in order and share the next one. If a batch fails because of an item, it is halved until the failing item is
 * alone, so that the others are not affected. A batch that may have met a lock is moved to a separate list and halved
 * there, with short lock timeouts; the locked item is retried until its lock is released. A batch that met a deadlock
 * is retried. A batch with an unknown result (connection lost in COMMIT) is not.
 */
export class GroupCommit<I, O> {
  private readonly settings: GroupCommitSettings<I, O> & typeof DEFAULTS;
  private readonly waiting: Waiting<I, O>[] = [];
  private head = 0;
  private inFlight = 0;
  private scheduled = false;
  /** Items collect until `gatherUntil`, and at the latest until `gatherAtMost` (monotonic ms). */
  private gatherUntil = 0;
  private gatherAtMost = 0;
  private gathering: NodeJS.Timeout | null = null;
  /** When the last batch began, and the last large one (`apartAfter`); monotonic ms. */
  private begunAt = -Infinity;
  private largeBegunAt = -Infinity;
  private idleWaiters: (() => void)[] = [];
  /** Batches delayed by a lock that are ready for another try. */
  private readonly aside: Waiting<I, O>[][] = [];
  /** All batches delayed by a lock: the ready ones, the one in flight, and those that wait for their next try. */
  private asideCount = 0;
  private trying = false;

  constructor(
    private readonly database: Database,
    settings: GroupCommitSettings<I, O>,
  ) {
    this.settings = { ...DEFAULTS, ...settings };
  }

  /** Items that wait for a batch. */
  get depth(): number {
    return this.waiting.length - this.head;
  }

  /**
   * Resolves once the item is durable.
   *
   * @param mayWait it may be gathered with others (`gather`); one that may not wait takes the waiting ones along.
   * @param span the span of the work that the item belongs to.
   * @throws SERVICE_UNAVAILABLE when too many wait or the outcome of the commit is unknown, or the item's own error;
   * Error when called inside a transaction: the batch commits on its own, so the caller could not undo it.
   */
  submit(item: I, mayWait = false, span?: Span): Promise<O> {
    const { name, maxWaiting } = this.settings;
    if (this.database.inTransaction) throw new Error(`${name}: a group commit cannot take part in a transaction`);
    if (this.depth >= maxWaiting) {
      return Promise.reject(commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: `${name}: too many waiting` }));
    }
    return new Promise<O>((resolve, reject) => {
      const since = performance.now();
      this.gather(since, mayWait);
      this.waiting.push({ item, span, since, resolve, reject });
      this.schedule();
    });
  }

  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  private gather(now: number, mayWait: boolean): void {
    const { gather } = this.settings;
    if (gather === undefined || !mayWait) {
      this.gatherUntil = 0;
      return;
    }
    if (this.depth === 0) this.gatherAtMost = now + gather.atMostMs;
    else if (this.gatherUntil === 0) return;
    const earliest = Math.max(now + gather.quietMs, this.largeBegunAt + (gather.apartMs ?? 0));
    this.gatherUntil = Math.min(earliest, this.gatherAtMost);
  }

  private schedule(): void {
    if (this.scheduled || this.inFlight >= this.settings.maxInFlight || this.depth === 0) return;
    const now = performance.now();
    const enough = this.settings.gather?.enough ?? this.settings.maxBatch;
    const gatherMs = this.depth >= enough ? 0 : this.startsAt() - now;
    if (gatherMs > 0) {
      this.gathering ??= setTimeout(() => {
        this.gathering = null;
        this.schedule();
      }, gatherMs);
      return;
    }
    this.scheduled = true;
    this.startNextTurn(now + TURNS_MS);
  }

  private startsAt(): number {
    const { overlapAfterMs } = this.settings;
    return this.inFlight === 0 ? this.gatherUntil : Math.max(this.gatherUntil, this.begunAt + overlapAfterMs);
  }

  private startNextTurn(latest: number): void {
    const { depth } = this;
    setImmediate(() => {
      const isGrowing = this.depth > depth && this.depth < this.settings.maxBatch;
      if (isGrowing && performance.now() < latest) {
        this.startNextTurn(latest);
        return;
      }
      this.scheduled = false;
      this.startBatch();
      this.schedule();
    });
  }

  private startBatch(): void {
    if (this.gathering !== null) clearTimeout(this.gathering);
    this.gathering = null;
    const batch = this.take();
    if (batch.length === 0) return;
    this.inFlight++;
    this.begunAt = performance.now();
    if (this.isLarge(batch)) this.largeBegunAt = this.begunAt;
    // While a row is locked a further batch might meet it too.
    void this.settle(batch, 1, this.asideCount > 0).finally(() => {
      this.inFlight--;
      this.schedule();
      this.wakeIdle();
    });
  }

  private nextCount(): number {
    const { settings } = this;
    const most = Math.min(settings.maxBatch, this.depth);
    if (settings.maxSize === undefined) return most;
    let count = 0;
    for (let size = 0; count < most; count++) {
      size += this.sizeOf(this.waiting[this.head + count] as Waiting<I, O>);
      if (size > settings.maxSize && count > 0) break;
    }
    return count;
  }

  private sizeOf({ item }: Waiting<I, O>): number {
    return this.settings.sizeOf?.(item) ?? 1;
  }

  private isLarge(batch: readonly Waiting<I, O>[]): boolean {
    const apartAfter = this.settings.gather?.apartAfter;
    return apartAfter === undefined || batch.reduce((size, each) => size + this.sizeOf(each), 0) >= apartAfter;
  }

  private take(): Waiting<I, O>[] {
    const batch = this.waiting.slice(this.head, this.head + this.nextCount());
    this.head += batch.length;
    if (this.head === this.waiting.length) {
      this.waiting.length = 0;
      this.head = 0;
    } else if (this.head > 4_096) {
      this.waiting.splice(0, this.head);
      this.head = 0;
    }
    return batch;
  }

  private async settle(batch: Waiting<I, O>[], tries: number, careful: boolean): Promise<void> {
    let results: O[];
    try {
      results = await this.commit(batch, careful || this.settings.careful === true);
    } catch (error) {
      return this.settleFailure(batch, tries, careful, error);
    }
    batch.forEach((waiting, index) => {
      waiting.resolve(results[index] as O);
    });
  }

  private async settleFailure(batch: Waiting<I, O>[], tries: number, careful: boolean, error: unknown): Promise<void> {
    const { lockedForMs } = this.settings;
    if (lockedForMs !== null) {
      if (careful && isLocked(error)) return this.setLockedAside(batch, lockedForMs, error);
      // One careful try of the whole batch shows whether a lock is the cause, or a slow database.
      if (!careful && (isLocked(error) || isOutOfTime(error))) return this.setAside(batch);
    }
    // If the database refuses work, the halves of the batch are not tried.
    const isUnknown = isUnreachable(error) || isExhausted(error);
    if (isUnknown || isTransientConflict(error)) {
      if (!isUnknown && tries < MAX_TRIES) return this.settle(batch, tries + 1, careful);
      const failure = this.unavailable(error);
      for (const waiting of batch) waiting.reject(failure);
      return;
    }
    if (batch.length === 1) {
      batch[0]?.reject(error);
      return;
    }
    for (const half of halvesOf(batch)) await this.settle(half, 1, careful);
  }

  private setLockedAside(batch: Waiting<I, O>[], forMs: number, error: unknown): void {
    const [first] = batch;
    if (batch.length > 1) {
      for (const half of halvesOf(batch)) this.setAside(half);
    } else if (first !== undefined && performance.now() - first.since > forMs) {
      first.reject(this.unavailable(error));
    } else {
      this.setAside(batch, LOCKED_AGAIN_MS);
    }
  }

  private setAside(batch: Waiting<I, O>[], delayMs = 0): void {
    this.asideCount++;
    setTimeout(() => {
      // The largest first, because they contain items that are not locked.
      const place = this.aside.findIndex((other) => other.length < batch.length);
      this.aside.splice(place < 0 ? this.aside.length : place, 0, batch);
      void this.tryAside();
    }, delayMs);
  }

  /** One after the other, so that many locked items use one connection. */
  private async tryAside(): Promise<void> {
    if (this.trying) return;
    this.trying = true;
    for (let batch = this.aside.shift(); batch !== undefined; batch = this.aside.shift()) {
      await this.settle(batch, 1, true);
      this.asideCount--;
    }
    this.trying = false;
    this.wakeIdle();
  }

  private get isIdle(): boolean {
    return this.inFlight === 0 && this.depth === 0 && this.asideCount === 0;
  }

  private wakeIdle(): void {
    if (!this.isIdle) return;
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const wake of waiters) wake();
  }

  private unavailable(cause: unknown): Error {
    const internal = `${this.settings.name}: outcome of the commit unknown, or refused`;
    return commonErrors.SERVICE_UNAVAILABLE(undefined, { internal, cause });
  }

  private commit(batch: readonly Waiting<I, O>[], careful: boolean): Promise<O[]> {
    const items = batch.map((waiting) => waiting.item);
    const { tracing } = this.settings;
    return tracing?.on === true ? this.traced(tracing, batch, items, careful) : this.write(items, careful);
  }

  private async traced(tracing: Tracing, batch: readonly Waiting<I, O>[], items: I[], careful: boolean): Promise<O[]> {
    const span = tracing.together(
      `commit ${this.settings.name}`,
      batch.map((waiting) => waiting.span),
    );
    try {
      const results = await this.write(items, careful);
      tracing.end(span);
      return results;
    } catch (error) {
      tracing.end(span, { failure: codeOf(error) ?? 'failed' });
      throw error;
    }
  }

  private write(items: I[], careful: boolean): Promise<O[]> {
    const { database, settings } = this;
    const local = [...(settings.byIndex === true ? [BY_INDEX] : []), ...(careful ? [CAREFUL] : [])];
    const commit = (): Promise<O[]> => settings.commit(items, database);
    return database.detached(() =>
      settings.transactional === false && !careful
        ? commit()
        : database.transaction(commit, local.length === 0 ? undefined : local.join('; ')),
    );
  }
}

export function halvesOf<T>(batch: readonly T[]): [T[], T[]] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}
