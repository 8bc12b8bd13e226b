import type { ErrorDetail } from '../../common/app-error.js';
import { defineErrors, error } from '../../common/define-errors.js';

export const destinationsErrors = defineErrors('destinations', {
  DESTINATION_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such destination; GET /destinations lists them.',
    when: "The id names no destination of this key's workspace, or it was deleted.",
    fix: 'Take an id from GET /destinations.',
  }),
  DESTINATION_NAME_TAKEN: error({
    kind: 'conflict',
    message: 'Another destination of this workspace has this name; choose another one.',
    when: 'POST or PATCH /destinations gives a name that another destination of the workspace has.',
    fix: 'Choose another name, or change the destination that has it.',
  }),
  DESTINATION_LIMIT_REACHED: error<{ limit: number }>({
    kind: 'conflict',
    message: ({ limit }) => `A workspace has at most ${limit} destinations; delete one that is not needed any more.`,
    when: 'POST /destinations while the workspace has as many destinations as it may have.',
    fix: 'Delete a destination that is not needed any more.',
    sample: { limit: 20 },
  }),
  DESTINATION_ADDRESS_NOT_ALLOWED: error<{ reason: string; message: string }>({
    kind: 'invalid_request',
    message: ({ message }) => message,
    when: 'The address of a destination is one that Herald does not connect to; `reason` says why: `ip_literal`, `malformed`, `private_address`, `unresolvable` or `too_many_addresses`.',
    fix: 'Use a host name that leads to public addresses only, or ask the operator to name host and port in EVENT_DESTINATION_HOSTS.',
    extra: ({ reason }) => ({ reason }),
    sample: {
      reason: 'private_address',
      message:
        'Every address of the host must be public, unless the operator names host and port in EVENT_DESTINATION_HOSTS.',
    },
  }),
  DESTINATION_CONNECTION_NOT_FOUND: error<{ details: ErrorDetail[] }>({
    kind: 'not_found',
    message: 'The workspace has no such number; GET /connections lists the ids.',
    when: '`connection_ids` of a destination has ids that are no number of the workspace; `details` names each.',
    fix: 'Take the ids from GET /connections, or leave them out for all numbers.',
    extra: ({ details }) => ({ details }),
    sample: {
      details: [{ field: 'connection_ids[0]', rule: 'unknown', message: 'The workspace has no number with this id.' }],
    },
  }),
});
