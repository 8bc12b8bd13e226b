import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * How an answer to a send is broken: the connection is closed or reset without a byte, or after half of the body; 200
 * with something that is no JSON, or with nothing; 500 without a body; 502 with a page of HTML; no answer at all.
 */
export const BROKEN_KINDS = [
  'cut',
  'reset',
  'truncated',
  'not_json',
  'empty',
  'server_error',
  'bad_gateway',
  'silence',
] as const;

export interface BrokenAnswer {
  kind: (typeof BROKEN_KINDS)[number];
  /** Whether the message is taken all the same. */
  taken: boolean;
}

/** Which answers to sends are broken, and how often that was: every kind in turn, and every second round after taking. */
export class BrokenAnswers {
  private drawn = 0;
  private readonly counted = { taken: 0, not_taken: 0 };

  next(): BrokenAnswer {
    const n = this.drawn++;
    const kind = BROKEN_KINDS[n % BROKEN_KINDS.length] ?? 'cut';
    return { kind, taken: Math.floor(n / BROKEN_KINDS.length) % 2 === 1 };
  }

  count({ taken }: BrokenAnswer): void {
    this.counted[taken ? 'taken' : 'not_taken']++;
  }

  get counts(): { taken: number; not_taken: number } {
    return { ...this.counted };
  }

  clear(): void {
    this.drawn = 0;
    Object.assign(this.counted, { taken: 0, not_taken: 0 });
  }
}

const HTML = '<html><body><h1>502 Bad Gateway</h1></body></html>';
/** Of a body that was never made, for it is cut in half. */
const NO_BODY = '{"messaging_product":"whatsapp","contacts":[]}';

/** Writes one, whatever the answer would have been. */
export function writeBroken(
  { kind }: BrokenAnswer,
  exchange: { request: IncomingMessage; response: ServerResponse; body: string | null },
): void {
  const { request, response } = exchange;
  switch (kind) {
    case 'cut':
      response.destroy();
      return;
    case 'reset':
      request.socket.resetAndDestroy();
      return;
    case 'truncated': {
      const body = exchange.body ?? NO_BODY;
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
      response.write(body.slice(0, body.length >> 1), () => response.destroy());
      return;
    }
    case 'not_json':
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(HTML);
      return;
    case 'empty':
      response.writeHead(200, { 'Content-Length': '0' }).end();
      return;
    case 'server_error':
      response.writeHead(500, { 'Content-Length': '0' }).end();
      return;
    case 'bad_gateway':
      response.writeHead(502, { 'Content-Type': 'text/html' }).end(HTML);
      return;
    case 'silence':
      // The caller gives up, or the server closes.
      return;
  }
}
