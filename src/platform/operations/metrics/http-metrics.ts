import type { IncomingMessage, ServerResponse } from 'node:http';
import { Histogram, type Registry } from 'prom-client';

/** What the router knows of a request once it has found its route. */
interface Routed extends IncomingMessage {
  route?: { path?: unknown };
}

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LABELS = ['method', 'route', 'status'] as const;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Routes times methods times statuses that occur; beyond it nothing new is counted apart. */
const MAX_SERIES = 2_000;

/** How long requests took, by route: the route and not the path, or every id would be a series of its own. */
export class HttpMetrics {
  private readonly histogram: Histogram<(typeof LABELS)[number]>;
  private readonly series = new Map<string, Histogram.Internal<(typeof LABELS)[number]>>();

  constructor(registry: Registry) {
    this.histogram = new Histogram({
      name: 'herald_http_request_seconds',
      help: 'Time from the first byte of a request to the end of its answer.',
      labelNames: LABELS,
      buckets: SECONDS,
      registers: [registry],
    });
  }

  observe(req: IncomingMessage, res: ServerResponse, startedAt: number): void {
    const { method = '', route } = req as Routed;
    const path = typeof route?.path === 'string' ? route.path : 'none';
    this.seriesOf(METHODS.has(method) ? method : 'other', path, String(res.statusCode)).observe(
      (performance.now() - startedAt) / 1_000,
    );
  }

  private seriesOf(method: string, route: string, status: string) {
    const key = `${method} ${route} ${status}`;
    let found = this.series.get(key);
    if (found === undefined) {
      found = this.histogram.labels(
        this.series.size < MAX_SERIES
          ? { method, route, status }
          : { method: 'other', route: 'other', status: 'other' },
      );
      this.series.set(key, found);
    }
    return found;
  }
}
