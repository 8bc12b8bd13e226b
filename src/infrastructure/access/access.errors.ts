import { defineErrors, error } from '../../common/define-errors.js';
import { isOtpScope, type Scope } from './scopes.js';

const unauthenticated = (text: { message: string; when: string; fix: string }) =>
  error({ kind: 'unauthenticated', ...text, headers: () => ({ 'WWW-Authenticate': 'Bearer' }) });

/** Limits beside those of keys and addresses: `scope` of the answer, and what it says. */
const SCOPE_LIMITS = {
  workspace_reads: 'Too many requests of this workspace that read are under way',
  number_profile: "Too many calls to the messaging platform for this number's profile",
  webhook_replay: 'The last replay was too large',
  webhook_changes: "Too many changes of this workspace's webhook",
};

export const accessErrors = defineErrors('access', {
  API_KEY_MISSING: unauthenticated({
    message: 'Send your API key in the header Authorization: Bearer <API_KEY>.',
    when: 'The request has no `Authorization: Bearer` header, or more than one.',
    fix: 'Add the header `Authorization: Bearer <API_KEY>`, once.',
  }),
  API_KEY_INVALID: unauthenticated({
    message: 'This is not a valid API key; check that it was copied whole.',
    when: 'The key is mistyped, cut short, or was never issued.',
    fix: 'Copy the whole key again, or have a new one made: a key is shown only once.',
  }),
  API_KEY_EXPIRED: unauthenticated({
    message: 'This API key has expired; use a new one.',
    when: "The key's lifetime is over.",
    fix: 'Have a new key made, or rotate keys before they expire.',
  }),
  API_KEY_REVOKED: unauthenticated({
    message: 'This API key was revoked; use another one.',
    when: 'The key was revoked.',
    fix: 'Use another key of the workspace, or have a new one made.',
  }),
  SCOPE_REQUIRED: error<{
    scope: Scope;
    /** The key belongs to an OTP project. */
    ofOtpProject: boolean;
  }>({
    kind: 'forbidden',
    message: ({ scope, ofOtpProject }) => {
      if (isOtpScope(scope) === ofOtpProject) return `This API key lacks the scope ${scope}; use a key that has it.`;
      return ofOtpProject
        ? `This is a key of an OTP project, which serves one-time codes only; use a key of the workspace with the scope ${scope}.`
        : `One-time codes need a key of an OTP project, and this is one of the workspace: make one with "herald key create --otp-project <id>".`;
    },
    when: 'The key is valid, but lacks the scope of this route.',
    fix: 'Use a key that has the scope named in `required_scope`.',
    extra: ({ scope }) => ({ required_scope: scope }),
    sample: { scope: 'messages:write', ofOtpProject: false },
  }),
  RATE_LIMITED: error<{
    retryAfterSeconds: number;
    /** Messages of a batch, each of which counts as a request. */
    messages?: number;
    /** The limit, where it is not the one of the key. */
    scope?: keyof typeof SCOPE_LIMITS;
  }>({
    kind: 'rate_limited',
    message: ({ retryAfterSeconds, messages, scope }) =>
      scope !== undefined
        ? `${SCOPE_LIMITS[scope]}; try again in ${retryAfterSeconds} s.`
        : messages === undefined
          ? `Too many requests; try again in ${retryAfterSeconds} s.`
          : `A batch of ${messages} messages counts as ${messages} requests, and this key has fewer left; try again in ${retryAfterSeconds} s.`,
    when: 'The key, or an address that sent no valid key, made more requests than its limit allows. With `scope`: `workspace_reads`: as many requests of the workspace as may read at once are under way, and others wait already; `webhook_replay`: a replay of the workspace was refused as too large within the last ten seconds; `webhook_changes`: the workspace changed its webhook, or replaced its secret, too often within an hour; `number_profile`: too many reads and changes of the profile of one number.',
    fix: 'Wait for `Retry-After` seconds; the headers `RateLimit` and `RateLimit-Policy` say what is left.',
    extra: ({ retryAfterSeconds, scope }) => ({
      ...(scope !== undefined && { scope }),
      retry_after_seconds: retryAfterSeconds,
    }),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
    sample: { retryAfterSeconds: 1 },
  }),
});
