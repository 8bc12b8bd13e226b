import type { Setting } from './setting.js';
import { COMMAND_LINE_SETTINGS } from './settings/command-line-settings.js';
import { MEDIA_SETTINGS } from './settings/media-settings.js';
import { PROCESS_SETTINGS } from './settings/process-settings.js';
import { RETENTION_SETTINGS } from './settings/retention-settings.js';
import { SECURITY_SETTINGS } from './settings/security-settings.js';
import { STORAGE_SETTINGS } from './settings/storage-settings.js';
import { WHATSAPP_SETTINGS } from './settings/whatsapp-settings.js';
import { WEBHOOK_SETTINGS } from './settings/webhook-settings.js';

/** Every setting that Herald reads, in the order of `.env.example`. */
export const SETTINGS: readonly Setting[] = [
  ...PROCESS_SETTINGS,
  ...STORAGE_SETTINGS,
  ...WHATSAPP_SETTINGS,
  ...MEDIA_SETTINGS,
  ...WEBHOOK_SETTINGS,
  ...SECURITY_SETTINGS,
  ...RETENTION_SETTINGS,
  ...COMMAND_LINE_SETTINGS,
];
