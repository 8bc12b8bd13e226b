import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal.js';
import type { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { object } from '../../common/shape.js';
import { BODY_POLICY, type BodyPolicy, JSON_LIMIT_BYTES } from './body-as.decorator.js';
import { BODY_ERRORS, type BodyErrorKind } from './body-errors.decorator.js';
import { hasBody, parseJson, readBytes, refuseEncoded } from './body-reader.js';
import type { HeraldRequest } from './herald-request.js';
import { jsonFaults } from './json-faults.js';
import { queryParametersOf, refuseUnknownQuery } from './query-parameters.js';

interface RouteInput extends BodyPolicy {
  /** Query parameters that the route knows; null: any. */
  query: ReadonlySet<string> | null;
  /** The route has a `@Body()`. A POST without one takes an empty object only. */
  wanted: boolean;
  errors: BodyErrorKind;
}

/**
 * Refuses query parameters that the route does not know, then reads and parses the body, as the last of the guards: only then is it known that the caller may ask, and
 * bodies of strangers are not read. A guard and not an interceptor, because one interceptor costs a tenth of a small
 * request.
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
    if (hasQuery) refuseUnknownQuery(req.query, route.query);
    // The body of a DELETE means nothing (RFC 9110, 9.3.5), and is not read.
    if (isRead || route.format === 'stream' || (!route.wanted && req.method === 'DELETE')) return true;
    return read(req, route);
  }

  private routeOf(context: ExecutionContext): RouteInput {
    const handler = context.getHandler();
    const known = this.routes.get(handler);
    if (known !== undefined) return known;
    const controller = context.getClass();
    const metadata = <T>(key: string): T | undefined =>
      (Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller)) as T | undefined;
    const route = {
      ...(metadata<BodyPolicy>(BODY_POLICY) ?? { format: 'json', limitBytes: JSON_LIMIT_BYTES }),
      query: queryParametersOf(controller, handler, handler.name),
      wanted: takesBody(controller, handler.name),
      errors: metadata<BodyErrorKind>(BODY_ERRORS) ?? 'invalid_request',
    };
    this.routes.set(handler, route);
    return route;
  }
}

function takesBody(controller: object, handlerName: string): boolean {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handlerName) ?? {}) as Record<string, unknown>;
  return Object.keys(args).some((key) => key.startsWith(`${RouteParamtypes.BODY}:`));
}

const NO_FIELDS = object({});

// After one turn of this the parser has handed over what it holds: a small body is there then.
const SOON = Promise.resolve();

function read(req: HeraldRequest, route: RouteInput): true | Promise<true> {
  if (!hasBody(req)) {
    req.body = route.format === 'bytes' ? Buffer.alloc(0) : undefined;
    return true;
  }
  if (route.format === 'json') refuseOtherTypes(req);
  return SOON.then(() => {
    const bytes = readBytes(req, route.limitBytes);
    if (bytes instanceof Promise) return bytes.then((all) => accept(req, route, all));
    return accept(req, route, bytes);
  });
}

function accept(req: HeraldRequest, route: RouteInput, bytes: Buffer): true {
  req.body = route.format === 'bytes' ? bytes : jsonOf(bytes, route);
  return true;
}

function jsonOf(bytes: Buffer, route: RouteInput): unknown {
  if (bytes.length === 0) return undefined;
  const { value, text } = parseJson(bytes);
  const details = jsonFaults(value, text);
  if (!route.wanted && details.length === 0) NO_FIELDS.check(value, '', details);
  if (details.length > 0) throw faultOf(route.errors, details);
  return value;
}

function faultOf(kind: BodyErrorKind, details: ReturnType<typeof jsonFaults>): AppError {
  return kind === 'unprocessable'
    ? commonErrors.VALIDATION_FAILED({ details })
    : commonErrors.INVALID_REQUEST({ details });
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
