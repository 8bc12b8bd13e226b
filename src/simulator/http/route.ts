import type { Request, Response } from 'express';
import { GraphError, invalidParam } from '../graph-error.js';

/** What a handler says about its answer, beside the body. */
export interface AnswerLocals {
  /** The version of the Graph API that answers; undefined outside of it. */
  version?: number;
  /** The connection is closed without a byte of an answer. */
  cut?: boolean;
  /** Wait so long before answering. */
  delayMs?: number;
  /** Answer only once this has resolved. */
  after?: Promise<void>;
}

export type Reply = Response<unknown, AnswerLocals>;

/**
 * Gives the body of a 200: an object becomes JSON, text is JSON already, undefined means that the handler has answered.
 * Everything else is thrown, as a GraphError or a PlainError.
 */
export type Handler = (request: Request, reply: Reply) => unknown;

/**
 * One call. In the Graph API a parameter of the path names the kind of object that the id must be of, such as
 * `:template`; an id of another kind does not match. `stream`: the handler reads the body itself; otherwise it is
 * `request.body`, a text of at most 4 MiB, or the fields of a form of several parts. `open`: no token is needed.
 */
export type Route = readonly [
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  handler: Handler,
  kind?: 'stream' | 'open',
];

export const SUCCESS = { success: true };

/** A parameter of the path. */
export function pathId(request: Request, name: string): string {
  return String(request.params[name]);
}

/** A parameter of the query, the first of its name; null where there is none. */
export function queryParam(request: Request, name: string): string | null {
  const value = request.query[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}

export function bodyText(request: Request): string {
  const { body } = request as { body: unknown };
  return typeof body === 'string' ? body : '';
}

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The body as an object. @throws GraphError 100 where it is none */
export function bodyObject(request: Request): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(bodyText(request));
  } catch {
    throw new GraphError(100, { details: 'The request body is not valid JSON' });
  }
  if (isObject(value)) return value;
  throw new GraphError(100, { details: 'The request body must be a JSON object' });
}

const DEFAULT_LIMIT = 25;
const LARGEST_LIMIT = 1000;

export interface Page<T> {
  data: T[];
  paging?: { cursors: { before: string; after: string }; next?: string; previous?: string };
}

/**
 * Cuts a page out of a list: `limit` (25 by default), `after`, `before`. `next` and `previous` are there only where there
 * is more, which is how a caller knows when to stop.
 * @throws GraphError 100 for a limit or cursor that is none
 */
export function pageOf<T>(items: readonly T[], idOf: (item: T) => string, request: Request): Page<T> {
  const limit = Number(queryParam(request, 'limit') ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT) {
    throw invalidParam('Param limit must be a number between 1 and 1000.');
  }
  const positionOf = (cursor: string) => {
    const id = Buffer.from(cursor, 'base64').toString();
    const position = items.findIndex((item) => idOf(item) === id);
    if (position === -1) throw invalidParam('Invalid cursor.');
    return position;
  };
  const after = queryParam(request, 'after');
  const before = queryParam(request, 'before');
  let from = 0;
  let end = limit;
  if (after !== null) {
    from = positionOf(after) + 1;
    end = from + limit;
  } else if (before !== null) {
    end = positionOf(before);
    from = Math.max(0, end - limit);
  }
  const data = items.slice(from, end);
  const [first] = data;
  const last = data.at(-1);
  if (first === undefined || last === undefined) return { data };
  const cursors = { before: cursorOf(idOf(first)), after: cursorOf(idOf(last)) };
  const next = end < items.length ? linkTo(request, 'after', cursors.after) : undefined;
  const previous = from > 0 ? linkTo(request, 'before', cursors.before) : undefined;
  return { data, paging: { cursors, next, previous } };
}

function cursorOf(id: string): string {
  return Buffer.from(id).toString('base64');
}

function linkTo(request: Request, name: 'after' | 'before', cursor: string): string {
  const [path, search] = request.originalUrl.split('?');
  const query = new URLSearchParams(search);
  for (const old of ['after', 'before', 'access_token']) query.delete(old);
  query.set(name, cursor);
  return `${ownAddress(request)}${path}?${query.toString()}`;
}

/** Where the caller reached the simulator. */
export function ownAddress(request: Request): string {
  return `http://${request.headers.host ?? 'localhost'}`;
}

/** Beyond it a sender that was refused is cut off instead of being heard out. */
const MOST_REFUSED_BYTES = 256 * 1024 * 1024;

/** Reads and drops the rest of a request, so that its sender is ready for the answer. */
export function letRunOff(request: Request): Promise<void> {
  if (request.complete || request.destroyed || request.readableEnded) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_REFUSED_BYTES) request.destroy();
    });
    request.once('end', resolve);
    request.once('close', resolve);
    request.resume();
  });
}
