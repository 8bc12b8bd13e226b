import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Span } from '@opentelemetry/api';
import { Config } from '../config/config.js';
import { type HeraldRequest, pathOfRoute } from '../http/herald-request.js';
import type { Counters } from './counters.js';
import { maskSecrets } from './log-fields.js';
import { requestContext } from './logger.js';
import type { SpanOptions, TraceContext, TraceRecorder } from './trace-recorder.js';

export type { Span } from '@opentelemetry/api';
export type { TraceContext } from './trace-recorder.js';

/** Polled by machines every few seconds, and of no interest. */
const UNTRACED = /^\/(health\/|metrics\b)/;
/** Part of a stop's time for exporting the last spans. */
const FLUSH_SHARE = 0.1;

/**
 * OpenTelemetry spans of Herald's work: a request begins a trace or continues its caller's, and the message's row
 * carries it on. Without an endpoint the SDK is not loaded, and each step costs one comparison.
 */
@Injectable()
export class Tracing implements OnApplicationShutdown {
  static readonly OFF = new Tracing(null, 0);

  constructor(
    private readonly recorder: TraceRecorder | null,
    private readonly flushMs: number,
  ) {}

  static async open({ tracing, process }: Config, counters: Counters): Promise<Tracing> {
    if (tracing.url === null) return Tracing.OFF;
    const { TraceRecorder: Recorder } = await import('./trace-recorder.js');
    const recorder = await Recorder.open({ ...tracing, url: tracing.url, roles: process.roles }, counters);
    return new Tracing(recorder, process.shutdownTimeoutMs * FLUSH_SHARE);
  }

  get on(): boolean {
    return this.recorder !== null;
  }

  /** The span of the current request. */
  get current(): Span | undefined {
    return this.recorder === null ? undefined : requestContext.getStore()?.span;
  }

  /** The trace of the current request in the form that rows store; undefined where it is not recorded. */
  get currentContext(): TraceContext | undefined {
    return contextOf(this.current);
  }

  /** The span of a request, within the trace that its `traceparent` names; undefined where none is recorded. */
  request(req: IncomingMessage): Span | undefined {
    if (this.recorder === null || UNTRACED.test(req.url ?? '')) return undefined;
    return this.recorder.request(req.method ?? '', req.headers.traceparent);
  }

  requestEnded(req: HeraldRequest, res: ServerResponse): void {
    const { span, id, organizationId, method } = req;
    if (span === undefined) return;
    const route = pathOfRoute(req);
    if (route !== undefined) {
      span.updateName(`${method} ${route}`);
      span.setAttribute('http.route', route);
    }
    // A caller's own id may be anything.
    span.setAttribute('herald.request_id', maskSecrets(id));
    if (organizationId !== undefined) span.setAttribute('herald.organization_id', organizationId);
    if (!res.writableFinished) span.setAttribute('herald.aborted', true);
    this.end(span, { status: res.statusCode, failedFrom: 500 });
  }

  start(name: string, options: SpanOptions): Span | undefined {
    return this.recorder === null || !isRecorded(options.parent) ? undefined : this.recorder.start(name, options);
  }

  /** The span of work that several messages share. It belongs to the first recorded trace, and links to the others. */
  together(
    name: string,
    members: readonly (Span | TraceContext | null | undefined)[],
    startedAt?: number,
  ): Span | undefined {
    if (this.recorder === null) return undefined;
    const [parent, ...others] = members.flatMap((each) => (isRecorded(each) ? [each] : []));
    if (parent === undefined) return undefined;
    const attributes = { 'herald.count': members.length };
    return this.recorder.start(name, { parent, startedAt, attributes }, others);
  }

  /** @param failure a word of Herald's or a code, never foreign text. */
  end(
    span: Span | undefined,
    {
      failure,
      status,
      failedFrom = 400,
    }: { failure?: string | null; status?: number | null; failedFrom?: number } = {},
  ): void {
    if (span === undefined) return;
    if (status) span.setAttribute('http.response.status_code', status);
    const word = failure ?? (status && status >= failedFrom ? String(status) : null);
    if (word !== null) this.recorder?.fail(span, word);
    span.end();
  }

  /** The header `traceparent` for a call within the span. */
  headerOf(span: Span): string {
    const { traceId, spanId } = span.spanContext();
    return `00-${traceId}-${spanId}-01`;
  }

  /** Exports what is left, within a part of the stop's time. */
  async onApplicationShutdown(): Promise<void> {
    await this.recorder?.close(this.flushMs);
  }
}

function isRecorded(member: SpanOptions['parent']): member is Span | TraceContext {
  return typeof member === 'string' ? member !== '' : member?.isRecording() === true;
}

/** In the form that rows store; undefined where the trace is not recorded. */
export function contextOf(span: Span | undefined): TraceContext | undefined {
  if (span?.isRecording() !== true) return undefined;
  const { traceId, spanId } = span.spanContext();
  return traceId + spanId;
}
