import { accountOf } from '../../infrastructure/whatsapp/account-number.js';
import type { WebhookPayload } from '../../infrastructure/whatsapp/webhook-payload.js';

/** The one person whom a notification names; null: it does not name them so. */
export interface NotifiedPerson {
  /** In the one spelling of its account. */
  readonly number: string | null;
  readonly userId: string | null;
}

/** They may be about other people, in any form. */
const OF_OTHERS: ReadonlySet<string> = new Set(['system', 'contacts']);

/**
 * The person of a notification that names one, and says nothing but statuses of messages to them and what they wrote. Null: it
 * names several, or no one, or has a part of which that is not known. An erasure finds the first by their names, and
 * reads all of the second.
 */
export function personOf({ statuses, inbound, named, ...others }: WebhookPayload): NotifiedPerson | null {
  if (statuses.length + inbound.length === 0 || Object.values(others).some((parts) => parts.length > 0)) return null;
  if (inbound.some(({ type, context }) => OF_OTHERS.has(type) || context.group_id !== undefined)) return null;
  const [numbers, userIds] = [new Set<string>(), new Set<string>()];
  for (const name of new Set(named)) {
    if (/^\+?\d+$/.test(name)) numbers.add(accountOf(name.replace('+', '')));
    else userIds.add(name);
  }
  if (numbers.size > 1 || userIds.size > 1 || numbers.size + userIds.size === 0) return null;
  const [[number = null], [userId = null]] = [[...numbers], [...userIds]];
  return { number, userId };
}
