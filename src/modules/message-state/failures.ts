import { classifyPlatformError } from '../../infrastructure/whatsapp/graph-error.js';
import type { Failure, MessageState } from './facts.types.js';
import type { StatusReport } from './message.types.js';

/** The largest value of the column for an attempt's code. */
const MAX_CODE = 2 ** 31 - 1;
/** For statuses in which the API shows no failure: they clear the last one. */
export const NO_FAILURE: Failure = { category: null, code: null, message: null };

export const EXPIRED = {
  category: 'expired',
  code: 'EXPIRED',
  message: 'The message stayed in the queue for too long.',
};
export const CANCELED = {
  category: 'canceled',
  code: 'CANCELED',
  message: 'The message was canceled before it was sent.',
};
export const ERASED = {
  category: 'unknown',
  code: 'ERASED',
  message: 'What is known of the recipient was erased before the message was sent.',
};
export const RESTORED = {
  category: null,
  code: 'RESTORED',
  message: 'The database was restored from a backup; whether the message was sent before is not known.',
};

/** The reason that WhatsApp gave for a failure. */
export interface ReportedFailure {
  category: string;
  code: number | null;
  message: string | null;
}

export function reportedFailure({ error }: StatusReport): ReportedFailure {
  const given = error?.code ?? null;
  const code = given !== null && Math.abs(given) <= MAX_CODE ? given : null;
  return {
    category: code === null ? 'unknown' : classifyPlatformError(code).category,
    code,
    message: error?.details ?? error?.title ?? null,
  };
}

export function failureColumns({ category, code, message }: Failure): Partial<MessageState> {
  return { failureCategory: category, errorCode: code, errorMessage: message };
}

export function textOf(code: number | null): string | null {
  return code === null ? null : String(code);
}
