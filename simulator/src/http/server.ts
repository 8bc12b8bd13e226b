import express, { type NextFunction, type Request, type Response, Router } from 'express';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GraphError, PlainError, unknownObject } from '../graph-error.js';
import type { Platform } from '../platform.js';
import { isTrustedHost } from './access.js';
import { addressReached, Call, type Handler, type Route } from './call.js';
import { askedFor, type BrokenAnswer, strikes } from './faults.js';
import { bodyText, readMultipart } from './parameters.js';

/** Oldest and newest version served; like on WhatsApp, the oldest one answers calls to older versions. */
const OLDEST_VERSION = 21;
const NEWEST_VERSION = 26;
const TEXT = express.text({ type: () => true, limit: '4mb' });
const SEND_PATH = '/:phone_number/messages';
/** A send without a query. */
const SEND = /^(?:\/v\d+\.\d+)?\/(\d+)\/messages$/;
const MAX_USUAL_BYTES = 64 * 1024;
/** Time for the answer to the call that closes the port. */
const ANSWERING_MS = 20;
const FOREIGN =
  'The simulator answers by its address or as localhost, and no pages of other sites; docs/simulator.md says how to name it.';
/** Clients redirected here by a proxy still name WhatsApp's hosts; no page of another site can have these. */
const PLATFORM_HOSTS = ['graph.facebook.com', 'lookaside.fbsbx.com'];

type Reply = Response<unknown, { call: Call }>;

/** The HTTP side. An answer is sent only after its effects are stored, so `kill -9` afterwards loses nothing. */
export class SimulatorServer {
  private readonly server: Server;
  private pause: NodeJS.Timeout | null = null;

