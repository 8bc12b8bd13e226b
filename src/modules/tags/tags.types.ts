import type { MessageStatus } from '../message-state/message-state.types.js';

export const TAG_ACTIONS = ['pause', 'resume', 'cancel', 'retry'] as const;
export type TagAction = (typeof TAG_ACTIONS)[number];

/** Failures that a retry without a category leaves out, because the caller or the recipient wanted them. */
export const KEPT_FAILURES = ['canceled', 'opted_out'] as const;
/** What is happening to a tag now; `active`: nothing; `scheduled`: it waits for its start. */
export const TAG_STATUSES = ['active', 'paused', 'scheduled', 'resuming', 'canceling', 'retrying'] as const;
export type TagStatus = (typeof TAG_STATUSES)[number];

/** A tag of a workspace. */
export interface TagKey {
  organizationId: string;
  tag: string;
}

/** Messages a minute. */
export const MAX_PACE = 60_000;

/** The body of PUT /tags/{tag}; undefined fields stay unchanged. */
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
  /** The last action, and its results. */
  action: TagAction | null;
  actedAt: Date | null;
  endedAt: Date | null;
  done: number;
  skipped: Record<string, number>;
}

/** A tag's messages on one number in one state. */
export interface TagPart {
  connectionId: string;
  status: MessageStatus;
  failureCategory: string | null;
  messages: number;
  /** Of these, the scheduled ones, and the latest of their times. */
  scheduled: number;
  lastScheduledFor: Date | null;
  firstAcceptedAt: Date | null;
  lastActivityAt: Date;
}

/** How many messages of a tag are in each state. */
export interface TagCounts {
  messages: number;
  counts: Record<string, number>;
  scheduled: number;
  failures: Record<string, number>;
  firstAcceptedAt: Date | null;
  lastActivityAt: Date | null;
}

export interface TagSummary extends TagRow, TagCounts {}
