import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { SetMetadata, type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import type { HeraldRequest } from './herald-request.js';
import { readJson } from './read-json.js';
import { object } from '../../common/shape.js';
import { takes } from './routes.js';

export const JSON_LIMIT_BYTES = 256 * 1_024;
const BODY_POLICY = 'herald:body';

interface BodyPolicy {
  /** The route reads the request itself, and `@Body()` is undefined: for uploads and signatures. */
  stream?: boolean;
  /**
   * Violations in well-formed JSON are 422 VALIDATION_FAILED. Otherwise, and for malformed JSON, 400 INVALID_REQUEST.
   */
  unprocessable?: boolean;
}

/** How the body of this route is read. Default: JSON of at most 256 KiB, if the route has a `@Body()`. */
export function BodyAs(policy: BodyPolicy): MethodDecorator {
  return SetMetadata(BODY_POLICY, policy);
}

// A JSON body is small: a caller that needs longer than this wastes a connection.
const BODY_TIMEOUT_MS = 8_000;

export function hasBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length'];
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : length !== '0';
}

/**
 * Call it before a refusal is written. A caller that still sends a large body may be cut off (`drainUnreadBody`), so it
 * is told not to reuse the connection: its next request would be lost. Node would close the connection with the answer,
 * which may lose the answer too. So only our side is ended, and the caller's data is still read.
 */
export function closeAfterUnreadBody(req: HeraldRequest, res: Response): void {
  if (req.complete || !hasBody(req)) return;
  const { socket } = req;
  res.setHeader('Connection', 'close');
  socket.destroySoon = () => void socket.end();
}

/** @throws UNSUPPORTED_CONTENT_TYPE (415) for a compressed body. */
export function refuseEncoded(req: IncomingMessage, expected: string): void {
  const encoding = req.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw commonErrors.UNSUPPORTED_CONTENT_TYPE({ expected, encoding });
}

/**
 * Reads the whole body.
 *
 * @param arrived is called with each part. Reading pauses while its promise is pending, and that time does not count.
 * If it throws, reading ends.
 * @throws PAYLOAD_TOO_LARGE (413) as soon as it is certain, INVALID_REQUEST (400) when the caller disconnects or is too
 * slow.
 */
export async function readBytes(
  req: HeraldRequest,
  limitBytes: number,
  arrived?: (part: Buffer) => Promise<void> | undefined,
): Promise<Buffer> {
  if (Number(req.headers['content-length']) > limitBytes) throw commonErrors.PAYLOAD_TOO_LARGE({ limitBytes });
  if (req.destroyed) throw incomplete();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isSettled = false;
    let leftMs = BODY_TIMEOUT_MS;
    let timer: NodeJS.Timeout;
    let since: number;
    const settle = (error: Error | null): void => {
      isSettled = true;
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (error === null) resolve(Buffer.concat(chunks, size));
      else reject(error);
    };
    const readOn = (): void => {
      req.resume();
      if (isSettled) return;
      since = performance.now();
      timer = setTimeout(tooSlow, leftMs);
    };
    const hold = (until: Promise<void>): void => {
      req.pause();
      clearTimeout(timer);
      leftMs -= performance.now() - since;
      until.then(readOn, (error: Error) => {
        settle(error);
        readOn();
      });
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limitBytes) return settle(commonErrors.PAYLOAD_TOO_LARGE({ limitBytes }));
      chunks.push(chunk);
      try {
        const until = arrived?.(chunk);
        if (until !== undefined) hold(until);
      } catch (error) {
        settle(error as Error);
      }
    };
    const onEnd = (): void => settle(null);
    const onClose = (): void => settle(incomplete());
    const tooSlow = (): void =>
      settle(invalidField('', 'timeout', 'The body took too long to arrive; send it in one go.'));
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    readOn();
  });
}

function incomplete() {
  return invalidField('', 'incomplete', 'The body ended before it was complete; send it again.');
}

const NO_FIELDS = object({});

/** Reads and parses the body. It is the last guard, so that bodies of unauthenticated requests are not read. */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /**
   * @throws UNSUPPORTED_CONTENT_TYPE (415), PAYLOAD_TOO_LARGE (413), INVALID_REQUEST (400), VALIDATION_FAILED (422).
   */
  async canActivate(context: ExecutionContext): Promise<true> {
    const req = context.switchToHttp().getRequest<HeraldRequest>();
    const policy = this.reflector.get<BodyPolicy | undefined>(BODY_POLICY, context.getHandler()) ?? {};
    if (req.method === 'GET' || req.method === 'HEAD' || policy.stream === true) return true;
    const isWanted = takes('body', context.getClass(), context.getHandler().name);
    // The body of a DELETE has no meaning (RFC 9110, 9.3.5), and is not read.
    if (!hasBody(req) || (!isWanted && req.method === 'DELETE')) return true;
    refuseOtherTypes(req);
    const bytes = await readBytes(req, JSON_LIMIT_BYTES);
    if (bytes.length > 0) req.body = jsonOf(bytes, policy, isWanted);
    return true;
  }
}

/** @param isWanted the route has a `@Body()`; other routes accept only an empty object */
function jsonOf(bytes: Buffer, policy: BodyPolicy, isWanted: boolean): unknown {
  const { value, violations: details } = readJson(bytes);
  if (!isWanted && details.length === 0) NO_FIELDS.check(value, '', details);
  if (details.length === 0) return value;
  throw commonErrors[policy.unprocessable === true ? 'VALIDATION_FAILED' : 'INVALID_REQUEST']({ details });
}

/** @throws UNSUPPORTED_CONTENT_TYPE (415) where it is not JSON. */
export function refuseOtherTypes(req: HeraldRequest): void {
  refuseEncoded(req, 'application/json');
  const { 'content-type': type } = req.headers;
  if (type === 'application/json' || (type !== undefined && isJson(type))) return;
  throw commonErrors.UNSUPPORTED_CONTENT_TYPE({ expected: 'application/json' });
}

/** Accepts application/json in any spelling; a charset, if present, must be UTF-8. */
function isJson(contentType: string): boolean {
  const [media = '', ...parameters] = contentType.toLowerCase().split(';');
  if (media.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=', 2);
    return name.trim() !== 'charset' || /^"?utf-?8"?$/.test(value.trim());
  });
}
