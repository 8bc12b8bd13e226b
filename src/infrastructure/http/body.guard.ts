import { SetMetadata, type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { RouteParamtypes } from '@nestjs/common/internal.js';
import { Reflector } from '@nestjs/core';
import { MOST_DETAILS } from '../../common/app-error.js';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import type { HeraldRequest } from './herald-request.js';
import { jsonErrorAt, jsonViolations } from './json-violations.js';
import { object, unknownField } from '../../common/shape.js';
import { routePolicyOf } from '../access/route-policy.js';
import { argumentsOf, queryNamesOf } from './validated-request.pipe.js';

export const JSON_LIMIT_BYTES = 256 * 1_024;
const BODY_POLICY = 'herald:body';

interface BodyPolicy {
  /** The route reads the request itself, and `@Body()` stays undefined: for uploads and signatures. */
  stream?: boolean;
  limitBytes?: number;
  /**
   * The route itself applies `jsonViolations`, to each item of a list: one that is unfit then concerns that item only, and
   * the limits are those of one item.
   */
  checkedByRoute?: boolean;
  /** Violations in well-formed JSON are 422 VALIDATION_FAILED. Else, and where JSON can't be read, 400 INVALID_REQUEST. */
  unprocessable?: boolean;
}

/** How the body of this route is read. Without it: JSON of at most 256 KiB, where the route has a `@Body()`. */
export function BodyAs(policy: BodyPolicy): MethodDecorator {
  return SetMetadata(BODY_POLICY, policy);
}

// A JSON body is small: a caller that needs longer than this holds a connection for nothing.
const BODY_TIMEOUT_MS = 8_000;
const NOTHING = Buffer.alloc(0);

export function hasBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length'];
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : length !== '0';
}

/** @throws UNSUPPORTED_CONTENT_TYPE (415) for a compressed body. */
export function refuseEncoded(req: IncomingMessage, expected: string): void {
  const encoding = req.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw commonErrors.UNSUPPORTED_CONTENT_TYPE({ expected, encoding });
}

/**
 * Reads the whole body. Mostly it has arrived together with the headers and is taken without waiting.
 *
 * @throws PAYLOAD_TOO_LARGE (413) as soon as it is certain, INVALID_REQUEST (400) when the caller disconnects or is too
 * slow.
 */
export function readBytes(req: HeraldRequest, limitBytes: number): Buffer | Promise<Buffer> {
  const declared = Number(req.headers['content-length']);
  if (declared > limitBytes) throw commonErrors.PAYLOAD_TOO_LARGE({ limitBytes });
  if (!req.complete && req.readableLength !== declared) return collect(req, limitBytes);
  const bytes = (req.read() as Buffer | null) ?? NOTHING;
  if (bytes.length > limitBytes) throw commonErrors.PAYLOAD_TOO_LARGE({ limitBytes });
  req.bodyTaken = true; // the parser may say that it is complete only after we have answered
  return bytes;
}

function collect(req: HeraldRequest, limitBytes: number): Promise<Buffer> {
  if (req.destroyed) return Promise.reject(incomplete());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (error: Error | null): void => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (error === null) resolve(Buffer.concat(chunks, size));
      else reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limitBytes) chunks.push(chunk);
      else settle(commonErrors.PAYLOAD_TOO_LARGE({ limitBytes }));
    };
    const onEnd = (): void => settle(null);
    const onClose = (): void => settle(incomplete());
    const timer = setTimeout(() => {
      // The connection is cut soon, so that nothing else may be sent on it.
      req.res?.setHeader('Connection', 'close');
      settle(invalidField('', 'timeout', 'The body took too long to arrive; send it in one go.'));
    }, BODY_TIMEOUT_MS);
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/**
 * Parses the text of a JSON body.
 *
 * @throws INVALID_REQUEST (400) saying where it can't be read.
 */
export function parseJson(bytes: Buffer): { value: unknown; text: string } {
  if (!isUtf8(bytes)) throw invalidField('', 'encoding', 'The body is not valid UTF-8; encode it as UTF-8.');
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const text = start === 0 ? bytes.toString() : bytes.toString('utf8', start);
  try {
    return { value: JSON.parse(text), text };
  } catch {
    throw invalidField('', 'json', `The body is not valid JSON: ${placeOf(text)}.`);
  }
}

