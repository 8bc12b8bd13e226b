import { defineErrors, error } from '../../../common/define-errors.js';

export const sessionErrors = defineErrors('people', {
  SESSION_ENDED: error({
    kind: 'unauthenticated',
    message: 'Your session has ended; sign in again.',
    when: 'The session is over by its age, was not used for too long, or was ended: by its person, an admin, or the issuer.',
    fix: 'Sign in again in the console. Programs use an API key.',
  }),
  SESSION_FROM_ANOTHER_PAGE: error({
    kind: 'forbidden',
    message:
      'A session works from pages of this console only, which send X-Herald-Console: 1 from the same origin; programs use an API key.',
    when: 'A request with the cookie of a session lacks `X-Herald-Console: 1`, or comes from a page of another origin.',
    fix: 'Use the console under the address in `PUBLIC_URL`, or an API key and no cookie.',
  }),
  SESSION_WORKSPACE_REQUIRED: error({
    kind: 'invalid_request',
    message: 'Name the workspace in the header X-Herald-Workspace: you have several, or none of your own.',
    when: 'A session of a person with several workspaces, or of an operator, calls the API of messages without `X-Herald-Workspace`.',
    fix: 'Send the id of the workspace; `/auth/session` lists them.',
  }),
  SESSION_WORKSPACE_UNKNOWN: error({
    kind: 'forbidden',
    message: 'There is no such workspace among yours; choose another one, or sign in again.',
    when: 'The workspace of `X-Herald-Workspace` does not exist, or the person is no member of it any more.',
    fix: 'Take one that `/auth/session` lists, or ask an admin of the workspace for an invitation.',
  }),
});
