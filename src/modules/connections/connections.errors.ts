import { defineErrors, error } from '../../common/define-errors.js';

export const connectionsErrors = defineErrors('connections', {
  CONNECTION_NOT_FOUND: error({
    kind: 'not_found',
    alsoKinds: ['unprocessable'],
    message: 'There is no such connection in this workspace; GET /connections lists them.',
    when: "The connection id names no number of this key's workspace.",
    fix: 'Take an id from GET /connections.',
  }),
  NUMBER_REFUSED: error<{ reason: string }>({
    kind: 'unprocessable',
    alsoKinds: ['platform_unavailable'],
    message: ({ reason }) => reason,
    when: 'The number cannot be connected: the platform refuses the token, does not know the number or the account, or does not answer (502).',
    fix: 'Do what `message` says, then send the request again: nothing was stored.',
    sample: {
      reason:
        'the platform refuses the token (Error validating access token); make a new one for a system user of your Meta business',
    },
  }),
  NUMBER_TAKEN: error<{ phoneNumberId: string }>({
    kind: 'conflict',
    message: ({ phoneNumberId }) =>
      `the number ${phoneNumberId} belongs to another workspace of this installation; an operator key that sees all workspaces finds it with GET /connections?phone_number_id=${phoneNumberId}`,
    when: 'The token is one for the number, and another workspace of this installation has it, connected or not.',
    fix: 'Use the number in that workspace, or delete that workspace: a number belongs to one workspace only. `GET /connections?phone_number_id=` of the admin API says which one, for a key that sees all workspaces.',
    sample: { phoneNumberId: '106540352242922' },
  }),
  CONNECTION_NOT_READY: error<{ status: string }>({
    kind: 'conflict',
    message: ({ status }) => `This number cannot send now: it is ${status}; reconnect it, then try again.`,
    when: 'The number is not connected to the platform.',
    fix: 'Reconnect the number (a revoked token is the usual cause), then repeat the request.',
    extra: ({ status }) => ({ status }),
    sample: { status: 'disconnected' },
  }),
});
