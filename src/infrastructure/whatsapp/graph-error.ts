import type { FailureCategory } from '../../common/failure-category.js';
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
  if (error === null) return null;
  const code = ownInteger(error, 'code');
  const message = messageOf(error);
  const traceId = ownId(error, 'fbtrace_id');
  if (code === null && message === null && traceId === null) return null;
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

/**
 * What a refusal asks of the sender: end this message (`fail`), rest the whole number (`pause_lane`), rest one
 * recipient (`defer_recipient`), try this message later (`defer`); `unknown` refuses nothing, it may have been sent.
 */
export type PlatformAction = 'fail' | 'pause_lane' | 'defer_recipient' | 'defer' | 'unknown';

export interface PlatformErrorClass {
  readonly category: FailureCategory;
  readonly action: PlatformAction;
}

interface Row extends PlatformErrorClass {
  /** One code, or the first and last of a range. A row of one code wins over a range. */
  readonly code: number | readonly [first: number, last: number];
  /** Only with this subcode. */
  readonly subcode?: number;
}

function fail(category: FailureCategory, ...codes: Row['code'][]): Row[] {
  return codes.map((code) => ({ code, category, action: 'fail' }));
}

function pauseLane(category: FailureCategory, ...codes: Row['code'][]): Row[] {
  return codes.map((code) => ({ code, category, action: 'pause_lane' }));
}

/** The platform's error codes. HTTP statuses differ from copy to copy of its manual; the code is what counts. */
const ROWS: readonly Row[] = [
  // The account or the number: no message of it can go, so none is used up.
  ...pauseLane('authentication', 0, 10, 190, 200),
  ...pauseLane('rate_limited', 4, 80007, 130429),
  ...pauseLane('account_restricted', 368, 131031, 131042),
  ...pauseLane('sender_not_ready', 131045, 133010),

  // For now only.
  { code: 131056, category: 'rate_limited', action: 'defer_recipient' },
  { code: 131057, category: 'platform_unavailable', action: 'defer' },
  { code: 133004, category: 'platform_unavailable', action: 'defer' },

  // The platform's own trouble: messages were seen to arrive after these answers.
  { code: 1, category: 'unknown', action: 'unknown' },
  { code: 2, category: 'platform_unavailable', action: 'unknown' },
  { code: 131000, category: 'unknown', action: 'unknown' },
  { code: 131016, category: 'platform_unavailable', action: 'unknown' },

  ...fail('authentication', 3, [201, 299], 131005),
  ...fail('rate_limited', 613, 80008, 138013),

  // The sender: 33 is a phone number id that is gone or out of the token's reach.
  ...fail('sender_not_ready', 33, 803, 131037, [133000, 133999]),
  { code: 100, subcode: 33, category: 'sender_not_ready', action: 'fail' },
  ...fail('account_restricted', 130497, 131048, 131063, 131064, 134011),

  // The recipient. 131021 is the sender's own number, 131030 one that is not on a test number's list, 131062 a
  // user id where only a number will do, 137000 a changed identity; the rest are groups.
  ...fail('invalid_recipient', 131020, 131021, 131030, 131041, 131062, [131200, 131299], 137000),
  ...fail('recipient_unreachable', 130403, 131026),
  ...fail('recipient_limit', 130472, 131049, 131050),
  ...fail('service_window_closed', 131047),

  // The content.
  ...fail('invalid_content', 100, 131008, 131009, 131051, 131055, 131059, 135000),
  ...fail('media_error', 131052, 131053),
  ...fail('invalid_content', 132000, 132005, 132008, 132012, 132018, 134100, 134103),
  ...fail('template_unavailable', [132000, 132999], 134101),
  ...fail('platform_unavailable', 134102),
];

const UNLISTED: PlatformErrorClass = { category: 'unknown', action: 'fail' };

const byCode = new Map<string, PlatformErrorClass>();
const ranges: { first: number; last: number; row: PlatformErrorClass }[] = [];
for (const { code, subcode, category, action } of ROWS) {
  const row: PlatformErrorClass = Object.freeze({ category, action });
  if (typeof code !== 'number') {
    ranges.push({ first: code[0], last: code[1], row });
    continue;
  }
  const key = keyOf(code, subcode);
  if (byCode.has(key)) {
    throw new Error(`platform error ${key} stands in the table twice`);
  }
  byCode.set(key, row);
}

function keyOf(code: number, subcode: number | null | undefined): string {
  return subcode === null || subcode === undefined ? String(code) : `${code}/${subcode}`;
}

/** The table's row for a code, with its subcode where that says more; null for a code that it does not list. */
export function findPlatformError(code: number, subcode?: number | null): PlatformErrorClass | null {
  return (
    byCode.get(keyOf(code, subcode)) ??
    byCode.get(keyOf(code, null)) ??
    ranges.find(({ first, last }) => code >= first && code <= last)?.row ??
    null
  );
}

/** As `findPlatformError`, and for an unlisted code a plain failure: an answer that names a code has refused the message. */
export function classifyPlatformError(code: number, subcode?: number | null): PlatformErrorClass {
  return findPlatformError(code, subcode) ?? UNLISTED;
}
