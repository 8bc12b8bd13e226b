import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { LATE_EXTENSION } from './api-description.js';

/** In an answer to a write: a mark. In a read: the mark up to which it must see writes. */
export const READ_AFTER_HEADER = 'X-Herald-Read-After';
/** In an answer from a standby: how late it is at most, in milliseconds. */
export const LAG_HEADER = 'X-Herald-Lag';

const MAY_BE_LATE = 'herald:may-be-late';

/** Whether a request of the route may be late, depending on its query. */
type MayBeLate = (query: Readonly<Record<string, unknown>>) => boolean;

/**
 * The route only reads, and its readers tolerate a delay, so a standby of DATABASE_READ_URL may answer it: see
 * `LateReads`. Not for reads that decide about a send, a limit or a key.
 *
 * @param when which requests; default: all.
 */
export function ReadsMayBeLate(when: MayBeLate = () => true): MethodDecorator {
  return applyDecorators(SetMetadata(MAY_BE_LATE, when), ApiExtension(LATE_EXTENSION, true));
}

/** Null where reads of the route are never late. */
export function mayBeLateOf(handler: object): MayBeLate | null {
  return (Reflect.getMetadata(MAY_BE_LATE, handler) as MayBeLate | undefined) ?? null;
}
