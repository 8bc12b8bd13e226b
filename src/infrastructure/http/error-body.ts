import { LONGEST_FIELD, MOST_DETAILS, type AppError, type ErrorDetail } from '../../common/app-error.js';
import { clip } from '../../common/clip.js';

export interface ErrorBody {
  error: { code: string; message: string; request_id: string; doc_url: string } & Record<string, unknown>;
}

const LONGEST_MESSAGE = 400;
const LONGEST_TEXT = 1_000;
const MOST_ITEMS = 50;
const LONGEST_ITEM = 200;
/** Six bytes each in JSON, and no text for a reader. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/gu;

/** The body of every error answer. It stays short, whatever of the request or of the platform's answer it repeats. */
export function errorBody(error: AppError, requestId: string, publicUrl: string): ErrorBody {
  return {
    error: {
      code: error.code,
      message: clip(error.message, LONGEST_TEXT),
      request_id: requestId,
      ...boundedExtra(error.extra),
      doc_url: docUrl(publicUrl, error.code),
    },
  };
}

function boundedExtra({ details, ...others }: Record<string, unknown>): Record<string, unknown> {
  const bounded = boundedValue(others) as Record<string, unknown>;
  return details === undefined ? bounded : { ...bounded, details: boundedDetails(details as ErrorDetail[]) };
}

function boundedDetails(details: readonly ErrorDetail[]): ErrorDetail[] {
  return details.slice(0, MOST_DETAILS).map(({ field, rule, message }) => ({
    field: printable(field, LONGEST_FIELD),
    rule: printable(rule, LONGEST_FIELD),
    message: printable(message, LONGEST_MESSAGE),
  }));
}

function printable(text: string, max: number): string {
  return clip(text, max).replace(UNPRINTABLE, '\uFFFD');
}

function boundedValue(value: unknown, longest = LONGEST_TEXT): unknown {
  if (typeof value === 'string') return clip(value, longest);
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => boundedValue(item, LONGEST_ITEM));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, boundedValue(item, longest)]));
}

export function docUrl(publicUrl: string, code: string): string {
  return `${publicUrl}/docs/errors#${code}`;
}
