import type { Config } from '../../src/infrastructure/config/config.js';

/** The part of the settings that repositories of messages read: 24 hours to live. */
export const LIMITED = { limits: { messageTtlHours: 24 } } as Config;
