import { storableText } from '../../common/json.js';
import type { FailureCategory } from '../../common/failure-category.js';
import { parseRetryAfter } from '../../common/retry-after.js';
import { brokenReason, type AnsweredExchange, type BrokenExchange, type Exchange } from './http-exchanger.js';
import { findPlatformError, readGraphError, type GraphError, type PlatformAction } from './graph-error.js';
import { own, ownId, ownList, ownText, parseJson } from './json-access.js';

const MAX_REST_MS = 3_600_000;

/** WhatsApp accepted the message. */
export interface AcceptedOutcome {
  readonly kind: 'accepted';
  readonly metaMessageId: string;
  /** The number by which WhatsApp knows the recipient, digits only; it may differ from the one in the request. */
  readonly waId: string | null;
  /** The recipient's business-scoped user id. */
  readonly userId: string | null;
  readonly httpStatus: number;
}

/**
 * WhatsApp did not accept the message, or that is unknown. `rejected`: refused permanently. `lane_paused`: the number
 * or the account can't send now. `deferred`, `recipient_deferred`: not accepted, may be sent later. `unknown`: it may
 * have been sent, so it must not be sent again automatically.
 */
export interface NotAcceptedOutcome {
  readonly kind: 'rejected' | 'lane_paused' | 'deferred' | 'recipient_deferred' | 'unknown';
  readonly httpStatus: number | null;
  readonly platformCode: number | null;
  /** WhatsApp's text, or a sentence of Herald's where there is none. */
  readonly platformMessage: string | null;
  readonly category: FailureCategory;
  readonly traceId: string | null;
  /** The wait from `Retry-After`, at most an hour. */
  readonly retryAfterMs: number | null;
  /** False when certainly no part of the request was sent. */
  readonly written: boolean;
}

export type SendOutcome = AcceptedOutcome | NotAcceptedOutcome;

/** Characters that are valid in a header; any other token would fail on our side with an error about headers. */
const SENDABLE_TOKEN = /^[\x21-\x7e]+$/;

export function isSendableToken(token: string): boolean {
  return SENDABLE_TOKEN.test(token);
}

export const TOKEN_MESSAGE = 'The access token is empty or has characters that cannot be sent; nothing was sent.';

/** For an exchange without an answer. */
const NOTHING_SAID = { httpStatus: null, platformCode: null, traceId: null, retryAfterMs: null };

export const UNSENDABLE_TOKEN: NotAcceptedOutcome = {
  ...NOTHING_SAID,
  kind: 'lane_paused',
  platformMessage: TOKEN_MESSAGE,
  category: 'authentication',
  written: false,
};

type Verdict = Pick<NotAcceptedOutcome, 'kind' | 'category'>;

const KIND_OF_ACTION: Readonly<Record<PlatformAction, NotAcceptedOutcome['kind']>> = {
  fail: 'rejected',
  pause_lane: 'lane_paused',
  defer_recipient: 'recipient_deferred',
  defer: 'deferred',
  unknown: 'unknown',
};

/** Refusals because of the request's size: another try would be refused too. */
export const TOO_LARGE_STATUSES: ReadonlySet<number> = new Set([413, 414, 431]);

/**
 * The meaning of one exchange for its message. Total: every status, body and error has exactly one outcome, and
 * anything that is not certainly a refusal is `unknown`.
 *
 * @param nowMs milliseconds since the epoch, for a `Retry-After` with a date
 */
export function classifyExchange(exchange: Exchange, nowMs: number): SendOutcome {
  return exchange.kind === 'broken' ? classifyBroken(exchange) : classifyAnswered(exchange, nowMs);
}

function classifyBroken({ written, timedOut, code }: BrokenExchange): NotAcceptedOutcome {
  return {
    ...NOTHING_SAID,
    kind: written ? 'unknown' : 'deferred',
    platformMessage: written
      ? `The request was sent and ${timedOut ? 'no answer came in time' : 'the connection broke'}.`
      : `Nothing was sent: ${brokenReason(code)}.`,
    category: 'platform_unavailable',
    written,
  };
}

function classifyAnswered({ status, headers, body }: AnsweredExchange, nowMs: number): SendOutcome {
  const parsed = parseJson(body);
  if (status >= 200 && status < 300) {
    const accepted = readAcceptance(parsed, status);
    if (accepted !== null) return accepted;
  }
  const error = readGraphError(parsed);
  const { kind, category } = verdictOf(status, error);
  const traceHeader = headers['x-fb-trace-id'];
  return {
    kind,
    httpStatus: status,
    platformCode: error?.code ?? null,
    platformMessage: error?.message ?? `The platform answered HTTP ${status} without a readable reason.`,
    category,
    traceId: error?.traceId ?? (typeof traceHeader === 'string' ? storableText(traceHeader.slice(0, 512)) : null),
    retryAfterMs: parseRetryAfter(headers['retry-after'], nowMs, MAX_REST_MS),
    written: true,
  };
}

function verdictOf(status: number, error: GraphError | null): Verdict {
  if (status >= 200 && status < 300) return { kind: 'unknown', category: 'unknown' };
  const code = error?.code ?? null;
  const listed = code === null ? null : findPlatformError(code, error?.subcode);
  const known = listed === null ? null : { kind: KIND_OF_ACTION[listed.action], category: listed.category };
  const unavailable = { category: 'platform_unavailable' } as const;
  // 5xx: only a code that means "not now" is trusted; with any other code messages were seen to arrive.
  if (status >= 500 && status < 600) {
    return known === null || known.kind === 'rejected' ? { kind: 'unknown', ...unavailable } : known;
  }
  if (status < 400 || status >= 600 || status === 408) return { kind: 'unknown', ...unavailable };
  // 4xx: an explicit refusal. The code gives the reason, or, without a known code, the status.
  if (known !== null) return known;
  if (status === 429) return { kind: 'lane_paused', category: 'rate_limited' };
  if (status === 401 || (status === 403 && code === null)) return { kind: 'lane_paused', category: 'authentication' };
  if (error !== null) return { kind: 'rejected', category: 'unknown' };
  if (TOO_LARGE_STATUSES.has(status)) return { kind: 'rejected', category: 'invalid_content' };
  // The answer comes from a proxy or a wrong address; retry later.
  return { kind: 'deferred', ...unavailable };
}

/** `{messages: [{id}], contacts: [{wa_id, user_id}]}`; null without an id that can be stored and found again. */
function readAcceptance(body: unknown, httpStatus: number): AcceptedOutcome | null {
  const metaMessageId = ownText(ownList(body, 'messages')[0], 'id');
  if (metaMessageId === null || !/^[\x21-\x7e]{1,512}$/.test(metaMessageId)) return null;
  const contact = ownList(body, 'contacts')[0];
  const waId = own(contact, 'wa_id');
  const userId = ownId(contact, 'user_id');
  return {
    kind: 'accepted',
    metaMessageId,
    waId: typeof waId === 'string' && /^\d{1,20}$/.test(waId) ? waId : null,
    userId: userId === null ? null : storableText(userId),
    httpStatus,
  };
}
