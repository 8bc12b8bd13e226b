import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { commonErrors } from '../../common/common.errors.js';
import { type ConnectionLimits, guardConnections } from './connection-guard.js';
import { API_VERSION, API_VERSION_HEADER } from './api-version.js';
import { errorBody } from './error-body.js';
import { REQUEST_ID_HEADER } from './request-id.js';

const HEADERS_TIMEOUT_MS = 5_000;
// For the whole request: an upload of 32 MiB over a slow line (0.3 Mbit/s) must fit. JSON bodies and uploads have
// stricter limits of their own, and a body that nobody reads is cut off sooner.
const REQUEST_TIMEOUT_MS = 900_000;
// Longer than the idle time-outs of common balancers, which otherwise meet connections that close under them.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const CHECK_EVERY_MS = 1_000;
const MAX_CONNECTIONS = 10_000;

/** Read from the server when it begins to listen, but missing in its type. */
interface CheckedServer {
  connectionsCheckingInterval?: number;
}

/** Bounds what a slow, silent, greedy or broken client may cost. Call it before the server listens. */
export function limitServer(server: Server, publicUrl: () => string, connections: ConnectionLimits): void {
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.maxConnections = MAX_CONNECTIONS;
  // The reception answers a missing Host in our own words.
  (server as { requireHostHeader?: boolean }).requireHostHeader = false;
  (server as CheckedServer).connectionsCheckingInterval = CHECK_EVERY_MS;
  server.on('drop', () => connections.onRefused());
  guardConnections(server, connections);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerBroken(error, socket, publicUrl()));
}

const FAULTS: Record<string, { status: string; rule: string; message: string }> = {
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

/** What is no HTTP reaches no application: the answer is written by hand, and the connection closed. */
function answerBroken(error: NodeJS.ErrnoException, socket: Duplex, publicUrl: string): void {
  const underWay = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage;
  if (error.code === 'ECONNRESET' || !socket.writable || underWay?.headersSent === true) {
    socket.destroy(error);
    return;
  }
  const { status, rule, message } = FAULTS[error.code ?? ''] ?? MALFORMED;
  const requestId = randomUUID();
  const fault = commonErrors.INVALID_REQUEST({ details: [{ field: '', rule, message }] });
  const body = JSON.stringify(errorBody(fault, requestId, publicUrl));
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
