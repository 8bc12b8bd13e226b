/**
 * What Herald knows about one attempt: a row of `message_attempt`, or an attempt in flight without a row yet. Times are
 * microseconds since the epoch.
 */
export interface AttemptFacts {
  readonly id: string;
  readonly number: number;
  readonly startedAt: number;
  /** WhatsApp's response, or `unknown` where none came; null: no outcome yet. */
  readonly answer: Answer | null;
  readonly answeredAt: number | null;
  readonly httpStatus: number | null;
  readonly code: number | null;
  readonly text: string | null;
  readonly category: string | null;
  readonly traceId: string | null;
  readonly leaseEndedAt: number | null;
  /** When a report first showed that WhatsApp accepted the attempt; null where the response says so already. */
  readonly takenAt: number | null;
  /** When the last report of a failure came. */
  readonly failedAt: number | null;
  readonly failedCode: number | null;
  readonly failedText: string | null;
  readonly failedCategory: string | null;
  /** Since when another attempt counts instead, or is awaited; null: this one counts. */
  readonly replacedAt: number | null;
  readonly metaMessageId: string | null;
}

export type Answer = 'accepted' | 'rejected' | 'deferred' | 'unknown';

/** A later answer replaces one of a lower rank, so an answer never reverses what WhatsApp decided. */
const RANK: Readonly<Record<Answer, number>> = { unknown: 1, deferred: 2, accepted: 3, rejected: 3 };

export function replacesAnswer(known: Answer | null, answer: Answer): boolean {
  return known === null || RANK[answer] > RANK[known];
}

/** WhatsApp accepted the attempt, by its response or by a report. A later report of a failure does not change this. */
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

/** The attempt was accepted and has not failed, so its message needs no other attempt. */
export function isProof(attempt: AttemptFacts): boolean {
  return isAccepted(attempt) && !hasFailed(attempt);
}

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
