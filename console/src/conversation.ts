import type { MessageRow, Schemas } from './api.ts';
import { bubbleOfRow } from './bubble.tsx';
import { plusNumber } from './parts.tsx';

export type Conversation = Schemas['ConversationResponse'];

export const nameOf = ({ contact }: Conversation): string => contact.name ?? numberOf(contact);

export const numberOf = ({ phone, user_id: id }: Conversation['contact']): string =>
  phone === null ? (id ?? 'unknown') : plusNumber(phone);

/** Milliseconds until only templates may be sent; 0 where that is so already. */
export function windowLeft({ service_window_closes_at: at }: Conversation, now: number): number {
  return at === null ? 0 : Math.max(Date.parse(at) - now, 0);
}

/** A message in a few words, as it stands by now. */
export function excerptOf(row: MessageRow): string {
  const { body, mark } = bubbleOfRow(row);
  return body ?? mark ?? row.type;
}
