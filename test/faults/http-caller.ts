import { Agent } from 'undici';
import type { Scope } from '../support/rig/scope.js';
import { recipientNumber } from '../support/rig/recipients.js';
import type { SeededConnection } from '../support/rig/workspace.js';

export interface HttpRequest {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface HttpAnswer {
  /** 0: none came. Then `text` says why. */
  status: number;
  /** No connection was taken; false without an answer: it broke on a request that may have been read. */
  refused: boolean;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Milliseconds from the call to the last byte. */
  ms: number;
}

const TIMEOUT_MS = 60_000;

/** Calls one process over kept connections and hands out every answer as it came; repeats nothing by itself. */
export class HttpCaller {
  private readonly agent: Agent;

  constructor(
    scope: Scope,
    private readonly baseUrl: string,
    connections: number,
  ) {
    this.agent = new Agent({ connections, pipelining: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
    scope.defer(() => this.agent.destroy());
  }

  async call({ method = 'GET', path, headers, body }: HttpRequest): Promise<HttpAnswer> {
    const startedAt = performance.now();
    try {
      const answer = await this.agent.request({ origin: this.baseUrl, path, method, headers, body });
      const text = await answer.body.text();
      const { statusCode: status, headers: received } = answer;
      return { status, refused: false, headers: received, text, ms: performance.now() - startedAt };
    } catch (error) {
      const { code = '', message = '', syscall } = error as { code?: string; message?: string; syscall?: string };
      // Reset while connecting: it waited to be accepted when the server stopped listening.
      const refused = code === 'ECONNREFUSED' || syscall === 'connect';
      return { status: 0, refused, headers: {}, text: `${code} ${message}`.trim(), ms: performance.now() - startedAt };
    }
  }
}

/** A text message to the nth recipient. */
export function messageRequest(
  apiKey: string,
  connection: SeededConnection,
  recipient: number,
  key: string,
): HttpRequest {
  return {
    method: 'POST',
    path: '/api/v1/messages',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({
      connection_id: connection.id,
      to: `+${recipientNumber(recipient)}`,
      type: 'text',
      text: { body: 'Hello' },
    }),
  };
}

export function headerOf(answer: HttpAnswer, name: string): string | null {
  const value = answer.headers[name];
  return typeof value === 'string' ? value : null;
}

/** Keeps the first few of many violations of a kind, and their number. */
export class Violations {
  private readonly counts = new Map<string, number>();

  /** @see FaultReport.late */
  readonly lateOnes: string[] = [];

  late(what: string): void {
    this.lateOnes.push(what);
  }

  add(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** In words. */
  list(): string[] {
    return [...this.counts].map(([what, times]) => (times === 1 ? what : `${what} (${times} times)`)).slice(0, 20);
  }
}
