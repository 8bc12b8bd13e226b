import type { MessageStatus } from '../message-state/message-state.types.js';

export const TAG_ACTIONS = ['pause', 'resume', 'cancel', 'retry'] as const;
export type TagAction = (typeof TAG_ACTIONS)[number];

/** Failures that a retry without a category leaves out: the caller's and the recipient's own will. */
export const KEPT_FAILURES = ['canceled', 'opted_out'] as const;
/** What is done with a tag at this moment; `active`: nothing; `scheduled`: it waits for its start. */
export const TAG_STATUSES = ['active', 'paused', 'scheduled', 'resuming', 'canceling', 'retrying'] as const;
export type TagStatus = (typeof TAG_STATUSES)[number];

/** A tag of a workspace. */
export interface TagKey {
  organizationId: string;
  tag: string;
}

/** Messages a minute. */
export const MAX_PACE = 60_000;

/** What PUT /tags/{tag} says; what is undefined stays. */
export interface TagPlan {
  paused?: boolean | undefined;
  startAt?: Date | null | undefined;
  messagesPerMinute?: number | null | undefined;
}

/** A row of `message_tag`. */
export interface TagRow {
  tag: string;
  id: string;
  status: TagStatus;
  isPaused: boolean;
  isStarted: boolean;
  createdAt: Date;
  startAt: Date | null;
  messagesPerMinute: number | null;
  /** The last one, and what it did. */
  action: TagAction | null;
  actedAt: Date | null;
  endedAt: Date | null;
  done: number;
  skipped: Record<string, number>;
}

/** A part of a tag's messages: those of one number in one state. */
export interface TagPart {
  connectionId: string;
  status: MessageStatus;
  failureCategory: string | null;
  messages: number;
  /** Of these, those that are to go at a time of their own, and the last such time that was given. */
  scheduled: number;
  lastScheduledFor: Date | null;
  firstAcceptedAt: Date | null;
  lastActivityAt: Date;
}

/** How many messages of a tag stand where. */
export interface TagCounts {
  messages: number;
  counts: Record<string, number>;
  scheduled: number;
  failures: Record<string, number>;
  firstAcceptedAt: Date | null;
  lastActivityAt: Date | null;
}

export interface TagSummary extends TagRow, TagCounts {}
