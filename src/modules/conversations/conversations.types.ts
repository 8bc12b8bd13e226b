import type { Replacement } from '../../infrastructure/whatsapp/webhook-message.js';
import { isUserId } from './contacts/recipient.types.js';
import type { Handover } from './control/owner.types.js';

/** One contact as a caller, an answer or a notification named it. */
export interface ContactObservation {
  organizationId: string;
  connectionId: string;
  /** The conversation that is meant, where it is known. */
  conversationId?: string | null;
  /** The number as a caller gave it, digits. */
  phone?: string | null;
  /** The platform's spelling of the number, digits. */
  waId?: string | null;
  userId?: string | null;
  profileName?: string | null;
  /** When the contact wrote, where that opens the window. */
  inboundAt?: Date | null;
  /** It is a message of the contact to this workspace, and no reaction: a closed conversation opens. */
  wrote?: boolean;
  /** When the contact wrote to another app, which owns the conversation. */
  standbyAt?: Date | null;
  /** What the platform, or a call of ours, said of the owner. */
  handover?: Handover | null;
  /** When the contact had these names. */
  at?: Date | null;
  /** What the contact is named instead since `at`. */
  replacement?: Replacement | null;
}

/** How the platform names the contact of a known conversation. */
export interface Adoption {
  conversationId: string;
  waId: string | null;
  userId: string | null;
}

/** Names that a contact had before, as callers see them. */
export interface PreviousNames {
  phones: string[];
  user_ids: string[];
}

/** A contact who is not reached under a name any more, and how instead: digits, a user id, or neither is known. */
export interface ReplacedRecipient {
  conversationId: string;
  phone: string | null;
  userId: string | null;
  previous: PreviousNames;
}

/** What has the words of callers. */
export function previousOf(names: readonly string[]): PreviousNames {
  return {
    phones: names.filter((name) => !isUserId(name)),
    user_ids: names.filter((name) => isUserId(name)),
  };
}
