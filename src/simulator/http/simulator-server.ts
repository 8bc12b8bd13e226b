import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GraphError } from '../graph-error.js';
import type { IdSource } from '../ids.js';
import { EmptyServerError } from '../messages/scenarios.js';
import type { Faults } from '../simulator.types.js';
import type { Journal } from '../state/journal.js';
import type { StateStore } from '../state/state-store.js';
import type { AccessTokens } from './access-tokens.js';
import { type Answer, jsonAnswer } from './answer.js';
import { type BrokenAnswer, type BrokenAnswers, writeBroken } from './broken-answer.js';
import { Call } from './call.js';
import { sendFile } from './file-answer.js';
import { type GraphPath, parseGraphPath, unknownEdge, unknownObject } from './graph-path.js';
import type { Route, Router } from './router.js';
import { isTrustedHost } from './trusted-host.js';

const LARGEST_BODY_BYTES = 4 * 1024 * 1024;
/** How long the answer to the call that closes the port has. */
const ANSWERING_MS = 20;
const FOREIGN =
  'The simulator answers by its address or as localhost, and no pages of other sites; docs/simulator.md says how to name it.';
const JSON_TYPE = 'application/json; charset=UTF-8';

export interface ServerParts {
  router: Router;
  tokens: AccessTokens;
  ids: IdSource;
  /** Read at every request. */
  faults: Faults;
  brokenAnswers: BrokenAnswers;
  /** Names under which it may be called, besides addresses and `localhost`. */
  hostNames: readonly string[];
  journal: Journal;
  state: StateStore;
  log: (line: string) => void;
}

/** A request between its first and its last byte. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  query: string;
  /** Null outside the Graph API. */
  graph: GraphPath | null;
  params: Record<string, string>;
  /** Set where the answer is to be broken. */
  broken: BrokenAnswer | null;
}

/**
 * HTTP by hand: a framework would cost more than everything the simulator does. An answer leaves only when what it
 * promises is written down (journal and state), so `kill -9` after an answer loses nothing.
 */
export class SimulatorServer {
  private readonly server: Server;
  private pause: NodeJS.Timeout | null = null;

  constructor(private readonly parts: ServerParts) {
    // Longer than clients keep an idle connection, so that it is never the server who closes one in use.
    this.server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => this.accept(request, response));
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

  /** Lets whatever waits now have its answer, then refuses every connection for some time, and listens again. */
  closeFor(ms: number): void {
    if (this.pause !== null) return;
    const { address, port } = this.server.address() as AddressInfo;
    this.pause = setTimeout(() => {
      this.server.close();
      this.server.closeAllConnections();
      this.pause = setTimeout(() => this.listenAgain(port, address), ms);
    }, ANSWERING_MS);
  }

  /** Tries until the port is free, should somebody have taken it meanwhile. */
  private listenAgain(port: number, address: string): void {
    this.server.once('error', () => {
      this.pause = setTimeout(() => this.listenAgain(port, address), ANSWERING_MS);
    });
    this.server.listen(port, address, () => {
      this.server.removeAllListeners('error');
      this.pause = null;
    });
  }

