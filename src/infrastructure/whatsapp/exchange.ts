/** One HTTP request to the platform as it went, before anybody says what that means. */
export type Exchange = AnsweredExchange | BrokenExchange;

/** A status line came. */
export interface AnsweredExchange {
  readonly kind: 'answered';
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What arrived of it: shorter than sent where the connection broke, empty where it was too long to read. */
  readonly body: string;
}

/** No status line came. */
export interface BrokenExchange {
  readonly kind: 'broken';
  /** True when the request may have reached the wire, in whole or in part. */
  readonly written: boolean;
  /** True when the request was written and the time for the answer ran out. */
  readonly timedOut: boolean;
  /** Such as `ECONNREFUSED`, `UND_ERR_HEADERS_TIMEOUT`; `TOO_LATE` and `CLOSED` are ours. */
  readonly code: string;
}

const REASONS: readonly (readonly [codes: RegExp, words: string])[] = [
  [/^ECONNREFUSED$/, 'the connection was refused'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the name could not be resolved'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'no connection was made in time'],
  [/CERT|TLS|SSL/, 'no secure connection was made'],
  [/^(TOO_LATE|CLOSED)$/, 'its time was over'],
];

/** Why an exchange broke, in words for a caller: codes of libraries change with their versions. */
export function brokenReason(code: string): string {
  return REASONS.find(([codes]) => codes.test(code))?.[1] ?? 'the connection failed';
}
