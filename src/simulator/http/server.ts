import express, { type NextFunction, type Request, Router } from 'express';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GraphError, PlainError, unknownObject } from '../graph-error.js';
import type { IdSource } from '../ids.js';
import type { Faults } from '../simulator.types.js';
import type { Store } from '../store.js';
import { type AccessTokens, isTrustedHost } from './access.js';
import type { BrokenAnswer, BrokenAnswers } from './broken-answers.js';
import { readMultipart } from './parameters.js';
import { bodyText, type Handler, type Reply, type Route } from './route.js';

/** Oldest and newest version served; a call to an older one is answered by the oldest, as the platform does. */
const OLDEST_VERSION = 21;
const NEWEST_VERSION = 26;
const LARGEST_BODY = '4mb';
const SEND_PATH = '/:phone_number/messages';
/** A send without a query. */
const SEND = /^(?:\/v\d+\.\d+)?\/(\d+)\/messages$/;
const MOST_USUAL_BYTES = 64 * 1024;
/** How long the answer to the call that closes the port has. */
const ANSWERING_MS = 20;
const FOREIGN =
  'The simulator answers by its address or as localhost, and no pages of other sites; docs/simulator.md says how to name it.';
/** Clients that were led here by a proxy still name the platform's hosts; no page of another site can be under them. */
const PLATFORM_HOSTS = ['graph.facebook.com', 'lookaside.fbsbx.com'];
const JSON_TYPE = 'application/json; charset=UTF-8';

/** Whether an id is of a kind, by the names of the parameters in the paths of the Graph API's routes. */
export type Kinds = Readonly<Record<string, (id: string) => boolean>>;

export interface ServerParts {
  kinds: Kinds;
  graphRoutes: readonly Route[];
  /** Paths outside the Graph API: control calls and downloads. */
  plainRoutes: readonly Route[];
  tokens: AccessTokens;
  ids: IdSource;
  /** Read at every request. */
  faults: Faults;
  brokenAnswers: BrokenAnswers;
  /** Names under which it may be called, besides addresses and `localhost`. */
  hostNames: readonly string[];
  store: Store;
  log: (line: string) => void;
}

/** The HTTP side. An answer leaves only when what it promises is written down, so `kill -9` after it loses nothing. */
export class SimulatorServer {
  private readonly server: Server;
  private pause: NodeJS.Timeout | null = null;

