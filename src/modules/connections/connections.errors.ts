import { defineErrors, error } from '../../common/define-errors.js';

export const connectionsErrors = defineErrors('connections', {
  CONNECTION_NOT_FOUND: error({
    kind: 'not_found',
    alsoKinds: ['unprocessable'],
    message: 'There is no such connection in this workspace; GET /connections lists them.',
    when: "The connection id names no number of this key's workspace.",
    fix: 'Take an id from GET /connections.',
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
