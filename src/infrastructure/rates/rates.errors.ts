import { defineErrors, error } from '../../common/define-errors.js';

/** Limits other than those of keys and addresses: the answer's `scope`, and its text. */
const SCOPE_LIMITS = {
  workspace_reads: 'Too many requests of this workspace that read are under way',
  number_profile: "Too many calls to the messaging platform for this number's profile",
  webhook_replay: 'The last replay was too large',
  waiting_readers: 'Too many requests that wait for events',
  webhook_changes: "Too many changes of this workspace's webhook",
  webhook_verify: "Too many checks of this workspace's receiver",
  destination_changes: "Too many changes of this workspace's event destinations",
  large_batches: 'Other batches of this workspace above 256 KiB are under way',
};

export const ratesErrors = defineErrors('rates', {
  RATE_LIMITED: error<{
    retryAfterSeconds: number;
    /**
     * For a request that counts as several: the number of tokens, and of messages in a batch, each of which counts as
     * one.
     */
    tokens?: number;
    messages?: number;
    /** The kind of limit, if it is not the key's. */
    scope?: keyof typeof SCOPE_LIMITS;
  }>({
    kind: 'rate_limited',
    message: ({ retryAfterSeconds, tokens, messages, scope }) =>
      scope !== undefined
        ? `${SCOPE_LIMITS[scope]}; try again in ${retryAfterSeconds} s.`
        : messages === undefined
          ? tokens === undefined
            ? `Too many requests; try again in ${retryAfterSeconds} s.`
            : `This request counts as ${tokens}, and this key has fewer left; try again in ${retryAfterSeconds} s.`
          : `A batch of ${messages} messages counts as ${messages} requests, and this key has fewer left; try again in ${retryAfterSeconds} s.`,
    when: 'The key, or an address that sent no valid key, made more requests than its limit allows. With `scope`: `workspace_reads`: too many reads of the workspace are under way and wait; `waiting_readers`: too many calls of `GET /events` wait; `large_batches`: batches of the workspace above 256 KiB are under way; `webhook_replay`: a replay was refused as too large within the last ten seconds; `webhook_changes`: the webhook was changed, or its secret replaced, too often within an hour; `webhook_verify`: the receiver was checked too often; `destination_changes`: event destinations were made, changed or replayed too often within an hour; `number_profile`: too many reads and changes of the profile of one number.',
    fix: 'Wait for `Retry-After` seconds; the headers `RateLimit` and `RateLimit-Policy` say what is left.',
    extra: ({ retryAfterSeconds, scope }) => ({
      ...(scope !== undefined && { scope }),
      retry_after_seconds: retryAfterSeconds,
    }),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
    sample: { retryAfterSeconds: 1 },
  }),
});
