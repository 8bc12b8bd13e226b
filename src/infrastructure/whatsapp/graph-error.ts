import { storableText } from '../../common/json.js';
import { FAILURE_MEANINGS, type FailureCategory, type FailureMeaning } from '../../common/failure-category.js';
import { own, ownId, ownInteger, ownObject, ownText } from './json-access.js';

/** Endpoints that accept messages; `marketing_messages` accepts marketing templates only. */
export const ENDPOINTS = ['messages', 'marketing_messages'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** WhatsApp's error envelope, `{"error": {...}}`, as far as it could be read. */
export interface GraphError {
  readonly code: number | null;
  readonly subcode: number | null;
  /** WhatsApp's text, including details, of any length; null where there is none. See `presentable`. */
  readonly message: string | null;
  readonly traceId: string | null;
}

const MAX_PRESENTABLE_LENGTH = 1_000;

/** Reads a parsed body; null when it is not an error of WhatsApp (HTML of a proxy, for example). */
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

/** The general and the specific sentence: `error_data` is an object or plain text, or there is a text for users. */
function messageOf(error: Record<string, unknown>): string | null {
  const data = own(error, 'error_data');
  const general = ownText(error, 'message');
  const particular =
    ownText(data, 'details') ?? (typeof data === 'string' ? data : null) ?? ownText(error, 'error_user_msg');
  const parts = [general, particular].filter((part): part is string => part !== null && part.trim() !== '');
  return parts.length === 0 ? null : storableText([...new Set(parts)].join(': '));
}

/**
 * WhatsApp's text as it may be stored and shown: at most 1,000 characters, and without the access token, which
 * "Malformed access token ..." repeats.
 */
export function presentable(text: string, token: string): string {
  const redacted = text.replaceAll(token, '[token]').replaceAll(/\bEAA[A-Za-z0-9]{16,}/g, '[token]');
  // The cut may split a surrogate pair.
  return storableText(redacted.slice(0, MAX_PRESENTABLE_LENGTH));
}

/**
 * What the sender must do after a refusal: end this message (`fail`), pause the whole number (`pause_lane`), pause one
 * recipient (`defer_recipient`), or retry this message later (`defer`). `unknown` is not a refusal: the message may
 * have been sent.
 */
export type PlatformAction = 'fail' | 'pause_lane' | 'defer_recipient' | 'defer' | 'unknown';

export interface PlatformErrorClass {
  readonly category: FailureCategory;
  readonly action: PlatformAction;
}

/** Single codes, and ranges with their first and last code; a single code takes precedence. */
type Codes = readonly (number | readonly [first: number, last: number])[];

/** WhatsApp's error codes. HTTP statuses differ between versions of its manual, so the code decides. */
const CODES: Readonly<Record<PlatformAction, Partial<Record<FailureCategory, Codes>>>> = {
  // The account or the number cannot send at all, so no message should use up its tries.
  pause_lane: {
    authentication: [0, 10, 190, 200],
    rate_limited: [4, 80007, 130429],
    account_restricted: [368, 131031, 131042, 131048],
    sender_not_ready: [131045, 133010],
  },
  // For now only.
  defer_recipient: { rate_limited: [131056] },
  // 134101: WhatsApp is still preparing the template, for ten minutes at most.
  defer: { platform_unavailable: [131057, 133004], template_unavailable: [134101] },
  // WhatsApp's own failures: messages were seen to arrive after these answers.
  unknown: { unknown: [1, 131000], platform_unavailable: [2, 131016] },
  fail: {
    authentication: [3, [201, 299], 131005],
    rate_limited: [613, 80008, 138013],
    // 33: a phone number id that is gone or outside the token's reach.
    sender_not_ready: [33, 803, 131037, [133000, 133999]],
    account_restricted: [130497, 131063, 131064, 134011],
    not_conversation_owner: [131070],
    // 131062: a user id where only a number is allowed; those without a summary below concern groups.
    invalid_recipient: [131020, 131021, 131030, 131041, 131062, [131200, 131299], 137000],
    recipient_unreachable: [130403, 131026],
    recipient_limit: [130472, 131049],
    opted_out: [131050],
    service_window_closed: [131047],
    invalid_content: [
      100, 131008, 131009, 131051, 131055, 131059, 131065, 132000, 132005, 132008, 132012, 132018, 134100, 134103,
      135000,
    ],
    media_error: [131052, 131053],
    template_unavailable: [131061, [132000, 132999], 134102],
  },
};

const MAY_BE_OUT = 'WhatsApp had an error of its own; messages were seen to arrive after this answer.';

/** The meaning of a code, where it says more than its category. */
const SUMMARIES: Readonly<Record<number, string>> = {
  1: MAY_BE_OUT,
  2: MAY_BE_OUT,
  190: 'The access token has expired or was revoked.',
  130429: 'The number sent more messages a second than WhatsApp allows it. Herald slows down and tries again.',
  130472: 'The recipient is part of an experiment of WhatsApp, and gets no marketing messages meanwhile.',
  130497: 'The account may not write to people in this country.',
  131000: MAY_BE_OUT,
  131005: 'The access token lacks the right to send, or the number is not in its reach.',
  131016: MAY_BE_OUT,
  131021: 'The recipient is the sending number itself.',
  131030: 'The sending number is a test number, and the recipient is not on its list of allowed numbers.',
  131031: 'WhatsApp has locked the business account, for a violation of its policy or a failed verification.',
  131042: 'The WhatsApp Business account has no valid payment method. Add or repair it in WhatsApp Manager.',
  131045: "The number's certificate is not valid: it must be registered again.",
  131048: "Too many of the number's messages were blocked or reported as spam, so WhatsApp limits what it sends.",
  131052: 'WhatsApp could not download the file.',
  131053: 'WhatsApp could not take the file: its kind, size or encoding is not what it allows.',
  131055: "WhatsApp's endpoint of marketing messages takes marketing templates only, and this is none any more.",
  131056: 'Too many messages went from this number to this one recipient in a short time.',
  131057: 'WhatsApp is doing maintenance on the account.',
  131061:
    "The template has a maximum price, and goes by WhatsApp's endpoint of marketing messages only. Herald tries that once, unless the number's marketing_route is messages.",
  131062: 'This message needs a phone number; a user id is not enough.',
  131063:
    "The account sends marketing templates by WhatsApp's endpoint of marketing messages only. Herald tries that once, unless the number's marketing_route is messages.",
  131065: "The template has a maximum price, which WhatsApp does not offer in the recipient's country.",
  132000: 'The number of values is not the number of variables in the template.',
  132005: 'The template with these values is too long.',
  132012: 'A value is not of the kind that the template expects.',
  134101: 'WhatsApp was still making the template ready. Herald waited and tried again until its tries were used up.',
  134102:
    'The template cannot be used for marketing messages. Check the onboarding of the account in WhatsApp Manager.',
  133010: 'The sending number is not registered with WhatsApp.',
  137000: "The recipient's identity has changed since you confirmed it.",
};

/** Other facts that differ from the category's. */
const EXCEPTIONS: Readonly<Record<number, Partial<FailureMeaning>>> = {
  130472: { retryAfterMinutes: null },
  130497: { responsible: 'you' },
  134101: { responsible: 'whatsapp', retryAfterMinutes: 10 },
  134102: { responsible: 'operator' },
};

const UNLISTED: PlatformErrorClass = { category: 'unknown', action: 'fail' };

const byCode = new Map<number, PlatformErrorClass>();
const ranges: { first: number; last: number; row: PlatformErrorClass }[] = [];
for (const [action, categories] of Object.entries(CODES)) {
  for (const [category, codes] of Object.entries(categories)) {
    const row = Object.freeze({ category, action }) as PlatformErrorClass;
    for (const code of codes) {
      if (typeof code !== 'number') ranges.push({ first: code[0], last: code[1], row });
      else if (byCode.has(code)) throw new Error(`platform error ${code} stands in the table twice`);
      else byCode.set(code, row);
    }
  }
}

/** The table's row for a code, with its subcode where that matters; null for an unlisted code. */
export function findPlatformError(code: number, subcode?: number | null): PlatformErrorClass | null {
  // An invalid parameter, here the phone number's id.
  if (code === 100 && subcode === 33) return findPlatformError(33);
  return byCode.get(code) ?? ranges.find(({ first, last }) => code >= first && code <= last)?.row ?? null;
}

/** Like `findPlatformError`, but an unlisted code is a plain failure: an answer with a code has refused the message. */
export function classifyPlatformError(code: number, subcode?: number | null): PlatformErrorClass {
  return findPlatformError(code, subcode) ?? UNLISTED;
}

/**
 * Codes that, in a report about an accepted message, mean that every next one of the number will fail too: the number
 * pauses, like after the same answer to a send.
 */
const RESTS_NUMBER: ReadonlySet<number> = new Set([131042, 131048]);

export function restsNumber(code: number | null): boolean {
  return code !== null && RESTS_NUMBER.has(code);
}

/** Refusals that mean that the other endpoint accepts the message: nothing was sent. */
const OTHER_ENDPOINT: Readonly<Record<Endpoint, ReadonlySet<number | null>>> = {
  messages: new Set([131061, 131063]),
  marketing_messages: new Set([131055, 134100]),
};

export function otherEndpoint(endpoint: Endpoint, code: number | null): Endpoint | null {
  if (!OTHER_ENDPOINT[endpoint].has(code)) return null;
  return endpoint === 'messages' ? 'marketing_messages' : 'messages';
}

/** The template cannot be used for marketing messages, for example because the account is not onboarded. */
export const MARKETING_UNUSABLE = 134102;

/** The account has no valid payment method. */
export const PAYMENT_MISSING = 131042;

/** The meaning of a failure in plain words, by its category, or by WhatsApp's code where that says more. */
export function meaningOf(category: FailureCategory, code: number | null): FailureMeaning {
  const general = FAILURE_MEANINGS[category];
  if (code === null || findPlatformError(code)?.category !== category) return general;
  return { ...general, summary: SUMMARIES[code] ?? general.summary, ...EXCEPTIONS[code] };
}
