import type { Request, Response } from 'express';
import { invalidParam } from '../graph-error.js';
import { Param } from './param.js';
import { type Parameters, queryParam, readParameters } from './parameters.js';

/** One request: what came with it, and what its handler says about the answer, beside the body. */
export class Call {
  /** The version of the Graph API that answers; undefined outside of it. */
  version?: number;
  /** The connection is closed without a byte of an answer. */
  cut = false;
  /** Wait so long before answering. */
  delayMs = 0;
  /** Answer only once this has resolved. */
  after?: Promise<void>;
  /** What the id in the path names. */
  node: unknown;
  private read?: Parameters;

  constructor(
    readonly request: Request,
    readonly reply: Response,
    private readonly publicUrl: string | null,
  ) {}

  /** Those of the query and of the body, read once. @throws GraphError 100 for a body that is no form and no JSON object */
  get parameters(): Parameters {
    return (this.read ??= readParameters(this.request));
  }

  get param(): Param {
    return new Param(this.parameters.values, '');
  }

  pathParam(name: string): string {
    return String(this.request.params[name]);
  }

  /** A parameter of the query, the first of its name; null where there is none. */
  query(name: string): string | null {
    return queryParam(this.request, name);
  }

  /** Where links to the simulator lead: its public address, or where the caller reached it. */
  get ownAddress(): string {
    return this.publicUrl ?? addressReached(this.request);
  }
}

/** A proxy in front keeps `Host`, and says with which protocol it was called. */
export function addressReached({ headers }: Pick<Request, 'headers'>): string {
  const protocol = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${protocol}://${headers.host ?? 'localhost'}`;
}

/**
 * Gives the body of a 200: an object becomes JSON, text is JSON already, undefined means that the handler has answered.
 * Everything else is thrown, as a GraphError or a PlainError.
 */
export type Handler = (call: Call) => unknown;

/**
 * `stream`: the handler reads the body itself; otherwise it is read, a text of at most 4 MiB or a form of several parts.
 * `open`: no token is needed. `plain`: outside the Graph API, without version and token, with bodies in JSON only.
 */
type RouteKind = 'stream' | 'open' | 'plain';

export interface Route {
  method: 'get' | 'post' | 'delete';
  path: string;
  handler: Handler;
  kind?: RouteKind;
  /** What the id in the path names; an id of another kind does not match. */
  node?: GraphNode<unknown>;
}

export function on(method: Route['method'], path: string, handler: Handler, kind?: RouteKind): Route {
  return { method, path, handler, kind };
}

/** One of the calls by which a tester controls the simulator. */
export function control(method: Route['method'], path: string, handler: Handler): Route {
  return on(method, `/_simulator${path}`, handler, 'plain');
}

/** A kind of object of the Graph API, with the calls of the form `/{id}/...`. */
export class GraphNode<T> {
  constructor(
    /** The name of the id in paths. */
    readonly name: string,
    readonly find: (id: string) => T | undefined,
  ) {}

  /** @param path after the id */
  on(method: Route['method'], path: string, handle: (node: T, call: Call) => unknown, kind?: RouteKind): Route {
    const handler = (call: Call) => handle(call.node as T, call);
    return { method, path: `/:${this.name}${path}`, handler, kind, node: this };
  }
}

export const SUCCESS = { success: true };

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 1000;

/**
 * Cuts a page out of a list: `limit` (25 by default), `after`, `before`. `next` and `previous` are there only where there
 * is more, which is how a caller knows when to stop.
 * @throws GraphError 100 for a limit or cursor that is none
 */
export function pageOf<T>(
  call: Call,
  items: readonly T[],
  idOf: (item: T) => string,
  show: (item: T) => object,
): { data: object[]; paging?: object } {
  const limit = Number(call.query('limit') ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw invalidParam('Param limit must be a number between 1 and 1000.');
  }
  const positionOf = (cursor: string) => {
    const id = Buffer.from(cursor, 'base64').toString();
    const position = items.findIndex((item) => idOf(item) === id);
    if (position === -1) throw invalidParam('Invalid cursor.');
    return position;
  };
  const after = call.query('after');
  const before = call.query('before');
  const end = after === null && before !== null ? positionOf(before) : undefined;
  const from = after === null ? Math.max(0, (end ?? 0) - limit) : positionOf(after) + 1;
  const chosen = items.slice(from, end ?? from + limit);
  const [first] = chosen;
  const last = chosen.at(-1);
  if (first === undefined || last === undefined) return { data: [] };
  const [cursorOfFirst, cursorOfLast] = [first, last].map((item) => Buffer.from(idOf(item)).toString('base64'));
  const linkTo = (name: 'after' | 'before', cursor = '') => {
    const [path, search] = call.request.originalUrl.split('?');
    const query = new URLSearchParams(search);
    for (const old of ['after', 'before', 'access_token']) query.delete(old);
    query.set(name, cursor);
    return `${call.ownAddress}${path}?${query.toString()}`;
  };
  return {
    data: chosen.map(show),
    paging: {
      cursors: { before: cursorOfFirst ?? '', after: cursorOfLast ?? '' },
      next: from + chosen.length < items.length ? linkTo('after', cursorOfLast) : undefined,
      previous: from > 0 ? linkTo('before', cursorOfFirst) : undefined,
    },
  };
}

/** Those that pass every filter for which the query has a value. */
export function matching<T>(
  call: Call,
  items: readonly T[],
  filters: Readonly<Record<string, (item: T, value: string) => boolean>>,
): T[] {
  const asked = Object.entries(filters).map(([name, matches]) => ({ value: call.query(name) ?? '', matches }));
  return items.filter((item) => asked.every(({ value, matches }) => value === '' || matches(item, value)));
}

/** One value, some with commas between, or a JSON array, in capitals. */
export function listOf(value: string): string[] {
  return value
    .toUpperCase()
    .split(/[[\]",\s]+/)
    .filter((part) => part !== '');
}

/** Beyond it a sender that was refused is cut off instead of being heard out. */
const MAX_REFUSED_BYTES = 256 * 1024 * 1024;

/** Reads and drops the rest of a request, so that its sender is ready for the answer. */
export function letRunOff(request: Request): Promise<void> {
  if (request.complete || request.destroyed || request.readableEnded) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_REFUSED_BYTES) request.destroy();
    });
    request.once('end', resolve);
    request.once('close', resolve);
    request.resume();
  });
}
