import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { systemClock } from '../../common/clock.js';
import { invalidField } from '../../common/common.errors.js';
import { API_VERSION, API_VERSION_HEADER } from './api-version.js';
import { errorBody } from './error.filter.js';
import { originOf } from '../../common/public-address.js';
import { type HeraldRequest, REQUEST_ID_HEADER } from './herald-request.js';

const HEADERS_TIMEOUT_MS = 5_000;
// For the whole request: an upload of 32 MiB over a slow line (0.3 Mbit/s) must fit. JSON bodies and uploads have
// stricter limits, and an unread body is cut off sooner.
const REQUEST_TIMEOUT_MS = 900_000;
// Longer than the idle time-outs of common balancers, which would otherwise use connections that are just being closed.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const CHECK_EVERY_MS = 1_000;
const MAX_CONNECTIONS = 10_000;

/** Limits the cost of slow, silent, greedy or broken clients. Call it before the server listens. */
export function limitServer(server: Server, publicUrl: () => string, connections: ConnectionLimits): void {
  Object.assign(server, {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxConnections: MAX_CONNECTIONS,
    // AddressMiddleware refuses a missing Host. The server's type lacks this property and the next one.
    requireHostHeader: false,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  });
  // Node would answer 417 itself, without a body. An Expect other than 100-continue may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('drop', () => connections.onRefused());
  guardConnections(server, connections);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerBroken(error, socket, publicUrl()));
}

const REFUSALS: Record<string, { status: string; rule: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    rule: 'headers',
    message: 'The request headers are too large; send at most 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    rule: 'timeout',
    message: 'The request took too long to arrive; send it in one go.',
  },
};
const MALFORMED = {
  status: '400 Bad Request',
  rule: 'http',
  message: 'The request is not valid HTTP/1.1; check its first line, headers and lengths.',
};

/** Input that is not HTTP reaches no application, so the answer is written here, and the connection closed. */
function answerBroken(error: NodeJS.ErrnoException, socket: Duplex, publicUrl: string): void {
  const underWay = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage;
  if (error.code === 'ECONNRESET' || !socket.writable || underWay?.headersSent === true) {
    socket.destroy(error);
    return;
  }
  const { status, rule, message } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const requestId = randomUUID();
  const refusal = invalidField('', rule, message);
  const body = JSON.stringify(errorBody(refusal, requestId, publicUrl));
  const headers = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `${API_VERSION_HEADER}: ${API_VERSION}`,
    `${REQUEST_ID_HEADER}: ${requestId}`,
  ];
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}

export interface ConnectionLimits {
  /** Connections that one address may have open at once; 0: any number. */
  perAddress: number;
  /** True for the address of a trusted proxy: its connections are those of many callers. */
  isProxy: (address: string) => boolean;
  /** Called for each connection that is refused. */
  onRefused: () => void;
  /** A connection whose client reads nothing of its answer for this long is closed. */
  stalledMs?: number;
}

interface Unread {
  /** Unsent bytes in this process and in the system's queue, at their last change. */
  buffered: number;
  queued: number;
  since: number;
}

// A system reports sent bytes in steps of up to a megabyte, and a slow line needs time for one step.
const STALLED_MS = 60_000;
/** How often a connection is checked within that time. */
const LOOKS = 6;

/**
 * Limits the connections of one address, and closes those whose client does not read: Node's own timeouts cover only
 * incoming requests, not unread answers. Call it before the server listens.
 */
export function guardConnections(server: Server, limits: ConnectionLimits): void {
  const { perAddress, isProxy, onRefused, stalledMs = STALLED_MS } = limits;
  const open = new Map<Socket, Unread>();
  const byOrigin = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    if (perAddress > 0 && !isProxy(address)) {
      const origin = originOf(address);
      const count = byOrigin.get(origin) ?? 0;
      if (count >= perAddress) {
        onRefused();
        socket.destroy();
        return;
      }
      byOrigin.set(origin, count + 1);
      socket.once('close', () => {
        const left = (byOrigin.get(origin) ?? 1) - 1;
        if (left === 0) byOrigin.delete(origin);
        else byOrigin.set(origin, left);
      });
    }
    open.set(socket, { buffered: 0, queued: 0, since: 0 });
    socket.once('close', () => open.delete(socket));
  });
  const timer = setInterval(() => {
    const now = systemClock.monotonic();
    for (const [socket, unread] of open) {
      if (hasStalled(socket, unread, now, stalledMs)) socket.destroy();
    }
  }, stalledMs / LOOKS);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

function hasStalled(socket: Socket, unread: Unread, now: number, stalledMs: number): boolean {
  const buffered = socket.writableLength;
  const queued = queuedBytes(socket);
  if (buffered === 0 || buffered !== unread.buffered || queued !== unread.queued) {
    unread.buffered = buffered;
    unread.queued = queued;
    unread.since = now;
    return false;
  }
  return now - unread.since >= stalledMs;
}

/**
 * Bytes of the current write that the system has not accepted: `writableLength` changes only when the whole write is
 * done.
 */
function queuedBytes(socket: Socket): number {
  return (socket as unknown as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0;
}

const DRAIN_LIMIT_BYTES = 1_024 * 1_024;
const DRAIN_TIMEOUT_MS = 2_000;
const LOOK_MS = 100;

/**
 * Lets a caller that was answered early finish sending, so that it can read its answer. Closing a connection with
 * unread bytes resets it, and many clients ignore the answer once a write fails. The bytes are discarded, for 2 s, or
 * as long as the route allows. Beyond 1 MiB, or the route's limit, nothing more is read: a caller that reads while it
 * sends has 2 s to see its answer, and is then cut off.
 */
export function drainUnreadBody(req: HeraldRequest): void {
  const { socket } = req;
  // The connection is kept for the next request, unless our side was ended: `closeAfterUnreadBody`.
  const isKept = (): boolean => req.complete && !socket.writableEnded;
  if (socket.destroyed || isKept()) return;
  const readBefore = socket.bytesRead;
  const { bytes: limitBytes, ms: limitMs } = req.drainUpTo ?? { bytes: DRAIN_LIMIT_BYTES, ms: DRAIN_TIMEOUT_MS };
  let endsAt = performance.now() + limitMs;
  const timer = setInterval(() => {
    const now = performance.now();
    if (socket.destroyed || isKept()) {
      clearInterval(timer);
    } else if (now > endsAt || (req.complete && socket.writableFinished)) {
      clearInterval(timer);
      socket.destroy();
    } else if (socket.bytesRead - readBefore > limitBytes && !socket.isPaused()) {
      socket.pause();
      endsAt = Math.min(endsAt, now + DRAIN_TIMEOUT_MS);
    }
  }, LOOK_MS);
  timer.unref();
}
