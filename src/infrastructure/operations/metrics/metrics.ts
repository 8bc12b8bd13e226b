import type { ServerResponse } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { describeError } from '../../../common/describe-error.js';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { within } from '../../../common/within.js';
import { type HeraldRequest, pathOfRoute } from '../../http/herald-request.js';
import { Counters, countersText } from '../counters.js';

interface Series {
  labels: string;
  /** Requests by bucket, not cumulative; the last one is for everything slower. */
  counts: number[];
  seconds: number;
}

const NAME = 'herald_http_request_seconds';
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** More than the existing combinations of route, method and status; beyond it no new series begins. */
const MAX_SERIES = 2_000;

/**
 * Durations of requests by route. By route rather than path, or every id would be a series. Not prom-client's
 * histogram, which computes a key from the labels for every request.
 */
export class HttpMetrics {
  private readonly series = new Map<string, Series>();

  observe(req: HeraldRequest, res: ServerResponse): void {
    const seconds = (performance.now() - req.startedAt) / 1_000;
    const series = this.seriesOf(req.method, pathOfRoute(req) ?? 'none', res.statusCode);
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] ?? Infinity)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.seconds += seconds;
  }

  /** In the text format of Prometheus. */
  render(): string {
    const lines = [`# HELP ${NAME} Time from the first byte of a request to the end of its answer.`];
    lines.push(`# TYPE ${NAME} histogram`);
    for (const { labels, counts, seconds } of this.series.values()) {
      let sum = 0;
      for (const [index, least] of [...BUCKETS, '+Inf'].entries()) {
        sum += counts[index] ?? 0;
        lines.push(`${NAME}_bucket{le="${least}",${labels}} ${sum}`);
      }
      lines.push(`${NAME}_sum{${labels}} ${seconds}`, `${NAME}_count{${labels}} ${sum}`);
    }
    return `${lines.join('\n')}\n`;
  }

  private seriesOf(method: string, route: string, status: number): Series {
    const key = `${method} ${route} ${status}`;
    const known = this.series.get(key);
    if (known !== undefined) return known;
    if (!METHODS.has(method)) return this.seriesOf('OPTIONS', 'other', 0);
    if (this.series.size >= MAX_SERIES && route !== 'other') return this.seriesOf(method, 'other', 0);
    // Routes come from the source code and contain no quotes.
    const labels = `method="${method}",route="${route}",status="${status === 0 ? 'other' : status}"`;
    const made: Series = { labels, counts: [], seconds: 0 };
    this.series.set(key, made);
    return made;
  }
}

export interface Sample {
  value: number;
  labels?: Readonly<Record<string, string>>;
}

/** A gauge that is measured on request. */
export interface GaugeSource {
  /** In snake_case, without the prefix `herald_`, with its unit at the end. */
  name: string;
  help: string;
  labelNames?: readonly string[];
  /** Must be cheap: it runs every few seconds. */
  collect(): Promise<Sample[]>;
}

const FRESH_MS = 5_000;
/** Time limit for all gauges together: Prometheus waits ten seconds. */
const COLLECT_TIMEOUT_MS = 5_000;
const SAMPLE_LIMIT = 1_000;

/** The contents of `/metrics`, in the text format of Prometheus. */
@Injectable()
export class Metrics {
  private readonly logger = new Logger(Metrics.name);
  private readonly registry = new Registry();
  readonly http = new HttpMetrics();
  private readonly sources: { source: GaugeSource; gauge: Gauge }[] = [];
  private readonly collected = new ExpiringCache<'all', true>({ ttlMs: FRESH_MS, maxEntries: 1 });

  constructor(@Inject(Counters) private readonly counters: Counters) {
    collectDefaultMetrics({ register: this.registry });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Adds a gauge; call it while the application starts. */
  add(source: GaugeSource): void {
    const gauge = new Gauge({
      name: `herald_${source.name}`,
      help: source.help,
      labelNames: [...(source.labelNames ?? [])],
      registers: [this.registry],
    });
    this.sources.push({ source, gauge });
  }

  /** However many requests come, everything is measured once in five seconds. */
  async render(): Promise<string> {
    await this.collected.get('all', () => this.collectAll());
    return `${await this.registry.metrics()}\n${this.http.render()}${countersText(this.counters.snapshot())}`;
  }

  /**
   * One after another: all at once they would take every connection of the pool from requests, and show up themselves
   * as waiting in `database_connections`.
   */
  private async collectAll(): Promise<true> {
    const end = performance.now() + COLLECT_TIMEOUT_MS;
    for (const each of this.sources) await this.collect(each, Math.max(0, end - performance.now()));
    return true;
  }

  /** A gauge that fails or hangs is left out: an old value would look current, and 0 would look good. */
  private async collect({ source, gauge }: { source: GaugeSource; gauge: Gauge }, timeoutMs: number): Promise<void> {
    gauge.reset();
    // After a reset, a gauge without labels is 0.
    if (source.labelNames === undefined) gauge.remove();
    try {
      const samples = await within(timeoutMs, source.collect());
      if (samples === null) throw new Error('it took too long');
      for (const { labels = {}, value } of samples.slice(0, SAMPLE_LIMIT)) gauge.set(labels, value);
    } catch (error) {
      this.counters.increment('metrics_collect_failed');
      this.logger.warn(`${source.name} could not be measured: ${describeError(error)}`);
    }
  }
}
