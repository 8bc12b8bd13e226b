import type { ClaimedMessage } from './claim/claim.repository.js';

/** Why a queued message has not left yet. */
export const WAITING_REASONS = [
  'scheduled',
  'tag_paused',
  'tag_pace',
  'earlier_message_to_recipient',
  'number_pace',
  'pair_limit',
  'number_paused',
  'retry',
  'number_disconnected',
  'due',
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

/** Limit of the messages of a number that are counted, and so of `ahead`. */
export const MAX_AHEAD = 10_000;

/** Where a message stands in its number's queue. */
export interface QueueEstimate {
  /** Messages of the number that leave before it, as far as is known now; `MAX_AHEAD` means that many or more. */
  ahead: number;
  /** Null where it is unknown: nothing can be sent now, or more messages wait than are counted. */
  estimatedSendAt: Date | null;
}

export interface Waiting extends QueueEstimate {
  reason: WaitingReason;
  /** When the reason ends, where that is known. */
  until: Date | null;
  /** When the message fails as expired if it has not left. */
  expiresAt: Date;
  /** With `number_paused`: the failure category and code of WhatsApp's answer; null where all claims are blocked. */
  pauseReason: string | null;
}

/** A message that is not queued yet; `recipient` is digits, or the user id. */
export type NewInQueue = Pick<
  ClaimedMessage,
  'organizationId' | 'connectionId' | 'recipient' | 'recipientUserId' | 'conversationId'
>;
