import { LRUCache } from 'lru-cache';
import { systemClock, type Clock } from './clock.js';
import { onPrimary } from './late-read.js';

export interface ExpiringCacheOptions<V> {
  /** How long a value may be used, counted from the start of its read, so that a slow read does not extend it. */
  ttlMs: number;
  /** Least recently used entries beyond this number are dropped. */
  maxEntries: number;
  /** Values for which this is false are never kept. Default: null and undefined are not kept. */
  keep?: (value: V) => boolean;
  clock?: Clock;
}

/**
 * Options that bound an LRUCache. Its `max` would allocate lists of the largest size at once; a size of one per entry
 * lets them grow.
 */
export const upTo = (maxSize: number) => ({ maxSize, sizeCalculation: () => 1 });

/**
 * A cache of short-lived reads. Concurrent reads of one key share one load. The `fetch` of `lru-cache` counts the time
 * from the end of a read and rejects waiting callers when a key is invalidated, so the sharing is done here.
 */
export class ExpiringCache<K extends {}, V> {
  private readonly entries: LRUCache<K, { value: V }>;
  private readonly loading = new Map<K, Promise<V>>();
  private readonly clock: Clock;
  private readonly keep: (value: V) => boolean;

  constructor(private readonly options: ExpiringCacheOptions<V>) {
    this.clock = options.clock ?? systemClock;
    this.keep = options.keep ?? ((value) => value !== null && value !== undefined);
    const perf = { now: () => this.clock.monotonic() };
    this.entries = new LRUCache({ ...upTo(options.maxEntries), ttl: options.ttlMs, ttlResolution: 0, perf });
  }

  /** A fresh value without loading, else undefined. */
  peek(key: K): V | undefined {
    return this.entries.get(key)?.value;
  }

  /** The fresh value, else what `load` brings. An error of `load` reaches every caller that shared it. */
  async get(key: K, load: () => Promise<V>): Promise<V> {
    const fresh = this.entries.get(key);
    if (fresh !== undefined) return fresh.value;
    const underWay = this.loading.get(key);
    if (underWay !== undefined) return underWay;
    const startedAt = this.clock.monotonic();
    // Later requests share the cached value, and some of them may not read late, so it is read from the primary.
    const promise = onPrimary(load)
      .then((value) => {
        // A value read before an invalidation may be out of date.
        if (this.loading.get(key) === promise && this.keep(value)) this.set(key, value, startedAt);
        return value;
      })
      .finally(() => {
        if (this.loading.get(key) === promise) this.loading.delete(key);
      });
    this.loading.set(key, promise);
    return promise;
  }

  set(key: K, value: V, readAt = this.clock.monotonic(), ttlMs = this.options.ttlMs): void {
    this.entries.set(key, { value }, { start: readAt, ttl: ttlMs });
  }

  delete(key: K): void {
    this.entries.delete(key);
    this.loading.delete(key);
  }

  clear(): void {
    this.entries.clear();
    this.loading.clear();
  }
}
