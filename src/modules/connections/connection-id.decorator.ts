import { EXAMPLE_CONNECTION_ID } from '../../common/example-ids.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { connectionsErrors } from './connections.errors.js';

/** Passes the id to a route of the admin API below `connections/:id`, and describes it. */
export const ConnectionId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: connectionsErrors.CONNECTION_NOT_FOUND,
    description: 'Connection ID, from the list.',
    example: EXAMPLE_CONNECTION_ID,
  });
