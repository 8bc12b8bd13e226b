import { systemClock, type Clock } from './clock.js';

interface Entry<V> {
  value: V;
  /** Monotonic milliseconds. */
  freshUntil: number;
}

export interface ExpiringCacheOptions<V> {
  /** How long an answer may be used, counted from the start of its read, so that a slow read is not a stale one. */
  ttlMs: number;
  /** Least recently used entries beyond this number are dropped. */
  maxEntries: number;
  /** Answers for which this is false are never kept. Default: null and undefined are not kept. */
  keep?: (value: V) => boolean;
  clock?: Clock;
}

/** A bounded cache of short-lived reads. Concurrent reads of one key share one load. */
export class ExpiringCache<K, V> {
  private readonly entries = new Map<K, Entry<V>>();
  private readonly loading = new Map<K, Promise<V>>();
  private generation = 0;
  private readonly clock: Clock;
  private readonly keep: (value: V) => boolean;

  constructor(private readonly options: ExpiringCacheOptions<V>) {
    this.clock = options.clock ?? systemClock;
    this.keep = options.keep ?? ((value) => value !== null && value !== undefined);
  }

  /** A fresh value without loading, else undefined. */
  peek(key: K): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.freshUntil <= this.clock.monotonic()) {
      this.entries.delete(key);
      return undefined;
    }
    return entry.value;
  }

  /** The fresh value, else what `load` brings. An error of `load` reaches every caller that shared it. */
  async get(key: K, load: () => Promise<V>): Promise<V> {
    const fresh = this.peek(key);
    if (fresh !== undefined) return fresh;
    const underWay = this.loading.get(key);
    if (underWay !== undefined) return underWay;
    const startedAt = this.clock.monotonic();
    const generation = this.generation;
    const promise = load()
      .then((value) => {
        // What was read before an invalidation may be what the invalidation was about.
        if (generation === this.generation && this.loading.get(key) === promise && this.keep(value)) {
          this.set(key, value, startedAt);
        }
        return value;
      })
      .finally(() => {
        if (this.loading.get(key) === promise) this.loading.delete(key);
      });
    this.loading.set(key, promise);
    return promise;
  }

  set(key: K, value: V, readAt = this.clock.monotonic(), ttlMs = this.options.ttlMs): void {
    this.entries.delete(key);
    this.entries.set(key, { value, freshUntil: readAt + ttlMs });
    if (this.entries.size <= this.options.maxEntries) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }

  delete(key: K): void {
    this.entries.delete(key);
    this.loading.delete(key);
  }

  clear(): void {
    this.generation++;
    this.entries.clear();
    this.loading.clear();
  }
}
