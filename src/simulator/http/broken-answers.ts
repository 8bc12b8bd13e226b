import type { IncomingMessage, ServerResponse } from 'node:http';

const HTML = '<html><body><h1>502 Bad Gateway</h1></body></html>';

/** How an answer to a send is broken. `body` is the one that it would have had; `silence` leaves the caller waiting. */
const WRITERS = {
  cut: (response) => response.destroy(),
  reset: (_, request) => request.socket.resetAndDestroy(),
  truncated: (response, _, body) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.write(body.slice(0, body.length >> 1), () => response.destroy());
  },
  not_json: (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(HTML),
  empty: (response) => response.writeHead(200, { 'Content-Length': '0' }).end(),
  server_error: (response) => response.writeHead(500, { 'Content-Length': '0' }).end(),
  bad_gateway: (response) => response.writeHead(502, { 'Content-Type': 'text/html' }).end(HTML),
  silence: () => undefined,
} satisfies Record<string, (response: ServerResponse, request: IncomingMessage, body: string) => unknown>;

type BrokenKind = keyof typeof WRITERS;
export const BROKEN_KINDS = Object.keys(WRITERS) as BrokenKind[];

/** What is cut in half where no body was ever made. */
const NO_BODY = '{"messaging_product":"whatsapp","contacts":[]}';

export interface BrokenAnswer {
  kind: BrokenKind;
  /** Whether the message is taken all the same. */
  taken: boolean;
}

/** Which answers to sends are broken, and how often that was: every kind in turn, and every second round after taking. */
export class BrokenAnswers {
  private drawn = 0;
  private counted = { taken: 0, not_taken: 0 };

  next(): BrokenAnswer {
    const n = this.drawn++;
    const kind = BROKEN_KINDS[n % BROKEN_KINDS.length] ?? 'cut';
    return { kind, taken: Math.floor(n / BROKEN_KINDS.length) % 2 === 1 };
  }

  /** Writes one in place of an answer, and counts it. */
  write({ kind, taken }: BrokenAnswer, request: IncomingMessage, response: ServerResponse, body = NO_BODY): void {
    this.counted[taken ? 'taken' : 'not_taken']++;
    WRITERS[kind](response, request, body);
  }

  get counts(): { taken: number; not_taken: number } {
    return { ...this.counted };
  }

  clear(): void {
    this.drawn = 0;
    this.counted = { taken: 0, not_taken: 0 };
  }
}
