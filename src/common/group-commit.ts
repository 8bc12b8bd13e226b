export interface GroupCommitOptions<I, O> {
  /** Writes all items durably in one transaction and returns one result an item, in the same order. */
  commit(items: I[]): Promise<O[]>;
  /** Most items of one batch. */
  maxBatch: number;
  /** Batches under way at once; those that come meanwhile gather. */
  maxInFlight: number;
  /** Items waiting for a batch; further ones are refused with `overloaded`. */
  maxWaiting: number;
  /** The whole batch failed through no item's fault and may be tried again (deadlock). */
  isRetryable(error: unknown): boolean;
  /** The batch may or may not have been written (connection lost in COMMIT): nothing is tried again. */
  isOutcomeUnknown(error: unknown): boolean;
  overloaded(): Error;
  unavailable(cause: unknown): Error;
}

interface Waiting<I, O> {
  item: I;
  resolve(result: O): void;
  reject(error: unknown): void;
}

const MAX_TRIES = 3;

/**
 * Gathers the writes of many callers into few transactions: while `maxInFlight` batches are being committed, whoever
 * comes next waits in line and shares the following one.
 *
 * A batch that fails for an item's own fault is halved until the guilty item stands alone, so strangers that happened
 * to share its batch are not harmed. Pure: knows nothing of databases.
 */
export class GroupCommitRunner<I, O> {
  private readonly waiting: Waiting<I, O>[] = [];
  private head = 0;
  private inFlight = 0;
  private scheduled = false;
  private idleWaiters: (() => void)[] = [];

  constructor(private readonly options: GroupCommitOptions<I, O>) {}

  /** Items that wait for a batch. */
  get depth(): number {
    return this.waiting.length - this.head;
  }

  /**
   * Resolves once the item is durable.
   *
   * @throws what `overloaded` makes when too many wait, `unavailable` when the outcome of the commit is unknown, or the
   * item's own error.
   */
  submit(item: I): Promise<O> {
    if (this.depth >= this.options.maxWaiting) return Promise.reject(this.options.overloaded());
    return new Promise<O>((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void> {
    if (this.inFlight === 0 && this.depth === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  /** Starts a batch in the next turn of the event loop, so that all callers of this turn share it. */
  private schedule(): void {
    if (this.scheduled || this.inFlight >= this.options.maxInFlight || this.depth === 0) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.startBatch();
      this.schedule();
    });
  }

  private startBatch(): void {
    const batch = this.take();
    if (batch.length === 0) return;
    this.inFlight++;
    void this.settle(batch, 1).finally(() => {
      this.inFlight--;
      this.schedule();
      this.wakeIdle();
    });
  }

  private take(): Waiting<I, O>[] {
    const batch = this.waiting.slice(this.head, this.head + this.options.maxBatch);
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

  private async settle(batch: Waiting<I, O>[], tries: number): Promise<void> {
    let results: O[];
    try {
      results = await this.options.commit(batch.map((waiting) => waiting.item));
    } catch (error) {
      return this.settleFailure(batch, tries, error);
    }
    batch.forEach((waiting, index) => {
      waiting.resolve(results[index] as O);
    });
  }

  private async settleFailure(batch: Waiting<I, O>[], tries: number, error: unknown): Promise<void> {
    if (this.options.isOutcomeUnknown(error)) {
      const failure = this.options.unavailable(error);
      for (const waiting of batch) waiting.reject(failure);
      return;
    }
    if (this.options.isRetryable(error)) {
      if (tries < MAX_TRIES) return this.settle(batch, tries + 1);
      const failure = this.options.unavailable(error);
      for (const waiting of batch) waiting.reject(failure);
      return;
    }
    if (batch.length === 1) {
      batch[0]?.reject(error);
      return;
    }
    const middle = Math.ceil(batch.length / 2);
    await this.settle(batch.slice(0, middle), 1);
    await this.settle(batch.slice(middle), 1);
  }

  private wakeIdle(): void {
    if (this.inFlight > 0 || this.depth > 0) return;
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const wake of waiters) wake();
  }
}
