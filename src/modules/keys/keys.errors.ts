import { defineErrors, error } from '../../common/define-errors.js';
import { isOtpScope, type OperatorScope, type Scope } from '../../infrastructure/http/scopes.js';

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
  KEY_NOT_FOUND: error({
    kind: 'not_found',
    message: 'This workspace has no such API key; list its keys to find the id.',
    when: 'The id is none of an API key of the workspace.',
    fix: 'Take the id from the list of keys; it is the middle part of the key, `hrld_live_<id>_...`.',
  }),
  KEY_ENDED: error({
    kind: 'conflict',
    message: 'This API key was revoked and can be changed no more; make a new one.',
    when: 'A revoked API key was to be changed or rotated.',
    fix: 'Make a new key.',
  }),
  KEY_SCOPES_MIXED: error<{ ofProject: boolean }>({
    kind: 'unprocessable',
    message: ({ ofProject }) =>
      ofProject ? 'a key of an OTP project has scopes of OTP only' : 'scopes of OTP need a key of an OTP project',
    when: 'A key of a workspace was to have scopes of one-time codes, or one of an OTP project others.',
    fix: 'Make two keys: one of the workspace, and one with `otp_project_id` and scopes that begin with `otp:`.',
    sample: { ofProject: false },
  }),
  KEY_PROJECT_NOT_FOUND: error({
    kind: 'unprocessable',
    message: 'This workspace has no such OTP project; list its projects to find the id.',
    when: '`otp_project_id` is none of an OTP project of the workspace.',
    fix: 'Take the id from the list of OTP projects of the workspace.',
  }),
  SESSION_REQUIRED: unauthenticated({
    message: 'This needs the session of a person: sign in in the console.',
    when: 'A route about the signed-in person was called without a session.',
    fix: 'Sign in in the console, where an issuer is set (docs/people.md).',
  }),
  OPERATOR_KEY_REQUIRED: unauthenticated({
    message:
      'The admin API takes operator keys, which begin with hrld_admin_, and this is the key of a workspace: make one with "herald operator-key create".',
    when: 'A route below /api/admin was called with a key of a workspace.',
    fix: 'Use an operator key: `herald operator-key create --name <name> --scopes <list>` on the server makes one.',
  }),
  OPERATOR_KEY_LIMITED: error({
    kind: 'forbidden',
    message:
      'This operator key is limited to some workspaces, and this concerns all of them; use a key without that limit.',
    when: 'The operator key is limited to some workspaces, and the route concerns the whole installation.',
    fix: 'Use an operator key that was made without `--workspaces`.',
  }),
  OPERATOR_KEY_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such operator key; list those of this key with GET /api/admin/v1/operator-keys.',
    when: 'The id is none of an operator key, or of one that is not limited to workspaces of the calling key.',
    fix: 'Take the id from the list of operator keys; it is the middle part of the key, `hrld_admin_<id>_...`.',
  }),
  OPERATOR_KEY_ENDED: error({
    kind: 'conflict',
    message: "This operator key was revoked and can't be rotated; make a new one.",
    when: 'A revoked operator key was to be rotated.',
    fix: 'Make a new key.',
  }),
  OPERATOR_KEY_BEYOND: error<{ scopes: readonly string[] } | { endsAt: Date }>({
    kind: 'forbidden',
    message: (beyond) =>
      'scopes' in beyond
        ? `This operator key lacks scopes of the other one (${beyond.scopes.join(', ')}), and gives or ends none that it lacks; use a key that has them.`
        : `This operator key ends at ${beyond.endsAt.toISOString()}, and makes none that ends later; give an expires_in that is over by then.`,
    when: 'An operator key makes, rotates or revokes one with scopes that it lacks, or makes one that ends later than itself.',
    fix: 'Leave the scopes out or give an earlier end; or use a key that has them, or the command on the server.',
    sample: { scopes: ['billing:write'] },
  }),
  KEY_WORKSPACE_NOT_FOUND: error({
    kind: 'unprocessable',
    message:
      'there is no workspace with one of these ids; list those of this key with GET /api/admin/v1/workspaces, and name only such.',
    when: 'One of `workspace_ids` is none of a workspace, or of none of those to which the calling operator key is limited.',
    fix: 'Take the ids from the list of workspaces.',
  }),
  KEY_BEYOND_ROLE: error<{ scopes: readonly string[] }>({
    kind: 'forbidden',
    message: ({ scopes }) =>
      `Your role in this workspace has not all scopes of this key (${scopes.join(', ')}); an operator can make or change such a key.`,
    when: 'A person makes, changes or rotates a key with scopes that the role of the person does not have.',
    fix: 'Leave these scopes out, or ask an operator.',
    sample: { scopes: ['otp:send'] },
  }),
  SCOPE_REQUIRED: error<{
    scope: Scope | OperatorScope;
    /** Whether the key belongs to an OTP project; null: it is an operator's key. */
    ofOtpProject: boolean | null;
    /** The caller is a person whose role lacks the scope. */
    ofPerson?: true;
  }>({
    kind: 'forbidden',
    message: ({ scope, ofOtpProject, ofPerson }) => {
      if (ofPerson) return `Your role does not allow this (${scope}); ask an admin of the workspace, or use a key.`;
      if (ofOtpProject === null || isOtpScope(scope) === ofOtpProject) {
        return `This API key lacks the scope ${scope}; use a key that has it.`;
      }
      return ofOtpProject
        ? `This is a key of an OTP project, which serves one-time codes only; use a key of the workspace with the scope ${scope}.`
        : `One-time codes need a key of an OTP project, and this is one of the workspace: make one with "herald key create --otp-project <id>".`;
    },
    when: 'The key is valid, but lacks the scope of this route; or the role of the person does.',
    fix: 'Use a key that has the scope named in `required_scope`.',
    extra: ({ scope }) => ({ required_scope: scope }),
    sample: { scope: 'messages:write', ofOtpProject: false },
  }),
});
