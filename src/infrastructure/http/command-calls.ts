import { once } from 'node:events';
import { type IncomingMessage, request as call, type Server } from 'node:http';
import { duplexPair, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/** Connections that a command made to the application in its own process. No outside caller can have one. */
const connections = new WeakSet<object>();

/**
 * Whether the command of this process makes the request. It has access to the database anyway, so no key is required.
 */
export function isOfCommand({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
  return connections.has(socket);
}

/**
 * A `fetch` that the application of this process answers. It opens no port: each request has a connection in memory. A
 * command repeats nothing, so its requests have no Idempotency-Key.
 */
export function fetchWithin(server: Server): (request: Request) => Promise<Response> {
  return async (request) => {
    const [client, connection] = duplexPair();
    connections.add(connection);
    server.emit('connection', connection);
    const { pathname, search, host } = new URL(request.url);
    const headers = { ...Object.fromEntries(request.headers), host };
    Reflect.deleteProperty(headers, 'idempotency-key');
    const outgoing = call({
      method: request.method,
      path: `${pathname}${search}`,
      headers,
      signal: request.signal,
      createConnection: () => client,
    });
    outgoing.end(Buffer.from(await request.arrayBuffer()));
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const { statusCode: status = 500, headers: fields } = answer;
    const named = Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
    const body = status === 204 ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
    return new Response(body, { status, headers: named as [string, string][] });
  };
}
