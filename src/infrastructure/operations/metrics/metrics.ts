import { describeError } from '../../../common/describe-error.js';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Counters } from '../counters.js';
import { countersText } from './counters-text.js';
import { HttpMetrics } from './http-metrics.js';

export interface Sample {
  value: number;
  labels?: Readonly<Record<string, string>>;
}

/** Something that is measured when somebody asks. */
export interface GaugeSource {
  /** In snake_case, without the prefix `herald_`, with its unit at the end. */
  name: string;
  help: string;
  labelNames?: readonly string[];
  /** Must cost little: it runs every few seconds while somebody scrapes. */
  collect(): Promise<Sample[]>;
}

const FRESH_MS = 5_000;
const COLLECT_TIMEOUT_MS = 2_000;
const SAMPLE_LIMIT = 1_000;

/** What `/metrics` shows, in the text format of Prometheus. */
@Injectable()
export class Metrics {
  private readonly logger = new Logger(Metrics.name);
  private readonly registry = new Registry();
  private readonly http = new HttpMetrics();
  private readonly sources: { source: GaugeSource; gauge: Gauge }[] = [];
  private collectedAt = -Infinity;
  private collecting: Promise<void> | null = null;

  constructor(@Inject(Counters) private readonly counters: Counters) {
    collectDefaultMetrics({ register: this.registry });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Adds a measure; call it while the application starts. */
  add(source: GaugeSource): void {
    const gauge = new Gauge({
      name: `herald_${source.name}`,
      help: source.help,
      labelNames: [...(source.labelNames ?? [])],
      registers: [this.registry],
    });
    this.sources.push({ source, gauge });
  }

  /** Counts an answered request. */
  observe(req: IncomingMessage, res: ServerResponse, startedAt: number): void {
    this.http.observe(req, res, startedAt);
  }

  /** However many ask at once, everything is measured once in five seconds. */
  async render(): Promise<string> {
    if (performance.now() - this.collectedAt > FRESH_MS) {
      this.collecting ??= this.collectAll().finally(() => {
        this.collecting = null;
      });
      await this.collecting;
    }
    return `${await this.registry.metrics()}\n${this.http.render()}${countersText(this.counters.snapshot())}`;
  }

  private async collectAll(): Promise<void> {
    await Promise.all(this.sources.map((each) => this.collect(each)));
    this.collectedAt = performance.now();
  }

  /** A measure that fails or hangs is left out: an old value would be taken for a new one. */
  private async collect({ source, gauge }: { source: GaugeSource; gauge: Gauge }): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('it took too long')), COLLECT_TIMEOUT_MS);
    });
    gauge.reset();
    try {
      const samples = await Promise.race([source.collect(), late]);
      for (const { labels = {}, value } of samples.slice(0, SAMPLE_LIMIT)) gauge.set(labels, value);
    } catch (error) {
      this.counters.increment('metrics_collect_failed');
      this.logger.warn(`${source.name} could not be measured: ${describeError(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }
}
