import type { Setting } from '../setting.js';

/** Media files. */
export const MEDIA_SETTINGS: readonly Setting[] = [];
