import type { Setting } from '../setting.js';

/** Deliveries to the workspaces' endpoints. */
export const WEBHOOK_SETTINGS: readonly Setting[] = [];
