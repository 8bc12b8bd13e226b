import { FAILURE_MEANINGS, type FailureCategory, type FailureMeaning } from '../../common/failure-category.js';
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

/** One code, or the first and last of a range. A row of one code wins over a range. */
type Codes = number | readonly [first: number, last: number];
/** Where it means more than its category does. */
type Meant = Partial<FailureMeaning>;

interface Row extends PlatformErrorClass {
  readonly code: Codes;
  /** Only with this subcode. */
  readonly subcode?: number;
  readonly meant?: Meant;
}

/** A code with what it means in plain words. */
interface Explained {
  readonly code: number;
  readonly meant: Meant;
}

const says = (code: number, summary: string, change: Omit<Meant, 'summary'> = {}): Explained => ({
  code,
  meant: { summary, ...change },
});

function rows(action: PlatformAction, category: FailureCategory, codes: readonly (Codes | Explained)[]): Row[] {
  return codes.map((each) =>
    typeof each === 'object' && 'meant' in each ? { ...each, category, action } : { code: each, category, action },
  );
}

const fail = (category: FailureCategory, ...codes: (Codes | Explained)[]): Row[] => rows('fail', category, codes);
const pauseLane = (category: FailureCategory, ...codes: (Codes | Explained)[]): Row[] =>
  rows('pause_lane', category, codes);

const MAY_BE_OUT = 'WhatsApp had an error of its own; messages were seen to arrive after this answer.';

/** The platform's error codes. HTTP statuses differ from copy to copy of its manual; the code is what counts. */
const ROWS: readonly Row[] = [
  // The account or the number: no message of it can go, so none is used up.
  ...pauseLane('authentication', 0, 10, says(190, 'The access token has expired or was revoked.'), 200),
  ...pauseLane(
    'rate_limited',
    4,
    80007,
    says(130429, 'The number sent more messages a second than WhatsApp allows it. Herald slows down and tries again.'),
  ),
  ...pauseLane(
    'account_restricted',
    368,
    says(131031, 'WhatsApp has locked the business account, for a violation of its policy or a failed verification.'),
    says(131042, 'The WhatsApp Business account has no valid way to pay. Add or repair it in WhatsApp Manager.'),
  ),
  ...pauseLane(
    'sender_not_ready',
    says(131045, "The number's certificate is not valid: it must be registered again."),
    says(133010, 'The sending number is not registered with WhatsApp.'),
  ),

  // For now only.
  {
    code: 131056,
    category: 'rate_limited',
    action: 'defer_recipient',
    meant: { summary: 'Too many messages went from this number to this one recipient in a short time.' },
  },
  {
    code: 131057,
    category: 'platform_unavailable',
    action: 'defer',
    meant: { summary: 'WhatsApp is doing maintenance on the account.' },
  },
  { code: 133004, category: 'platform_unavailable', action: 'defer' },

  // The platform's own trouble: messages were seen to arrive after these answers.
  ...rows('unknown', 'unknown', [says(1, MAY_BE_OUT), says(131000, MAY_BE_OUT)]),
  ...rows('unknown', 'platform_unavailable', [says(2, MAY_BE_OUT), says(131016, MAY_BE_OUT)]),

  ...fail(
    'authentication',
    3,
    [201, 299],
    says(131005, 'The access token lacks the right to send, or the number is not in its reach.'),
  ),
  ...fail('rate_limited', 613, 80008, 138013),

  // The sender: 33 is a phone number id that is gone or out of the token's reach.
  ...fail('sender_not_ready', 33, 803, 131037, [133000, 133999]),
  { code: 100, subcode: 33, category: 'sender_not_ready', action: 'fail' },
  ...fail(
    'account_restricted',
    says(130497, 'The account may not write to people in this country.', { responsible: 'you' }),
    says(
      131048,
      "Too many of the number's messages were blocked or reported as spam, so WhatsApp limits what it sends.",
    ),
    131063,
    131064,
    134011,
  ),

  // The recipient. 131062 is a user id where only a number will do; the rest of the unexplained are groups.
  ...fail(
    'invalid_recipient',
    131020,
    says(131021, 'The recipient is the sending number itself.'),
    says(131030, 'The sending number is a test number, and the recipient is not on its list of allowed numbers.'),
    131041,
    says(131062, 'This message needs a phone number; a user id is not enough.'),
    [131200, 131299],
    says(137000, "The recipient's identity has changed since you confirmed it."),
  ),
  ...fail('recipient_unreachable', 130403, 131026),
  ...fail(
    'recipient_limit',
    says(130472, 'The recipient is part of an experiment of WhatsApp, and gets no marketing messages meanwhile.', {
      retryAfterMinutes: null,
    }),
    131049,
    says(131050, 'The recipient has chosen to get no marketing messages from you.', {
      responsible: 'recipient',
      retryAfterMinutes: null,
    }),
  ),
  ...fail('service_window_closed', 131047),

  // The content.
  ...fail('invalid_content', 100, 131008, 131009, 131051, 131055, 131059, 135000),
  ...fail(
    'media_error',
    says(131052, 'WhatsApp could not download the file.'),
    says(131053, 'WhatsApp could not take the file: its kind, size or encoding is not what it allows.'),
  ),
  ...fail(
    'invalid_content',
    says(132000, 'The number of values is not the number of variables in the template.'),
    says(132005, 'The template with these values is too long.'),
    132008,
    says(132012, 'A value is not of the kind that the template expects.'),
    132018,
    134100,
    134103,
  ),
  ...fail('template_unavailable', [132000, 132999], 134101),
  ...fail('platform_unavailable', 134102),
];

const UNLISTED: PlatformErrorClass = { category: 'unknown', action: 'fail' };

const byCode = new Map<string, PlatformErrorClass>();
const ranges: { first: number; last: number; row: PlatformErrorClass }[] = [];
const meanings = new Map<PlatformErrorClass, Meant>();
for (const { code, subcode, category, action, meant } of ROWS) {
  const row: PlatformErrorClass = Object.freeze({ category, action });
  if (meant !== undefined) meanings.set(row, meant);
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

/** What a failure means in plain words, by its category, and by the platform's code where that says more. */
export function meaningOf(category: FailureCategory, code: number | null): FailureMeaning {
  const row = code === null ? null : findPlatformError(code);
  return { ...FAILURE_MEANINGS[category], ...(row?.category === category ? meanings.get(row) : undefined) };
}
