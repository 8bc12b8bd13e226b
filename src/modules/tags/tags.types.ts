import type { MessageStatus } from '../message-state/message-state.types.js';

export const TAG_ACTIONS = ['pause', 'resume', 'cancel', 'retry'] as const;
export type TagAction = (typeof TAG_ACTIONS)[number];

/** What is done with a tag at this moment; `active`: nothing. */
export const TAG_STATUSES = ['active', 'paused', 'resuming', 'canceling', 'retrying'] as const;
export type TagStatus = (typeof TAG_STATUSES)[number];

/** A tag of a workspace. */
export interface TagKey {
  organizationId: string;
  tag: string;
}

/** A part of a tag's messages: those of one number in one state. */
export interface TagPart {
  connectionId: string;
  status: MessageStatus;
  failureCategory: string | null;
  messages: number;
  /** Of these, those that are to go at a time of their own, and the last such time. */
  scheduled: number;
  lastScheduledFor: Date | null;
  firstAcceptedAt: Date;
  lastActivityAt: Date;
}

export interface TagSummary {
  tag: string;
  status: TagStatus;
  messages: number;
  counts: Record<string, number>;
  scheduled: number;
  failures: Record<string, number>;
  firstAcceptedAt: Date;
  lastActivityAt: Date;
  estimatedEndAt: Date | null;
  isComplete: boolean;
}
