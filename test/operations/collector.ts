import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LocalServer } from '../support/local-server.js';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  failed: boolean;
  resource: Record<string, unknown>;
}

interface OtlpAttribute {
  key: string;
  value: Record<string, unknown>;
}

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes?: OtlpAttribute[];
  links?: { traceId: string; spanId: string }[];
  status?: { code?: number };
}

interface OtlpBody {
  resourceSpans: { resource?: { attributes?: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

/** A collector that takes traces by OTLP over HTTP, as JSON; of other kinds it keeps the bytes only. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  /** False: it takes requests and never answers. */
  answers = true;

  private server!: LocalServer;

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.server = await LocalServer.start((request, response) =>
      collector.receive(request, response).catch(() => undefined),
    );
    return collector;
  }

  get url(): string {
    return this.server.url;
  }

  /** Everything that came, as text. */
  get text(): string {
    return this.requests.map(({ body }) => body.toString('latin1')).join('\n');
  }

  ofTrace(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    this.requests.push({ path: request.url ?? '', headers: request.headers, body });
    if (!this.answers) return;
    if (request.headers['content-type'] === 'application/json') this.take(JSON.parse(body.toString()) as OtlpBody);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }

  private take({ resourceSpans }: OtlpBody): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId,
          name: span.name,
          attributes: attributesOf(span.attributes),
          links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
          failed: span.status?.code === 2,
          resource: attributesOf(resource?.attributes),
        });
      }
    }
  }
}

function attributesOf(attributes: readonly OtlpAttribute[] = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [kind, content] = Object.entries(value)[0] ?? [];
      return [key, kind === 'intValue' ? Number(content) : content];
    }),
  );
}
