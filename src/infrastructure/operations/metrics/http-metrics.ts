import type { IncomingMessage, ServerResponse } from 'node:http';

/** What the router knows of a request once it has found its route. */
interface Routed extends IncomingMessage {
  route?: { path?: unknown };
}

interface Series {
  labels: string;
  /** Requests by bucket, not yet added up; the last one is for what took longer than all. */
  counts: number[];
  seconds: number;
}

const NAME = 'herald_http_request_seconds';
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Routes times methods times statuses that occur; beyond it nothing new is counted apart. */
const MAX_SERIES = 2_000;

/**
 * How long requests took, by route: the route and not the path, or every id would be a series of its own. Counted by
 * hand, for prom-client makes a key of its labels anew for every request.
 */
export class HttpMetrics {
  private readonly series = new Map<string, Series>();

  observe(req: IncomingMessage, res: ServerResponse, startedAt: number): void {
    const { method = '', route } = req as Routed;
    const path = typeof route?.path === 'string' ? route.path : 'none';
    const seconds = (performance.now() - startedAt) / 1_000;
    const series = this.seriesOf(method, path, res.statusCode);
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
    // Routes come from our own code and hold no quotes.
    const labels = `method="${method}",route="${route}",status="${status === 0 ? 'other' : status}"`;
    const made: Series = { labels, counts: [], seconds: 0 };
    this.series.set(key, made);
    return made;
  }
}
