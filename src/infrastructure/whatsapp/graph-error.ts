import { own, ownId, ownInteger, ownObject, ownText, storableText } from './json-access.js';

/** The platform's error envelope, `{"error": {...}}`, as far as it could be read. */
export interface GraphError {
  readonly code: number | null;
  readonly subcode: number | null;
  /** The platform's own words, details included, of any length; null where it gave none. See `presentable`. */
  readonly message: string | null;
  readonly traceId: string | null;
}

const MAX_PRESENTABLE_LENGTH = 1_000;

/** Reads a parsed body; null when it is no error of the platform's (HTML of a proxy, for one). */
export function readGraphError(body: unknown): GraphError | null {
  const error = ownObject(body, 'error');
  if (error === null) {
    return null;
  }
  const code = ownInteger(error, 'code');
  const message = messageOf(error);
  const traceId = ownId(error, 'fbtrace_id');
  if (code === null && message === null && traceId === null) {
    return null;
  }
  return {
    code,
    subcode: ownInteger(error, 'error_subcode'),
    message,
    traceId: traceId === null ? null : storableText(traceId),
  };
}

/** The general sentence and the particular one: `error_data` is an object or a plain string, or the text is for users. */
function messageOf(error: Record<string, unknown>): string | null {
  const data = own(error, 'error_data');
  const general = ownText(error, 'message');
  const particular =
    ownText(data, 'details') ?? (typeof data === 'string' ? data : null) ?? ownText(error, 'error_user_msg');
  const parts = [general, particular].filter((part): part is string => part !== null && part.trim() !== '');
  return parts.length === 0 ? null : storableText([...new Set(parts)].join(': '));
}

/**
 * The platform's words as they may be kept and shown: at most 1,000 characters, and without the access token, for
 * "Malformed access token ..." repeats what it was given.
 */
export function presentable(text: string, token: string): string {
  const redacted = text.replaceAll(token, '[token]').replaceAll(/\bEAA[A-Za-z0-9]{16,}/g, '[token]');
  // The cut may fall between the halves of a surrogate pair.
  return storableText(redacted.slice(0, MAX_PRESENTABLE_LENGTH));
}
