import type { Request, Response } from 'express';
import { invalidParam } from '../graph-error.js';
import { Param } from './param.js';
import { type Parameters, queryParam, readParameters } from './parameters.js';

/** One request: its input, and what its handler decides about the answer besides the body. */
export class Call {
  /** The answering version of the Graph API; undefined outside of it. */
  version?: number;
  /** Close the connection without a byte of an answer. */
  cut = false;
  /** Wait this long before answering. */
  delayMs = 0;
  /** Answer only once this has resolved. */
  after?: Promise<void>;
  /** The object of the id in the path. */
  node: unknown;
  private read?: Parameters;

  constructor(
    readonly request: Request,
    readonly reply: Response,
    private readonly publicUrl: string | null,
  ) {}

  /**
   * Parameters of the query and of the body, read once.
   *
   * @throws GraphError 100 for a body that is neither a form nor a JSON object
   */
  get parameters(): Parameters {
    return (this.read ??= readParameters(this.request));
  }

  get param(): Param {
    return new Param(this.parameters.values, '');
  }

  pathParam(name: string): string {
    return String(this.request.params[name]);
  }

  /** The first query parameter of this name; null where there is none. */
  query(name: string): string | null {
    return queryParam(this.request, name);
  }

  /** The base of links to the simulator: its public address, or the address that the caller used. */
  get ownAddress(): string {
    return this.publicUrl ?? addressReached(this.request);
  }
}

/** A proxy keeps `Host`, and reports the protocol of the original request. */
export function addressReached({ headers }: Pick<Request, 'headers'>): string {
  const protocol = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${protocol}://${headers.host ?? 'localhost'}`;
}

/**
 * Returns the body of a 200: an object becomes JSON, text is JSON already, undefined means that the handler has
 * answered. Everything else is thrown, as a GraphError or a PlainError.
 */
export type Handler = (call: Call) => unknown;

/**
 * `stream`: the handler reads the body itself; otherwise it is parsed, as text of at most 4 MiB or as a multipart form.
 * `open`: no token is required. `plain`: outside the Graph API, without version and token, with JSON bodies only.
 */
type RouteKind = 'stream' | 'open' | 'plain';

export interface Route {
  method: 'get' | 'post' | 'delete';
  path: string;
  handler: Handler;
  kind?: RouteKind;
  /** The kind of object that the path's id must name; other kinds do not match. */
  node?: GraphNode<unknown>;
}

export function on(method: Route['method'], path: string, handler: Handler, kind?: RouteKind): Route {
  return { method, path, handler, kind };
}

/** A call by which a tester controls the simulator. */
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

  /** @param path the part after the id */
  on(method: Route['method'], path: string, handle: (node: T, call: Call) => unknown, kind?: RouteKind): Route {
    const handler = (call: Call) => handle(call.node as T, call);
    return { method, path: `/:${this.name}${path}`, handler, kind, node: this };
  }
}

export const SUCCESS = { success: true };

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 1000;

/**
 * Cuts a page out of a list: `limit` (25 by default), `after`, `before`. `next` and `previous` are present only if
 * there is more, which tells a caller when to stop.
 *
 * @throws GraphError 100 for an invalid limit or cursor
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

/** The items that pass every filter with a value in the query. */
export function matching<T>(
  call: Call,
  items: readonly T[],
  filters: Readonly<Record<string, (item: T, value: string) => boolean>>,
): T[] {
  const asked = Object.entries(filters).map(([name, matches]) => ({ value: call.query(name) ?? '', matches }));
  return items.filter((item) => asked.every(({ value, matches }) => value === '' || matches(item, value)));
}

/** A single value, several separated by commas, or a JSON array, in capitals. */
export function listOf(value: string): string[] {
  return value
    .toUpperCase()
    .split(/[[\]",\s]+/)
    .filter((part) => part !== '');
}

/** Beyond this a refused sender is cut off instead of being read to the end. */
const MAX_REFUSED_BYTES = 256 * 1024 * 1024;

/** Reads and discards the rest of a request, so that its sender is ready for the answer. */
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
