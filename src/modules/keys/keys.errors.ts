import { defineErrors, error } from '../../common/define-errors.js';
import { isOtpScope, type Scope } from '../../infrastructure/http/scopes.js';

const unauthenticated = (text: { message: string; when: string; fix: string }) =>
  error({ kind: 'unauthenticated', ...text, headers: () => ({ 'WWW-Authenticate': 'Bearer' }) });

export const keysErrors = defineErrors('keys', {
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
});
