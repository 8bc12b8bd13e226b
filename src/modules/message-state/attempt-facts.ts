/** What is known of one attempt: a row of `message_attempt`, or an attempt in flight of which nothing is known yet. Times are microseconds since the epoch. */
export interface AttemptFacts {
  readonly id: string;
  readonly number: number;
  readonly startedAt: number;
  /** What WhatsApp's response said, or that none came. */
  readonly answer: Answer | null;
  readonly answeredAt: number | null;
  readonly httpStatus: number | null;
  readonly code: number | null;
  readonly text: string | null;
  readonly category: string | null;
  readonly traceId: string | null;
  readonly leaseEndedAt: number | null;
  /** A report says that WhatsApp accepted it; not noted where the response says so. */
  readonly takenAt: number | null;
  /** Of the last report that it failed. */
  readonly failedAt: number | null;
  readonly failedCode: number | null;
  readonly failedText: string | null;
  readonly failedCategory: string | null;
  /** Since when another attempt counts, or is waited for; null: this one does. */
  readonly replacedAt: number | null;
  readonly metaMessageId: string | null;
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

/** WhatsApp refused it, or said "not now". */
export function isKnownUnsent(attempt: AttemptFacts): boolean {
  return (attempt.answer === 'rejected' || attempt.answer === 'deferred') && !isAccepted(attempt);
}

/** The attempt was accepted and has not failed: no other one of its message is needed. */
export function isProof(attempt: AttemptFacts): boolean {
  return isAccepted(attempt) && !hasFailed(attempt);
}

/** An attempt of which nothing is known yet. */
export function newAttempt(id: string, number: number, startedAt: number): AttemptFacts {
  return {
    id,
    number,
    startedAt,
    answer: null,
    answeredAt: null,
    httpStatus: null,
    code: null,
    text: null,
    category: null,
    traceId: null,
    leaseEndedAt: null,
    takenAt: null,
    failedAt: null,
    failedCode: null,
    failedText: null,
    failedCategory: null,
    replacedAt: null,
    metaMessageId: null,
  };
}