  /** Closes at once, requests without an answer too. */
  close(): Promise<void> {
    if (this.pause !== null) clearTimeout(this.pause);
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private accept(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '/';
    const at = url.indexOf('?');
    const path = at === -1 ? url : url.slice(0, at);
    if (this.parts.faults.down && !path.startsWith('/_')) {
      request.socket.destroy();
      return;
    }
    const exchange: Exchange = {
      request,
      response,
      query: at === -1 ? '' : url.slice(at + 1),
      graph: null,
      params: {},
      broken: null,
    };
    if (this.isForeign(request)) {
      request.resume();
      this.write(exchange, jsonAnswer({ error: { message: FOREIGN } }, 403));
      return;
    }
    try {
      const route = this.route(exchange, path);
      if (route === null) this.write(exchange, jsonAnswer({ error: { message: `No such path: ${path}` } }, 404));
      else if (route.body === 'stream') this.run(exchange, route, '');
      else this.collect(exchange, route);
    } catch (error) {
      this.fail(exchange, error);
    }
  }

  /** A page of another site can make a browser call a server of its user's machine. */
  private isForeign({ method, headers: { host, origin } }: IncomingMessage): boolean {
    if (!isTrustedHost(host, this.parts.hostNames)) return true;
    return origin !== undefined && method !== 'GET' && origin !== `http://${host}`;
  }

  private route(exchange: Exchange, path: string): Route | null {
    const { router, tokens } = this.parts;
    const method = exchange.request.method ?? 'GET';
    const plain = path.startsWith('/v') ? null : router.findPlain(method, path);
    if (plain !== null) {
      exchange.params = plain.params;
      return plain.route;
    }
    if (path === '/' || path.startsWith('/_')) return null;
    const graph = parseGraphPath(path);
    exchange.graph = graph;
    tokens.check(exchange.request, exchange.query);
    const kind = router.kindOf(graph.nodeId);
    if (kind === null) throw unknownObject(method, graph.nodeId);
    const route = router.findGraph(method, kind, graph.edge);
    if (route === undefined) throw unknownEdge(method, graph.nodeId, graph.edge);
    return route;
  }

  private collect(exchange: Exchange, route: Route): void {
    const { request } = exchange;
    let first: Buffer | null = null;
    let more: Buffer[] | null = null;
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST_BODY_BYTES) return;
      if (first === null) first = chunk;
      else (more ??= [first]).push(chunk);
    });
    request.on('end', () => {
      if (size > LARGEST_BODY_BYTES) {
        this.write(exchange, { status: 413, body: null });
        return;
      }
      const body = more === null ? first : Buffer.concat(more);
      this.run(exchange, route, body === null ? '' : body.toString('utf8'));
    });
  }

  private run(exchange: Exchange, route: Route, text: string): void {
    const { faults, ids } = this.parts;
    const { request } = exchange;
    const isWrite = exchange.graph !== null && request.method !== 'GET';
    try {
      if (isWrite && faults.errorRate > 0 && ids.draw() < faults.errorRate) {
        throw new GraphError(131000, { details: 'A fault that was asked for', isTransient: true });
      }
      if (exchange.graph !== null && exchange.graph.edge !== 'messages' && faults.refusals > 0) {
        faults.refusals--;
        throw new GraphError(faults.refusalCode, { details: 'A fault that was asked for' });
      }
      const broken = this.breakage(exchange);
      if (broken?.taken === false) {
        this.break(exchange, broken, { status: 200, body: null });
        return;
      }
      const call = new Call(exchange.graph?.nodeId ?? '', exchange.params, exchange.query, text, request);
      const answer = route.handler(call);
      if (answer instanceof Promise) {
        answer.then(
          (settled) => this.finish(exchange, settled, isWrite),
          (error: unknown) => this.fail(exchange, error),
        );
      } else if (broken !== null) this.break(exchange, broken, answer);
      else this.finish(exchange, answer, isWrite);
    } catch (error) {
      this.fail(exchange, error);
    }
  }

  private breakage({ graph, request }: Exchange): BrokenAnswer | null {
    const { faults, brokenAnswers, ids } = this.parts;
    if (faults.brokenAnswers === 0 || graph?.edge !== 'messages' || request.method !== 'POST') return null;
    return ids.draw() < faults.brokenAnswers ? brokenAnswers.next() : null;
  }

  private break(exchange: Exchange, broken: BrokenAnswer, answer: Answer): void {
    exchange.broken = broken;
    this.parts.brokenAnswers.count(broken);
    this.settle(exchange, answer);
  }

  private finish(exchange: Exchange, answer: Answer, isWrite: boolean): void {
    const { faults, ids } = this.parts;
    if (isWrite && faults.dropAnswers > 0 && ids.draw() < faults.dropAnswers) {
      this.settle(exchange, { ...answer, cut: true });
    } else this.settle(exchange, answer);
  }

  /** Waits for whatever the answer must not overtake, then writes it. */
  private settle(exchange: Exchange, answer: Answer): void {
    const { faults, journal, state } = this.parts;
    const delayMs = (answer.delayMs ?? 0) + (exchange.graph === null ? 0 : faults.latencyMs);
    const write = () => {
      if (delayMs === 0) this.write(exchange, answer);
      else setTimeout(() => this.write(exchange, answer), delayMs).unref();
    };
    journal.whenWritten(() => {
      if (answer.after === undefined && !state.dirty) write();
      else {
        Promise.all([answer.after, state.flush()]).then(write, (error: unknown) => this.fail(exchange, error));
      }
    });
  }

  private fail(exchange: Exchange, error: unknown): void {
    exchange.request.resume();
    if (error instanceof GraphError) {
      const body = error.body(this.parts.ids.traceId());
      this.settle(exchange, { status: error.httpStatus, body });
      return;
    }
    if (!(error instanceof EmptyServerError)) {
      this.parts.log(`simulator: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
    this.settle(exchange, { status: 500, body: null });
  }

  private write(exchange: Exchange, answer: Answer): void {
    const { response, graph } = exchange;
    if (answer.cut === true || response.destroyed) {
      response.destroy();
      return;
    }
    const { body, file } = answer;
    if (exchange.broken !== null) {
      writeBroken(exchange.broken, { request: exchange.request, response, body: body === null ? null : String(body) });
      return;
    }
    const length = file?.sizeBytes ?? (body === null ? 0 : Buffer.byteLength(body));
    const headers = ['Content-Length', String(length)];
    if (body !== null || file !== undefined) headers.push('Content-Type', answer.contentType ?? JSON_TYPE);
    if (graph !== null) {
      const trace = this.parts.ids.traceId();
      headers.push(
        'facebook-api-version',
        `v${graph.version}.0`,
        'x-fb-request-id',
        trace,
        'x-fb-trace-id',
        trace,
        'x-fb-rev',
        '1031245768',
        'Cache-Control',
        'private, no-cache, no-store, must-revalidate',
      );
      if (answer.status === 401) headers.push('WWW-Authenticate', 'OAuth "Facebook Platform" "invalid_token"');
    }
    response.writeHead(answer.status, headers);
    if (file === undefined) response.end(body ?? undefined);
    else void sendFile(response, file);
  }
}
