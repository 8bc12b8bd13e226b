import type { SchemaChecks } from './schema-check.js';
import type { Call } from './caller.js';
import type { Operation } from './description.js';
import type { Request } from './request.js';

/** The expected outcome of a mutated request; null: anything documented, since the mutation may be valid. */
export interface Refusal {
  statuses: readonly number[];
  codes: readonly string[];
}

export interface Bent {
  call: Call;
  refusal: Refusal | null;
  /** Refused before it is known what is asked: nothing is said of a limit. */
  unrouted?: boolean;
}

export interface Mutation {
  kind: string;
  applies: (operation: Operation) => boolean;
  /** How many requests, as a multiple of the others: of what has many variants. */
  share?: number;
  /** The request may succeed, and use up what it names. */
  mayPass?: boolean;
  /** @param place and variant choose what is bent, and how; null where there is nothing of that kind to bend. */
  bend: (request: Request, choice: { place: number; variant: number }, checks: SchemaChecks) => Bent | null;
}

/** The caller's violation, and none of the state: only these show that it was seen. */
export const FAULTY: Refusal = {
  statuses: [400, 413, 415, 422],
  codes: [
    'INVALID_REQUEST',
    'VALIDATION_FAILED',
    'BATCH_REFUSED',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_CONTENT_TYPE',
    'OTP_RECIPIENT_INVALID',
    'WEBHOOK_URL_NOT_ALLOWED',
    'MEDIA_TYPE_NOT_SUPPORTED',
  ],
};

export const only = (status: number, ...codes: string[]): Refusal => ({ statuses: [status], codes });

export const chosen = <T>(list: readonly T[], choice: number): T => list[choice % list.length] as T;