  constructor(private readonly parts: ServerParts) {
    const app = express().disable('x-powered-by').disable('etag');
    app.use((request, _reply, next) => {
      if (this.admits(request)) next();
    });
    const plain = Router();
    this.addRoutes(plain, parts.plainRoutes, requireJson);
    plain.use(/^\/(?:_.*)?$/, (request) => {
      throw new PlainError(404, `No such path: ${request.path}`);
    });
    app.use((request, reply, next) => (request.url.startsWith('/v') ? next() : plain(request, reply, next)));
    app.use(this.graph());
    app.use((error: unknown, request: Request, reply: Reply, _next: NextFunction) => this.fail(request, reply, error));
    // Longer than clients keep an idle connection, so that it is never the server who closes one in use.
    this.server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
      if (!this.acceptSend(request, response)) app(request, response);
    });
  }

  /** Resolves with the port once it listens. Rejects where the port is taken. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, () => {
        this.server.removeListener('error', reject);
        resolve((this.server.address() as AddressInfo).port);
      });
    });
  }

  /** Lets waiting requests have their answer, then refuses every connection for some time, and listens again. */
  closeFor(ms: number): void {
    if (this.pause !== null) return;
    const { address, port } = this.server.address() as AddressInfo;
    this.pause = setTimeout(() => {
      this.server.close();
      this.server.closeAllConnections();
      this.pause = setTimeout(() => this.listenAgain(port, address), ms);
    }, ANSWERING_MS);
  }

  /** Tries until the port is free, should another program have taken it meanwhile. */
  private listenAgain(port: number, address: string): void {
    this.listen(port, address).then(
      () => (this.pause = null),
      () => (this.pause = setTimeout(() => this.listenAgain(port, address), ANSWERING_MS)),
    );
  }

  /** Closes at once, requests without an answer too. */
  close(): Promise<void> {
    if (this.pause !== null) clearTimeout(this.pause);
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  /** A send of the usual form, before Express: sends are many, and Express costs three times as much as all the rest. */
  private acceptSend(raw: IncomingMessage, response: ServerResponse): boolean {
    const { url = '', headers, method } = raw;
    const { kinds, graphRoutes, tokens } = this.parts;
    const id = method === 'POST' ? SEND.exec(url)?.[1] : undefined;
    const { authorization, 'content-encoding': encoding, 'content-type': type = '' } = headers;
    const isUsual = authorization !== undefined && encoding === undefined && !type.startsWith('multipart/');
    if (id === undefined || !isUsual || !(Number(headers['content-length']) <= MOST_USUAL_BYTES)) return false;
    const route = graphRoutes.find(([, path]) => path === SEND_PATH);
    if (route === undefined || kinds.phone_number?.(id) !== true) return false;
    let body = '';
    raw.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    raw.on('end', () => {
      const request = Object.assign(raw, { params: { phone_number: id }, query: {}, body }) as unknown as Request;
      const reply = Object.assign(response, { locals: {} }) as unknown as Reply;
      try {
        if (!this.admits(request)) return;
        reply.locals.version = takeVersion(request);
        tokens.check(request);
        void this.run(route[2], request, reply);
      } catch (error) {
        this.fail(request, reply, error);
      }
    });
    return true;
  }

  /** False where the connection was cut. @throws PlainError 403 */
  private admits(request: Request): boolean {
    if (this.parts.faults.down && !request.url.startsWith('/_')) request.socket.destroy();
    else if (this.isForeign(request)) throw new PlainError(403, FOREIGN);
    return !request.socket.destroyed;
  }

  /** A page of another site can make a browser call a server of its user's machine. */
  private isForeign({ method, headers: { host, origin } }: Request): boolean {
    if (!isTrustedHost(host, [...PLATFORM_HOSTS, ...this.parts.hostNames])) return true;
    return origin !== undefined && method !== 'GET' && origin !== `http://${host}`;
  }

  private graph(): Router {
    const { tokens, kinds, graphRoutes } = this.parts;
    const graph = Router();
    graph.use((request, reply: Reply, next) => {
      reply.locals.version = takeVersion(request);
      next();
    });
    for (const [name, isOfKind] of Object.entries(kinds)) {
      graph.param(name, (_request, _reply, next, id: string) => next(isOfKind(id) ? undefined : 'route'));
    }
    // After the body, where a token may stand too.
    this.addRoutes(graph, graphRoutes, readMultipart, (request, _reply, next) => {
      tokens.check(request);
      next();
    });
    graph.use((request) => {
      tokens.check(request);
      const [, id = '', edge = '', ...more] = request.path.split('/');
      if (more.length > 0) throw new GraphError(2500, { message: `Unknown path components: /${more.join('/')}` });
      const isKnown = Object.values(kinds).some((isOfKind) => isOfKind(id));
      if (!isKnown || request.method !== 'GET') throw unknownObject(request.method, id);
      throw new GraphError(100, {
        httpStatus: 404,
        message: `(#100) Tried accessing nonexisting field (${edge}) on node ${id}`,
      });
    });
    return graph;
  }

  private addRoutes(router: Router, routes: readonly Route[], ...guards: express.RequestHandler[]): void {
    const text = express.text({ type: () => true, limit: LARGEST_BODY });
    // The last guard is the one that needs no body.
    const token = guards.slice(-1);
    for (const [method, path, handler, kind] of routes) {
      const before = { stream: token, open: [text, readMultipart], usual: [text, ...guards] }[kind ?? 'usual'];
      const name = method.toLowerCase() as 'get' | 'post' | 'delete';
      router[name](path, ...before, (request: Request, reply: Reply) => this.run(handler, request, reply));
    }
  }

  private run(handler: Handler, request: Request, reply: Reply): void | Promise<void> {
    const broken = reply.locals.version === undefined ? null : this.strike(request);
    if (broken?.taken === false) {
      this.settle(reply, () => this.parts.brokenAnswers.write(broken, request, reply));
      return;
    }
    const body = handler(request, reply);
    if (body instanceof Promise) return body.then((settled) => this.finish(request, reply, settled, broken));
    this.finish(request, reply, body, broken);
  }

  /** The faults that were asked for, before a call of the Graph API takes effect. */
  private strike(request: Request): BrokenAnswer | null {
    const { faults, ids, brokenAnswers } = this.parts;
    const details = 'A fault that was asked for';
    if (request.method !== 'GET' && faults.errorRate > 0 && ids.draw() < faults.errorRate) {
      throw new GraphError(131000, { details, isTransient: true });
    }
    if (!isSend(request) && faults.refusals > 0) {
      faults.refusals--;
      throw new GraphError(faults.refusalCode, { details });
    }
    if (!isSend(request) || faults.brokenAnswers === 0) return null;
    return ids.draw() < faults.brokenAnswers ? brokenAnswers.next() : null;
  }

  private finish(request: Request, reply: Reply, value: unknown, broken: BrokenAnswer | null): void {
    const { faults, ids, brokenAnswers } = this.parts;
    if (value === undefined) return;
    const body = typeof value === 'string' ? value : JSON.stringify(value);
    if (broken !== null) {
      this.settle(reply, () => brokenAnswers.write(broken, request, reply, body));
      return;
    }
    const { locals } = reply;
    const isWrite = locals.version !== undefined && request.method !== 'GET';
    if (isWrite && faults.dropAnswers > 0 && ids.draw() < faults.dropAnswers) locals.cut = true;
    this.settle(reply, () => this.write(reply, 200, body));
  }

  private fail(request: Request, reply: Reply, error: unknown): void {
    request.resume();
    const { ids, log } = this.parts;
    const answer = (status: number, body: string | null) => this.settle(reply, () => this.write(reply, status, body));
    // What body-parser and the router throw has a status of its own.
    const { status = 500 } = error as { status?: number };
    if (error instanceof GraphError) answer(error.httpStatus, error.body(ids.traceId()));
    else if (error instanceof PlainError) {
      answer(error.httpStatus, error.message === '' ? null : JSON.stringify({ error: { message: error.message } }));
    } else {
      if (status === 500) log(`simulator: ${error instanceof Error ? error.stack : String(error)}`);
      answer(status, null);
    }
  }

  /** Waits for everything that the answer must not overtake. */
  private settle({ locals }: Reply, write: () => void): void {
    const { faults, store } = this.parts;
    const delayMs = (locals.delayMs ?? 0) + (locals.version === undefined ? 0 : faults.latencyMs);
    const late = () => {
      if (delayMs === 0) write();
      else setTimeout(write, delayMs).unref();
    };
    store.whenWritten(() => {
      if (locals.after === undefined) late();
      else void locals.after.then(late);
    });
  }

  private write(reply: Reply, status: number, body: string | null): void {
    const { version, cut } = reply.locals;
    if (cut === true || reply.destroyed) {
      reply.destroy();
      return;
    }
    const headers = ['Content-Length', String(body === null ? 0 : Buffer.byteLength(body))];
    if (body !== null) headers.push('Content-Type', JSON_TYPE);
    if (version !== undefined) {
      const trace = this.parts.ids.traceId();
      headers.push('facebook-api-version', `v${version}.0`, 'x-fb-request-id', trace, 'x-fb-trace-id', trace);
      headers.push('x-fb-rev', '1031245768', 'Cache-Control', 'private, no-cache, no-store, must-revalidate');
      if (status === 401) headers.push('WWW-Authenticate', 'OAuth "Facebook Platform" "invalid_token"');
    }
    reply.writeHead(status, headers).end(body ?? undefined);
  }
}

function isSend({ method, url }: Request): boolean {
  return method === 'POST' && /\/messages(?:\?|$)/.test(url);
}

/** Takes the version off the path; without one the oldest answers. @throws GraphError 2500 for a version to come */
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

/** A form or a script of any web page may send the other types without asking (CORS). */
function requireJson(request: Request, _reply: unknown, next: NextFunction): void {
  if (bodyText(request) !== '' && !/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new PlainError(415, 'Send the body with the header Content-Type: application/json.');
  }
  next();
}