  constructor(
    private readonly platform: Platform,
    private readonly routes: readonly Route[],
  ) {
    const app = express().disable('x-powered-by').disable('etag');
    app.use((request, reply: Reply, next) => {
      reply.locals.call = new Call(request, reply, platform.options.publicUrl);
      if (this.admits(request)) next();
    });
    const plain = this.plain();
    app.use((request, reply, next) => (request.url.startsWith('/v') ? next() : plain(request, reply, next)));
    app.use(this.graph());
    app.use((error: unknown, _request: Request, reply: Reply, _next: NextFunction) =>
      this.fail(reply.locals.call, error),
    );
    // Longer than clients keep idle connections, so that the server never closes one that is about to be used.
    this.server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
      if (!this.acceptSend(request, response)) app(request, response);
    });
  }

  /** Resolves with the port once it listens. Rejects where the port is in use. */
  async listen(port: number, host: string): Promise<number> {
    this.server.listen(port, host);
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Answers waiting requests, then refuses every connection for some time, and listens again. */
  closeFor(ms: number): void {
    if (this.pause !== null) return;
    const { address, port } = this.server.address() as AddressInfo;
    this.pause = setTimeout(() => {
      this.server.close();
      this.server.closeAllConnections();
      this.pause = setTimeout(() => this.listenAgain(port, address), ms);
    }, ANSWERING_MS);
  }

  /** Retries until the port is free, in case another program has taken it meanwhile. */
  private listenAgain(port: number, address: string): void {
    this.listen(port, address).then(
      () => (this.pause = null),
      () => (this.pause = setTimeout(() => this.listenAgain(port, address), ANSWERING_MS)),
    );
  }

  /** Closes at once, even requests without an answer. */
  close(): Promise<void> {
    if (this.pause !== null) clearTimeout(this.pause);
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  /**
   * Handles a usual send before Express: sends are frequent, and Express costs three times as much as everything else.
   */
  private acceptSend(raw: IncomingMessage, response: ServerResponse): boolean {
    const { url = '', headers, method } = raw;
    const id = method === 'POST' ? SEND.exec(url)?.[1] : undefined;
    const { authorization, 'content-encoding': encoding, 'content-type': type = '' } = headers;
    const isUsual = authorization !== undefined && encoding === undefined && !type.startsWith('multipart/');
    if (id === undefined || !isUsual || !(Number(headers['content-length']) <= MAX_USUAL_BYTES)) return false;
    const route = this.routes.find(({ path }) => path === SEND_PATH);
    const node = route?.node?.find(id);
    if (route === undefined || node === undefined) return false;
    let body = '';
    raw.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    raw.on('end', () => {
      const request = Object.assign(raw, { query: {}, body }) as unknown as Request;
      const call = new Call(request, response as Reply, this.platform.options.publicUrl);
      try {
        if (!this.admits(request)) return;
        call.version = takeVersion(request);
        call.node = node;
        this.platform.tokens.check(call);
        void this.run(route.handler, call);
      } catch (error) {
        this.fail(call, error);
      }
    });
    return true;
  }

  /** False where the connection was cut. @throws PlainError 403 */
  private admits(request: Request): boolean {
    if (this.platform.faults.down && !request.url.startsWith('/_')) request.socket.destroy();
    else if (this.isForeign(request)) throw new PlainError(403, FOREIGN);
    return !request.socket.destroyed;
  }

  /** A page of another site can make a browser call a server on its user's machine. */
  private isForeign({ method, headers }: Request): boolean {
    const { hostNames, publicUrl } = this.platform.options;
    const own = publicUrl === null ? [] : [new URL(publicUrl).hostname];
    if (!isTrustedHost(headers.host, [...PLATFORM_HOSTS, ...hostNames, ...own])) return true;
    return headers.origin !== undefined && method !== 'GET' && headers.origin !== addressReached({ headers });
  }

  private plain(): Router {
    const plain = Router();
    const routes = this.routes.filter(({ kind }) => kind === 'plain');
    for (const { method, path, handler } of routes) plain[method](path, TEXT, requireJson, this.answering(handler));
    plain.use(/^\/(?:_.*)?$/, (request) => {
      throw new PlainError(404, `No such path: ${request.path}`);
    });
    return plain;
  }

  private graph(): Router {
    const graph = Router();
    graph.use((request, { locals: { call } }: Reply, next) => {
      call.version = takeVersion(request);
      next();
    });
    const routes = this.routes.filter(({ kind }) => kind !== 'plain');
    const nodes = new Map(routes.flatMap(({ node }) => (node === undefined ? [] : [[node.name, node] as const])));
    for (const [name, node] of nodes) {
      graph.param(name, (_request, reply, next, id: string) => {
        const { call } = (reply as Reply).locals;
        call.node = node.find(id);
        next(call.node === undefined ? 'route' : undefined);
      });
    }
    const token = (_request: Request, { locals: { call } }: Reply, next: NextFunction) => {
      this.platform.tokens.check(call);
      next();
    };
    for (const { method, path, handler, kind } of routes) {
      // The token may be in the body, so that is read first.
      const before = kind === 'stream' ? [token] : [TEXT, readMultipart, ...(kind === 'open' ? [] : [token])];
      graph[method](path, ...before, this.answering(handler));
    }
    graph.use((request, { locals: { call } }: Reply) => {
      this.platform.tokens.check(call);
      const [, id = '', edge = '', ...more] = request.path.split('/');
      if (more.length > 0) throw new GraphError(2500, { message: `Unknown path components: /${more.join('/')}` });
      const isKnown = [...nodes.values()].some((node) => node.find(id) !== undefined);
      if (!isKnown || request.method !== 'GET') throw unknownObject(request.method, id);
      throw new GraphError(100, {
        httpStatus: 404,
        message: `(#100) Tried accessing nonexisting field (${edge}) on node ${id}`,
      });
    });
    return graph;
  }

  private answering(handler: Handler) {
    return (_request: Request, reply: Reply) => this.run(handler, reply.locals.call);
  }

  private run(handler: Handler, call: Call): void | Promise<void> {
    const broken = call.version === undefined ? null : this.strike(call.request);
    const finish = (value: unknown) => {
      if (value === undefined) return;
      const body = typeof value === 'string' ? value : JSON.stringify(value);
      if (broken === null) this.finish(call, body);
      else this.settle(call, () => this.platform.brokenAnswers.write(broken, call.request, call.reply, body));
    };
    const body = broken?.taken === false ? '' : handler(call);
    if (body instanceof Promise) return body.then(finish);
    finish(body);
  }

  /** Applies requested faults before a call of the Graph API takes effect. */
  private strike(request: Request): BrokenAnswer | null {
    const { faults, ids, brokenAnswers } = this.platform;
    const isSend = request.method === 'POST' && /\/messages(?:\?|$)/.test(request.url);
    if (request.method !== 'GET' && faults.error_rate > 0 && ids.draw() < faults.error_rate) {
      throw askedFor(131000, true);
    }
    if (!isSend && strikes(faults, 'refusals')) throw askedFor(faults.refusal_code);
    return isSend ? brokenAnswers.draw(faults, ids) : null;
  }

  private finish(call: Call, body: string): void {
    const { faults, ids } = this.platform;
    const isWrite = call.version !== undefined && call.request.method !== 'GET';
    if (isWrite && faults.drop_answers > 0 && ids.draw() < faults.drop_answers) call.cut = true;
    this.settle(call, () => this.write(call, 200, body));
  }

  private fail(call: Call, error: unknown): void {
    call.request.resume();
    const { ids, options } = this.platform;
    const answer = (status: number, body: string | null) => this.settle(call, () => this.write(call, status, body));
    // Errors of body-parser and the router have a status.
    const { status = 500 } = error as { status?: number };
    if (error instanceof GraphError) answer(error.httpStatus, error.body(ids.traceId()));
    else if (error instanceof PlainError) {
      answer(error.httpStatus, error.message === '' ? null : JSON.stringify({ error: { message: error.message } }));
    } else {
      if (status === 500) options.log(`simulator: ${error instanceof Error ? error.stack : String(error)}`);
      answer(status, null);
    }
  }

  /** Waits for everything that must come before the answer. */
  private settle({ version, delayMs, after }: Call, write: () => void): void {
    const { faults, store } = this.platform;
    const lateMs = delayMs + (version === undefined ? 0 : faults.latency_ms);
    const late = () => {
      if (lateMs === 0) write();
      else setTimeout(write, lateMs).unref();
    };
    store.whenWritten(() => {
      if (after === undefined) late();
      else void after.then(late);
    });
  }

  private write({ version, cut, reply }: Call, status: number, body: string | null): void {
    if (cut || reply.destroyed) {
      reply.destroy();
      return;
    }
    const headers = ['Content-Length', String(body === null ? 0 : Buffer.byteLength(body))];
    if (body !== null) headers.push('Content-Type', 'application/json; charset=UTF-8');
    if (version !== undefined) {
      const trace = this.platform.ids.traceId();
      headers.push('facebook-api-version', `v${version}.0`, 'x-fb-request-id', trace, 'x-fb-trace-id', trace);
      headers.push('x-fb-rev', '1031245768', 'Cache-Control', 'private, no-cache, no-store, must-revalidate');
      if (status === 401) headers.push('WWW-Authenticate', 'OAuth "Facebook Platform" "invalid_token"');
    }
    reply.writeHead(status, headers).end(body ?? undefined);
  }
}

/** Removes the version from the path; without one the oldest answers. @throws GraphError 2500 for a future version */
function takeVersion(request: Request): number {
  const match = /^\/v(\d+(?:\.\d+)?)(?=[/?]|$)(.*)$/.exec(request.url);
  if (match === null) return OLDEST_VERSION;
  const [, version = '', rest = ''] = match;
  if (!/^\d{1,3}\.\d+$/.test(version) || Number.parseInt(version, 10) > NEWEST_VERSION || !/^\/[^/?]/.test(rest)) {
    throw new GraphError(2500, { message: `Unknown path components: ${rest}` });
  }
  request.url = rest;
  return Math.max(Number.parseInt(version, 10), OLDEST_VERSION);
}

/** Any web page may send the other types from a form or a script without asking (CORS). */
function requireJson(request: Request, _reply: unknown, next: NextFunction): void {
  if (bodyText(request) !== '' && !/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new PlainError(415, 'Send the body with the header Content-Type: application/json.');
  }
  next();
}
