import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { within } from '../../common/within.js';
import { describeError } from '../../common/describe-error.js';
import type { Config } from '../config/config.js';
import type { Counters } from './counters.js';
import { heraldVersion } from '../../common/version.js';

/** The trace stored in a row: the ids of trace and parent span, 16 and 8 bytes, as 48 hexadecimal digits. */
export type TraceContext = string;

export interface SpanOptions {
  /** Default: internal. */
  kind?: 'client' | 'consumer' | undefined;
  /** Without a recorded parent there is no span: only requests begin traces. */
  parent: Span | TraceContext | null | undefined;
  /** A span of another trace. */
  link?: Span | undefined;
  /** Never contents, numbers, names or keys: only our ids, kinds, counts and codes. */
  attributes?: Attributes;
  /** By `performance.now()`, like all times of spans. Default: now. */
  startedAt?: number | undefined;
}

export type RecorderOptions = Config['tracing'] & { url: string; roles: readonly string[] };

const KINDS = { client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };
const BATCH = 512;
/** How long spans wait for others, to be exported together. */
const GATHER_MS = 1_000;
/** Extra time for an export beyond the time limit of its answer. */
const EXPORT_MARGIN_MS = 1_000;
const COMPLAIN_EVERY_MS = 60_000;
/** Limit of any text in an attribute. */
const MAX_VALUE_LENGTH = 256;

/** OpenTelemetry's SDK, loaded only if traces are recorded. */
export class TraceRecorder {
  private constructor(
    private readonly provider: TracerProvider,
    private readonly tracer: Tracer,
  ) {}

  static async open(options: RecorderOptions, counters: Counters): Promise<TraceRecorder> {
    const provider = new TracerProvider({
      resource: defaultResource().merge(
        resourceFromAttributes({
          'service.version': heraldVersion(),
          'service.instance.id': randomUUID(),
          'herald.roles': [...options.roles],
          ...options.resourceAttributes,
          'service.name': options.serviceName,
        }),
      ),
      sampler: samplerOf(options),
      spanLimits: { attributeValueLengthLimit: MAX_VALUE_LENGTH },
      spanProcessors: [new CountedBatches(await exporterOf(options), options, counters)],
    });
    return new TraceRecorder(provider, provider.getTracer('herald'));
  }

  request(method: string, traceparent: unknown): Span {
    const parent = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
    const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
    return this.tracer.startSpan(
      method,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } },
      context,
    );
  }

  /** @param others spans that share this work: each is linked with this one, in both directions if it is a span. */
  start(name: string, options: SpanOptions, others: readonly (Span | TraceContext)[] = []): Span {
    const { kind, parent, link, attributes, startedAt } = options;
    const context = contextOf(parent);
    const links = others.map((each) => ({ context: spanContextOf(each) }));
    if (link !== undefined && link.spanContext().traceId !== trace.getSpanContext(context)?.traceId) {
      links.push({ context: link.spanContext() });
    }
    const span = this.tracer.startSpan(
      name,
      { kind: kind && KINDS[kind], attributes, startTime: startedAt, links },
      context,
    );
    for (const each of others) if (typeof each === 'object') each.addLink({ context: span.spanContext() });
    return span;
  }

  fail(span: Span, word: string): void {
    span.setAttribute('error.type', word);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }

  /** Exports what is left, within this time. */
  async close(withinMs: number): Promise<void> {
    // A failure was already counted and logged where it occurred.
    await within(
      withinMs,
      this.provider.shutdown().catch(() => undefined),
    );
  }
}

function contextOf(parent: SpanOptions['parent']): Context {
  return parent ? trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent)) : ROOT_CONTEXT;
}

/** Rows store recorded traces only. */
function spanContextOf(member: Span | TraceContext): SpanContext {
  if (typeof member === 'object') return member.spanContext();
  return { traceId: member.slice(0, 32), spanId: member.slice(32), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

async function exporterOf({ protocol, url, headers, timeoutMs }: RecorderOptions): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter({ url, headers, timeoutMillis: timeoutMs });
}

function samplerOf({ sampler, ratio }: RecorderOptions): Sampler {
  const isParentBased = sampler.startsWith('parentbased_');
  const roots: Record<string, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const root = (roots[sampler.replace('parentbased_', '')] ?? (() => new AlwaysOnSampler()))();
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

/**
 * Counts exported and failed spans, and logs at most once a minute that the collector refuses them. If too many spans
 * wait, it drops and counts new ones.
 */
class CountedBatches implements SpanProcessor {
  private readonly logger = new Logger('Tracing');
  private readonly batches: BatchSpanProcessor;
  private waiting = 0;
  private complainedAt = -Infinity;

  constructor(
    exporter: SpanExporter,
    private readonly options: RecorderOptions,
    private readonly counters: Counters,
  ) {
    const { timeoutMs, maxQueue } = options;
    this.batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) => {
          this.waiting -= spans.length;
          exporter.export(spans, (result) => {
            this.count(spans.length, result);
            done(result);
          });
        },
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: maxQueue,
      maxExportBatchSize: Math.min(BATCH, maxQueue),
      scheduledDelayMillis: GATHER_MS,
      exportTimeoutMillis: timeoutMs + EXPORT_MARGIN_MS,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.waiting >= this.options.maxQueue) {
      this.counters.increment('trace_spans_dropped');
      return;
    }
    this.waiting++;
    this.batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.batches.shutdown();
  }

  private count(spans: number, { code, error }: ExportResult): void {
    const failed = code !== ExportResultCode.SUCCESS;
    this.counters.increment(failed ? 'trace_spans_failed' : 'trace_spans_exported', spans);
    if (!failed || performance.now() - this.complainedAt < COMPLAIN_EVERY_MS) return;
    this.complainedAt = performance.now();
    const { origin } = new URL(this.options.url);
    this.logger.warn(`${origin} does not take traces: ${describeError(error)}. They are dropped; messages go on.`);
  }
}
