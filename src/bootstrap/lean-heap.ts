import { setFlagsFromString } from 'node:v8';
import type { Role } from '../infrastructure/config/setting.js';

/** V8's own default lets the heap of a busy process double or more between two full collections. */
const GROWING_PERCENT = 20;

/**
 * A worker makes much short-lived garbage around little that lives (60 MB): collected a little more often it stays small.
 * Not where the same process answers the API, whose time is dearer than its memory.
 */
export function keepHeapLean(roles: readonly Role[]): void {
  if (roles.includes('worker') && !roles.includes('api'))
    setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
