import { SetMetadata } from '@nestjs/common';

export type BodyFormat =
  /** `@Body()` is the parsed JSON, undefined where the body is empty. */
  | 'json'
  /** `@Body()` is a Buffer of the bytes as they came, whatever their type: for signatures. */
  | 'bytes'
  /** The route reads the request itself; `@Body()` stays undefined. For uploads. */
  | 'stream';

export interface BodyPolicy {
  format: BodyFormat;
  limitBytes: number;
}

export const JSON_LIMIT_BYTES = 256 * 1_024;
export const BODY_POLICY = 'herald:body';

/** How the body of this route is read. Without it: JSON of at most 256 KiB, where the route has a `@Body()`. */
export function BodyAs(format: BodyFormat, limitBytes: number = JSON_LIMIT_BYTES): MethodDecorator & ClassDecorator {
  return SetMetadata(BODY_POLICY, { format, limitBytes } satisfies BodyPolicy);
}
