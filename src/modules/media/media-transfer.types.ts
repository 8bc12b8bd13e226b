import type { NotAcceptedOutcome } from '../../infrastructure/whatsapp/outcome.js';

/** The platform's id of one of our files for one number, or why there is none. */
export type PlatformId =
  | { readonly kind: 'ready'; readonly platformMediaId: string }
  /** Nothing was sent; the message may be tried again after so many milliseconds. */
  | { readonly kind: 'later'; readonly retryInMs: number }
  /** The file is gone, or the platform does not take it: the message fails with `media_error`. */
  | { readonly kind: 'failed'; readonly message: string }
  /**
   * The number or its token is the problem. The outcome is what a send with the same answer would have: mostly
   * `lane_paused`; `rejected` where the platform says that the number is gone, which fails the message.
   */
  | { readonly kind: 'account'; readonly outcome: NotAcceptedOutcome };
