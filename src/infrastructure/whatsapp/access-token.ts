import type { NotAcceptedOutcome } from './outcome.js';

/** What a header may carry; anything else would be refused on our side with an error about headers. */
const SENDABLE_TOKEN = /^[\x21-\x7e]+$/;

export function isSendableToken(token: string): boolean {
  return SENDABLE_TOKEN.test(token);
}

export const TOKEN_MESSAGE = 'The access token is empty or has characters that cannot be sent; nothing was sent.';

export const UNSENDABLE_TOKEN: NotAcceptedOutcome = {
  kind: 'lane_paused',
  httpStatus: null,
  platformCode: null,
  platformMessage: TOKEN_MESSAGE,
  category: 'authentication',
  traceId: null,
  retryAfterMs: null,
  written: false,
};
