import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal.js';
import type { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { BODY_POLICY, type BodyPolicy, JSON_LIMIT_BYTES } from './body-as.decorator.js';
import { BODY_ERRORS, type BodyErrorKind } from './body-errors.decorator.js';
import { hasBody, parseJson, readBytes } from './body-reader.js';
import type { HeraldRequest } from './herald-request.js';
import { jsonFaults } from './json-faults.js';

interface RouteBody extends BodyPolicy {
  /** The route has a `@Body()`; what nobody looks at is not read. */
  wanted: boolean;
  errors: BodyErrorKind;
}

/**
 * Reads and parses the body of a request, as the last of the guards: only then is it known that the caller may ask, and
 * bodies of strangers are not read. A guard and not an interceptor, because one interceptor costs a tenth of a small
 * request.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  private readonly routes = new WeakMap<object, RouteBody>();

  canActivate(context: ExecutionContext): true | Promise<true> {
    const req = context.switchToHttp().getRequest<HeraldRequest>();
    if (req.method === 'GET' || req.method === 'HEAD') return true;
    const route = this.routeOf(context);
    if (!route.wanted || route.format === 'stream') return true;
    return read(req, route);
  }

  private routeOf(context: ExecutionContext): RouteBody {
    const handler = context.getHandler();
    const known = this.routes.get(handler);
    if (known !== undefined) return known;
    const controller = context.getClass();
    const metadata = <T>(key: string): T | undefined =>
      (Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller)) as T | undefined;
    const route = {
      ...(metadata<BodyPolicy>(BODY_POLICY) ?? { format: 'json', limitBytes: JSON_LIMIT_BYTES }),
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

// After one turn of this the parser has handed over what it holds: a small body is there then.
const SOON = Promise.resolve();

function read(req: HeraldRequest, route: RouteBody): true | Promise<true> {
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

function accept(req: HeraldRequest, route: RouteBody, bytes: Buffer): true {
  req.body = route.format === 'bytes' ? bytes : jsonOf(bytes, route);
  return true;
}

function jsonOf(bytes: Buffer, route: RouteBody): unknown {
  if (bytes.length === 0) return undefined;
  const { value, text } = parseJson(bytes);
  const details = jsonFaults(value, text);
  if (details.length > 0) throw faultOf(route.errors, details);
  return value;
}

function faultOf(kind: BodyErrorKind, details: ReturnType<typeof jsonFaults>): AppError {
  return kind === 'unprocessable'
    ? commonErrors.VALIDATION_FAILED({ details })
    : commonErrors.INVALID_REQUEST({ details });
}

function refuseOtherTypes(req: HeraldRequest): void {
  const { 'content-type': type, 'content-encoding': encoding } = req.headers;
  const plain = encoding === undefined || encoding.toLowerCase() === 'identity';
  if (plain && (type === 'application/json' || (type !== undefined && isJson(type)))) return;
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
