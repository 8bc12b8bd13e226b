/** What is known of one attempt: a row of `message_attempt`, or an attempt in flight of which nothing is known yet. Times are microseconds since the epoch. */
export interface AttemptFacts {
  id: string;
  number: number;
  startedAt: number;
  /** What WhatsApp's response said, or that none came. */
  answer: Answer | null;
  answeredAt: number | null;
  httpStatus: number | null;
  code: number | null;
  text: string | null;
  category: string | null;
  traceId: string | null;
  leaseEndedAt: number | null;
  /** A report says that WhatsApp accepted it; not noted where the response says so. */
  takenAt: number | null;
  /** Of the last report that it failed. */
  failedAt: number | null;
  failedCode: number | null;
  failedText: string | null;
  failedCategory: string | null;
  /** Since when another attempt counts, or is waited for; null: this one does. */
  replacedAt: number | null;
  metaMessageId: string | null;
}

export type Answer = 'accepted' | 'rejected' | 'deferred' | 'unknown';

/** A later answer replaces one of a lower rank: none is the reverse of what WhatsApp decided. */
const RANK: Readonly<Record<Answer, number>> = { unknown: 1, deferred: 2, accepted: 3, rejected: 3 };

export function replacesAnswer(known: Answer | null, answer: Answer): boolean {
  return known === null || RANK[answer] > RANK[known];
}

/** WhatsApp accepted it, by its response or by a report, whatever was reported later. */
export function isAccepted({ answer, takenAt }: AttemptFacts): boolean {
  return answer === 'accepted' || takenAt !== null;
}

/** WhatsApp refused it, or reported that it failed. */
export function hasFailed({ answer, failedAt }: AttemptFacts): boolean {
  return answer === 'rejected' || failedAt !== null;
}
