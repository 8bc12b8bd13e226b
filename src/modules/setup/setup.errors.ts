import { defineErrors, error } from '../../common/define-errors.js';
import type { LinkStatus, SetupStep } from './setup.types.js';

type Ended = Exclude<LinkStatus, 'open'>;

const ENDED: Readonly<Record<Ended, string>> = {
  completed: 'This setup link was used: a number was connected with it.',
  revoked: 'This setup link was revoked.',
  expired: 'The time of this setup link is over.',
};

export const setupErrors = defineErrors('setup', {
  SETUP_LINK_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such setup link in this workspace; GET /workspaces/{workspace_id}/setup-links lists them.',
    when: 'The id names no setup link of this workspace.',
    fix: 'Take an id from GET /workspaces/{workspace_id}/setup-links.',
  }),
  SETUP_LINK_USED: error({
    kind: 'conflict',
    message:
      'The setup link was used: disconnect its number in its place (DELETE /workspaces/{workspace_id}/connections/{id}).',
    when: 'A number was connected with the link, which so has ended.',
    fix: 'Disconnect the number where the connection is not wanted.',
  }),
  SETUP_RETURN_URL_REFUSED: error<{ origin: string }>({
    kind: 'unprocessable',
    message: ({ origin }) =>
      `return_url leads to ${origin}, which is none of SETUP_RETURN_ORIGINS: the operator of the service adds it there.`,
    when: 'The origin of `return_url` is not one that the operator allowed.',
    fix: 'Add the origin to the setting SETUP_RETURN_ORIGINS, or leave `return_url` out.',
    sample: { origin: 'https://app.example.com' },
  }),
  SETUP_SIGNUP_OFF: error<{ signup: string }>({
    kind: 'unprocessable',
    message: ({ signup }) =>
      `signup ${signup} needs embedded signup: the operator of the service sets META_APP_ID and META_CONFIG_ID, or make the link with signup manual.`,
    when: 'The link is to use the dialog of Meta, and embedded signup is not set up.',
    fix: 'Set META_APP_ID, META_CONFIG_ID and META_APP_SECRET, or use `"signup": "manual"`.',
    sample: { signup: 'cloud' },
  }),
  SETUP_LINK_UNKNOWN: error({
    kind: 'not_found',
    message: 'There is no such setup link: compare it with the one that you were sent, or ask for a new one.',
    when: 'The page of a setup link is opened with a token that none has.',
    fix: 'Open the link as it was sent, or ask for a new one.',
  }),
  SETUP_LINK_ENDED: error<{ status: Ended }>({
    kind: 'gone',
    message: ({ status }) => `${ENDED[status]} Ask its sender for a new one where you need it.`,
    when: 'The page of a setup link is opened that was used or revoked, or whose time is over.',
    fix: 'Ask the sender of the link for a new one.',
    extra: ({ status }) => ({ status }),
    sample: { status: 'completed' },
  }),
  SETUP_STEP_BUSY: error({
    kind: 'conflict',
    message: 'A step of this setup link is under way, perhaps in another window: wait some seconds, then try again.',
    when: 'Two steps of one setup link are asked for at once.',
    fix: 'Wait some seconds and repeat the step.',
  }),
  SETUP_STEP_EARLY: error<{ step: SetupStep; before: SetupStep }>({
    kind: 'conflict',
    message: ({ step, before }) => `The step ${step} comes after ${before}, which is not done: do that one first.`,
    when: 'A step of a setup link is asked for before the one that it builds on, or is none of this link.',
    fix: 'Repeat the first step that is not done.',
    extra: ({ before }) => ({ before }),
    sample: { step: 'connect', before: 'register' },
  }),
});
