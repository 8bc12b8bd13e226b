import type { Replacement } from '../../infrastructure/whatsapp/webhook-message.js';
import { isUserId } from './contacts/recipient.types.js';
import type { Handover } from './control/owner.types.js';

/** A contact's names in a request, an answer or a notification. */
export interface ContactObservation {
  organizationId: string;
  connectionId: string;
  /** The conversation, where it is known. */
  conversationId?: string | null;
  /** The number as the caller wrote it, digits. */
  phone?: string | null;
  /** WhatsApp's spelling of the number, digits. */
  waId?: string | null;
  userId?: string | null;
  profileName?: string | null;
  /** When the contact wrote, if that opens the window. */
  inboundAt?: Date | null;
  /** A message from the contact to this workspace, other than a reaction: it opens a closed conversation. */
  wrote?: boolean;
  /** When the contact wrote to another app, which owns the conversation. */
  standbyAt?: Date | null;
  /** A report of WhatsApp, or the result of our request, about the owner. */
  handover?: Handover | null;
  /** When the contact had these names. */
  at?: Date | null;
  /** The contact's new names since `at`. */
  replacement?: Replacement | null;
}

/** WhatsApp's names for the contact of a known conversation. */
export interface Adoption {
  conversationId: string;
  waId: string | null;
  userId: string | null;
}

/** Earlier names of a contact, in the form of the API. */
export interface PreviousNames {
  phones: string[];
  user_ids: string[];
}

/** A contact who can no longer be reached under a name, and the new name: digits, a user id, or neither is known. */
export interface ReplacedRecipient {
  conversationId: string;
  phone: string | null;
  userId: string | null;
  previous: PreviousNames;
}

/** In the form of the API. */
export function previousOf(names: readonly string[]): PreviousNames {
  return {
    phones: names.filter((name) => !isUserId(name)),
    user_ids: names.filter((name) => isUserId(name)),
  };
}
