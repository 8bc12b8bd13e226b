import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { commonErrors } from '../../common/common.errors.js';
import type { HeraldRequest } from './herald-request.js';
import { jsonFaultAt } from './json-fault-place.js';

// A JSON body is small: whoever needs longer than this holds a connection for nothing.
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
 * @throws PAYLOAD_TOO_LARGE (413) as soon as it is sure, INVALID_REQUEST (400) when the caller goes away or dawdles.
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
      settle(invalid('timeout', 'The body took too long to arrive; send it in one go.'));
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
  if (!isUtf8(bytes)) throw invalid('encoding', 'The body is not valid UTF-8; encode it as UTF-8.');
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const text = start === 0 ? bytes.toString() : bytes.toString('utf8', start);
  try {
    return { value: JSON.parse(text), text };
  } catch {
    throw invalid('json', `The body is not valid JSON: ${placeOf(text)}.`);
  }
}

function placeOf(text: string): string {
  const at = jsonFaultAt(text);
  if (at >= text.length) return 'it ends too early';
  const before = text.slice(0, at).split('\n');
  return `look at line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

function incomplete() {
  return invalid('incomplete', 'The body ended before it was complete; send it again.');
}

function invalid(rule: string, message: string) {
  return commonErrors.INVALID_REQUEST({ details: [{ field: '', rule, message }] });
}
