import { TEMPLATE_STATUSES, type TemplateStatus } from './templates.types.js';

const KNOWN = new Map<string, TemplateStatus>(TEMPLATE_STATUSES.map((status) => [status.toUpperCase(), status]));

/** "It may be sent again": the platform's word after a pause or a ban that was lifted. */
KNOWN.set('REINSTATED', 'approved');

/** Our word for a status of the platform's; one that we don't know can't be sent, so it counts as `disabled`. */
export function statusOf(platformStatus: string): TemplateStatus {
  return KNOWN.get(platformStatus) ?? 'disabled';
}

/** The platform says `NONE` where nothing was rejected. */
export function reasonOf(platformReason: string | null): string | null {
  return platformReason === null || platformReason === '' || platformReason === 'NONE' ? null : platformReason;
}
