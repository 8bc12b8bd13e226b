import { defineErrors, error } from '../../common/define-errors.js';

/** Why a sign-in failed: the console shows the sentence, and every step can be repeated. */
export const signInErrors = defineErrors('people', {
  SIGN_IN_EXPIRED: error({
    kind: 'invalid_request',
    message: 'This sign-in took too long, or was begun in another browser or tab; sign in again.',
    when: 'The answer of the issuer belongs to no sign-in of this browser, is older than ten minutes, or was used before.',
    fix: 'Sign in again, in one tab.',
  }),
  SIGN_IN_DECLINED: error({
    kind: 'forbidden',
    message: 'The sign-in was declined at the issuer; sign in again, or ask who runs it whether you may use Herald.',
    when: 'The person cancelled, or the issuer does not let this account use Herald.',
    fix: 'Sign in again; where it stays, who runs the issuer must allow it.',
  }),
  ISSUER_AWAY: error({
    kind: 'unavailable',
    message: 'The issuer does not answer; try again in a minute.',
    when: 'The issuer of OpenID Connect was not reached in five seconds, or answered with an error of its own.',
    fix: 'Try again. Where it stays, who runs the issuer must look, or the operator at `OIDC_ISSUERS` and the network.',
    headers: () => ({ 'Retry-After': '60' }),
  }),
  ISSUER_REFUSED: error({
    kind: 'platform_unavailable',
    message: 'The issuer refuses this Herald; its operator must check OIDC_ISSUERS (client_id, client_secret).',
    when: 'The issuer answers that it does not know the client, its secret, its redirect address or its scopes.',
    fix: 'The operator compares `OIDC_ISSUERS` with the client at the issuer; the log of Herald has what the issuer said.',
  }),
  ISSUER_ANSWER_INVALID: error({
    kind: 'platform_unavailable',
    message: 'The answer of the issuer could not be verified; sign in again.',
    when: 'A token of the issuer is not signed by its keys, is for another client or another sign-in, or has expired.',
    fix: 'Sign in again: keys are read anew each time. Where it stays, the operator compares `OIDC_ISSUERS` with the issuer; the log says what is wrong.',
  }),
  EMAIL_MISSING: error({
    kind: 'forbidden',
    message: 'The issuer tells no e-mail address of you; who runs it must send the claim "email".',
    when: 'Neither the ID token nor the user info of the person has an e-mail address.',
    fix: 'Who runs the issuer adds the claim `email` to the scope `email`; then sign in again.',
  }),
  EMAIL_UNVERIFIED: error({
    kind: 'forbidden',
    message: 'The issuer has not verified your e-mail address; verify it there, then sign in again.',
    when: 'The claim `email_verified` is not true.',
    fix: 'Verify the address at the issuer. Of an issuer that has verified all but does not say so, the operator sets `trust_email`.',
  }),
  NO_ACCESS: error({
    kind: 'forbidden',
    message:
      'Your account may not use this Herald; an admin of the workspace can invite you, or its operator can give your group a role.',
    when: 'The person is in no group that `OIDC_ROLES` names, and has accepted no invitation; or had a group that was removed.',
    fix: 'Ask an admin of the workspace for an invitation, or the operator for a role of your group.',
  }),
});

export const peopleErrors = defineErrors('people', {
  PERSON_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such person here; GET /people of the workspace lists its members.',
    when: 'The id names no person, or none who is a member of this workspace.',
    fix: 'Take an id from the list.',
  }),
  ROLE_BY_GROUP: error<{ role: string }>({
    kind: 'conflict',
    message: ({ role }) =>
      `The person is ${role} by a group of the issuer: take the person out of the group there, then this role ends with the next sign-in.`,
    when: 'A role that a group gives is to be removed, or a weaker one set in its place.',
    fix: 'Change the groups at the issuer, or the setting `OIDC_ROLES`.',
    sample: { role: 'admin' },
  }),
  INVITATION_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such invitation in this workspace; GET /workspaces/{workspace_id}/invitations lists them.',
    when: 'The id names no invitation of this workspace.',
    fix: 'Take an id from GET /workspaces/{workspace_id}/invitations.',
  }),
  INVITATION_USED: error({
    kind: 'conflict',
    message: 'The invitation was accepted: remove the person (DELETE /workspaces/{workspace_id}/people/{id}).',
    when: 'The person has signed in and is a member, so the invitation has ended.',
    fix: 'Remove the person where the membership is not wanted.',
  }),
  ISSUER_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such issuer; open the console for a list.',
    when: 'The address names an issuer that `OIDC_ISSUERS` does not have.',
    fix: 'Open the console and sign in there.',
  }),
  LOGOUT_TOKEN_INVALID: error({
    kind: 'invalid_request',
    message: 'This is no logout token of this issuer for this client.',
    when: 'The `logout_token` is missing, not signed by the issuer, for another client, too old, or names no session and no person.',
    fix: 'Only the issuer calls this address. Check its settings of back-channel logout.',
  }),
});
