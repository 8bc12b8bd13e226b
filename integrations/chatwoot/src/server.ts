import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { answerOf, isSigned } from './callback.js';
import type { Progress } from './health.js';
import { log } from './log.js';
import type { Answer, State } from './state.js';

const LONGEST_BODY = 2 * 1024 ** 2;
const REQUEST_WITHIN_MS = 10_000;
/** Answers that wait for Herald; what comes then is refused, and Chatwoot shows it as failed. */
const MOST_WAITING = 10_000;

export interface Receiver {
  accountId: number;
  state: State;
  progress: Progress;
  /** Null until Chatwoot was asked for it. */
  inbox: () => { id: number; secret: string } | null;
  /** Chatwoot's secret may have been renewed. */
  onForged: () => void;
  onAccepted: () => void;
}

/** The port for Chatwoot's callback (`POST /callback`) and for `GET /health`. */
export function createReceiver(receiver: Receiver): Server {
  const server = createServer((request, response) => {
    void answer(receiver, request).then(
      ({ status, body }) => write(response, status, body),
      (error: unknown) => {
        log.error('a callback failed', { error: error instanceof Error ? error.name : 'unknown' });
        write(response, 500, { error: 'The bridge failed; its log says why.' });
      },
    );
  });
  server.requestTimeout = REQUEST_WITHIN_MS;
  server.headersTimeout = REQUEST_WITHIN_MS;
  server.maxConnections = 500;
  return server;
}

interface Answered {
  status: number;
  body: object;
}

async function answer(receiver: Receiver, request: IncomingMessage): Promise<Answered> {
  const path = (request.url ?? '').split('?')[0];
  const inbox = receiver.inbox();
  if (path === '/health' && request.method === 'GET') {
    const report = receiver.progress.report(receiver.state.waiting, inbox !== null);
    return { status: report.status === 'ok' ? 200 : 503, body: report };
  }
  if (path !== '/callback') return { status: 404, body: { error: 'There is /callback and /health.' } };
  if (request.method !== 'POST') return { status: 405, body: { error: 'POST /callback.' } };
  const raw = await bodyOf(request);
  if (raw === null) return { status: 413, body: { error: `Longer than ${LONGEST_BODY} bytes.` } };
  if (inbox === null) return { status: 503, body: { error: 'The bridge is starting.' } };
  const headers = {
    signature: headerOf(request, 'x-chatwoot-signature'),
    timestamp: headerOf(request, 'x-chatwoot-timestamp'),
  };
  if (!isSigned(raw, headers, inbox.secret, Math.floor(Date.now() / 1_000))) {
    receiver.onForged();
    return { status: 401, body: { error: 'The signature is not of this inbox, or older than five minutes.' } };
  }
  let body: unknown;
  try {
    body = JSON.parse(raw.toString('utf8'));
  } catch {
    return { status: 400, body: { error: 'The body is not JSON.' } };
  }
  const found = answerOf(body, { accountId: receiver.accountId, inboxId: inbox.id, now: Date.now() });
  return found === null ? { status: 200, body: { taken: false } } : accept(receiver, found);
}

/** Answers 200 once the answer of the agent is on the disk. */
async function accept({ state, onAccepted }: Receiver, found: Answer): Promise<Answered> {
  if (state.isPending(found.id)) return { status: 200, body: { taken: true } };
  const failure = found.isRetry ? state.failureOf(found.id) : null;
  if (failure !== null) found.attempt = failure.attempt + 1;
  // Also a change of an answer that is not known: the bridge was away when it was written, and the agent may have pressed Retry.
  else if (state.isKnown(found.id)) return { status: 200, body: { taken: true } };
  if (state.waiting >= MOST_WAITING) return { status: 503, body: { error: 'Too many answers wait for Herald.' } };
  await state.keep(found);
  onAccepted();
  return { status: 200, body: { taken: true } };
}

/** Null where it is longer than a callback can be. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // Read to its end, as leaving the loop would end the connection before an answer.
    if (length <= LONGEST_BODY) chunks.push(chunk);
  }
  return length > LONGEST_BODY ? null : Buffer.concat(chunks);
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function write(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}
