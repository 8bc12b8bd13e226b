import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { LATE_EXTENSION } from './api-description.js';

/** Of an answer to a write: a mark. Of a read: it is to find what was written up to the mark. */
export const READ_AFTER_HEADER = 'X-Herald-Read-After';
/** Of a read that a standby answered: by so many milliseconds, at most, it may be late. */
export const LAG_HEADER = 'X-Herald-Lag';

const MAY_BE_LATE = 'herald:may-be-late';

/** Whether a request of the route may be late, by its query. */
type MayBeLate = (query: Readonly<Record<string, unknown>>) => boolean;

/**
 * The route only reads, for people or to be read again, and a standby of DATABASE_READ_URL may answer it: see `LateReads`.
 * What decides about a send, a limit or a key must not be late.
 *
 * @param when which requests; default: all.
 */
export function ReadsMayBeLate(when: MayBeLate = () => true): MethodDecorator {
  return applyDecorators(SetMetadata(MAY_BE_LATE, when), ApiExtension(LATE_EXTENSION, true));
}

/** Null where the route's reads are never late. */
export function mayBeLateOf(handler: object): MayBeLate | null {
  return (Reflect.getMetadata(MAY_BE_LATE, handler) as MayBeLate | undefined) ?? null;
}