function placeOf(text: string): string {
  const at = jsonErrorAt(text);
  if (at >= text.length) return 'it ends too early';
  const before = text.slice(0, at).split('\n');
  return `look at line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

function incomplete() {
  return invalidField('', 'incomplete', 'The body ended before it was complete; send it again.');
}

interface RouteInput extends BodyPolicy {
  /**
   * Query parameters that the route knows; null: any. Routes without a key are called by platforms, probes and links,
   * and check what they take themselves.
   */
  query: ReadonlySet<string> | null;
  /** The route has a `@Body()`. A POST without one takes an empty object only. */
  wanted: boolean;
}

/**
 * Refuses query parameters that the route does not know, and queries that are no UTF-8, then reads and parses the body,
 * as the last of the guards: only then is it known that the caller may ask, and bodies of unauthenticated requests are
 * not read. A guard and not an interceptor, because one interceptor costs a tenth of a small request.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  private readonly routes = new WeakMap<object, RouteInput>();

  canActivate(context: ExecutionContext): true | Promise<true> {
    const req = context.switchToHttp().getRequest<HeraldRequest>();
    const hasQuery = req.url.includes('?');
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (isRead && !hasQuery) return true;
    const route = this.routeOf(context);
    if (hasQuery) refuseBadQuery(req, route.query);
    // The body of a DELETE means nothing (RFC 9110, 9.3.5), and is not read.
    if (isRead || route.stream === true || (!route.wanted && req.method === 'DELETE')) return true;
    return read(req, route);
  }

  private routeOf(context: ExecutionContext): RouteInput {
    const handler = context.getHandler();
    const known = this.routes.get(handler);
    if (known !== undefined) return known;
    const controller = context.getClass();
    const route: RouteInput = {
      ...REFLECTOR.get<BodyPolicy | undefined>(BODY_POLICY, handler),
      query: routePolicyOf(controller, handler) === 'public' ? null : queryNamesOf(controller, handler.name),
      wanted: argumentsOf(controller, handler.name, RouteParamtypes.BODY).length > 0,
    };
    this.routes.set(handler, route);
    return route;
  }
}

/**
 * @throws INVALID_REQUEST (400) naming each parameter that the route does not know: a filter must not be ignored. Also for
 * bytes that are no UTF-8, which the parser would replace by U+FFFD.
 */
function refuseBadQuery({ url, query }: HeraldRequest, known: ReadonlySet<string> | null): void {
  if (known === null) return;
  if (url.includes('%') && !isDecodable(url.slice(url.indexOf('?')))) {
    throw invalidField('', 'query', 'The query is not correctly percent-encoded; encode its values as UTF-8.');
  }
  const unknown = Object.keys(query).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw commonErrors.INVALID_REQUEST({
    details: unknown.slice(0, MOST_DETAILS).map((name) => unknownField(name, known)),
  });
}

/** A percent sign that encodes nothing is text. */
function isDecodable(query: string): boolean {
  try {
    decodeURIComponent(query.replaceAll(/%(?![\da-f]{2})/gi, '%25'));
    return true;
  } catch {
    return false;
  }
}

const REFLECTOR = new Reflector();
const NO_FIELDS = object({});

// After one turn of this the parser has handed over what it holds: a small body is there then.
const SOON = Promise.resolve();

function read(req: HeraldRequest, route: RouteInput): true | Promise<true> {
  if (!hasBody(req)) {
    req.body = undefined;
    return true;
  }
  refuseOtherTypes(req);
  return SOON.then(() => {
    const bytes = readBytes(req, route.limitBytes ?? JSON_LIMIT_BYTES);
    if (bytes instanceof Promise) return bytes.then((all) => accept(req, route, all));
    return accept(req, route, bytes);
  });
}

function accept(req: HeraldRequest, route: RouteInput, bytes: Buffer): true {
  req.body = bytes.length === 0 ? undefined : jsonOf(bytes, route);
  return true;
}

function jsonOf(bytes: Buffer, route: RouteInput): unknown {
  const { value, text } = parseJson(bytes);
  if (route.checkedByRoute === true) return value;
  const details = jsonViolations(value, text);
  if (!route.wanted && details.length === 0) NO_FIELDS.check(value, '', details);
  if (details.length === 0) return value;
  throw commonErrors[route.unprocessable === true ? 'VALIDATION_FAILED' : 'INVALID_REQUEST']({ details });
}

function refuseOtherTypes(req: HeraldRequest): void {
  refuseEncoded(req, 'application/json');
  const { 'content-type': type } = req.headers;
  if (type === 'application/json' || (type !== undefined && isJson(type))) return;
  throw commonErrors.UNSUPPORTED_CONTENT_TYPE({ expected: 'application/json' });
}

/** Application/json in any spelling; a charset, where there is one, must be UTF-8. */
function isJson(contentType: string): boolean {
  const [media = '', ...parameters] = contentType.toLowerCase().split(';');
  if (media.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=', 2);
    return name.trim() !== 'charset' || /^"?utf-?8"?$/.test(value.trim());
  });
}
