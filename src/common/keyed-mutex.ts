/**
 * Lets work on one key go one after the other, and work on different keys at once. For what would meet at one row's
 * lock: there each waiter holds a connection, here it holds nothing.
 */
export class KeyedMutex {
  private readonly lines = new Map<string, { tail: Promise<unknown>; waiting: number }>();

  /** @param maxWaiting for one key, the one at work included. */
  constructor(
    private readonly maxWaiting: number,
    private readonly overloaded: () => Error,
  ) {}

  /** Keys with work under way. */
  get size(): number {
    return this.lines.size;
  }

  /** @throws what `overloaded` makes where too many wait for this key already. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(key) ?? { tail: Promise.resolve(), waiting: 0 };
    if (line.waiting >= this.maxWaiting) throw this.overloaded();
    this.lines.set(key, line);
    line.waiting++;
    const turn = line.tail.then(work);
    line.tail = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      line.waiting--;
      if (line.waiting === 0) this.lines.delete(key);
    }
  }
}
