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
    message: ({ phoneNumberId }) => `the number ${phoneNumberId} belongs to another workspace`,
    when: 'Another workspace of this installation has the number.',
    fix: 'Check the `phone_number_id`. A number is connected to one workspace only.',
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
