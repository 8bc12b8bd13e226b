import { accountOf } from '../../infrastructure/whatsapp/account-number.js';
import type { WebhookPayload } from '../../infrastructure/whatsapp/webhook-payload.js';

/** The only person whom a notification names; null for a name that it does not have. */
export interface NotifiedPerson {
  /** In the canonical spelling of its account. */
  readonly number: string | null;
  readonly userId: string | null;
}

/** These types may concern other people, in any form. */
const OF_OTHERS: ReadonlySet<string> = new Set(['system', 'contacts']);

/**
 * The person of a notification that names exactly one, and contains only statuses of messages to them and their own
 * messages. Null: it names several people, or none, or has a part whose people are unknown. An erasure finds the first
 * kind by name, and reads all of the second.
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
