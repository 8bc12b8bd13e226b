import { ApiProperty } from '@nestjs/swagger';
import { EventPlace, EventsQuery, EventTypes } from '../../../infrastructure/events/events.query.js';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { type AuditAction, OPERATOR_EVENTS, type OperatorEventType } from '../audit.types.js';
import type { OperatorEventRow } from './operator-events.repository.js';

const TIME = '2026-11-21T08:00:00.125Z';
const CURSOR = 'AXvmc3xJ7SoqAAAAAAAAC7gBmqW9oL19AIAAAAAAAAEm';
export const OPERATOR_EVENT_TYPES = Object.keys(OPERATOR_EVENTS) as OperatorEventType[];
const TYPE_OF = new Map<AuditAction, OperatorEventType>(
  OPERATOR_EVENT_TYPES.flatMap((type) =>
    OPERATOR_EVENTS[type].map((action): [AuditAction, OperatorEventType] => [action, type]),
  ),
);

/** The query of GET /events. */
export class ListOperatorEventsQuery extends EventsQuery {
  /** `next` of the answer before, or the `cursor` of an event. `now`: only what comes from now on. Left out: from the oldest event that is kept. */
  @EventPlace()
  after?: string;

  /** Only events of these types, separated by commas, such as `connection.added,setup.completed`; others are passed over. */
  @EventTypes(OPERATOR_EVENT_TYPES)
  types?: string;
}

/** Null: all. */
export function typesIn({ types }: ListOperatorEventsQuery): OperatorEventType[] | null {
  return types === undefined ? null : [...new Set(types.split(',') as OperatorEventType[])];
}

/** What an event is about. */
export class OperatorEventDataResponse {
  /** Id of the workspace, number, key or setup link. */
  @ApiProperty({ type: 'string', nullable: true, example: EXAMPLE_CONNECTION_ID })
  id!: string | null;

  /** The operator key that made the change; null: a command, a key of the workspace, the platform, or Herald itself. */
  @ApiProperty({ type: 'string', nullable: true, example: 'Zq3vTn8RkW1b' })
  operator_key_id!: string | null;

  /** What was set, as in the audit trail; never a secret. */
  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    example: { phone_number_id: '106540352242922', status: 'connected' },
  })
  changes!: Record<string, unknown> | null;
}

/** A change of a workspace, of one of its numbers, or of a key. */
export class OperatorEventResponse {
  /** Id of the change in the audit trail. */
  @ApiProperty({ example: '4711' })
  id!: string;

  @ApiProperty({ enum: OPERATOR_EVENT_TYPES, example: 'connection.added' })
  type!: OperatorEventType;

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_WORKSPACE_ID })
  workspace_id!: string | null;

  /** Your own id of the workspace, as it is now; null: it has none, or was deleted. */
  @ApiProperty({ type: 'string', nullable: true, example: 'customer-4711' })
  external_id!: string | null;

  /** Pass it as `after` to go on behind this event. */
  @ApiProperty({ example: CURSOR })
  cursor!: string;

  data!: OperatorEventDataResponse;

  static of(event: OperatorEventRow, cursor: string): OperatorEventResponse {
    const { id, action, occurredAt, workspaceId, externalId, target, operatorKeyId, details } = event;
    const type = TYPE_OF.get(action);
    if (type === undefined) throw new Error(`${action} is no event of the operator`);
    return {
      id,
      type,
      created_at: occurredAt.toISOString(),
      workspace_id: workspaceId,
      external_id: externalId,
      cursor,
      data: { id: target, operator_key_id: operatorKeyId, changes: details },
    };
  }
}

export class OperatorEventsResponse {
  @ApiProperty({ type: [OperatorEventResponse] })
  data!: OperatorEventResponse[];

  /** Pass it as `after` the next time, also where `data` is empty. Keep it only once you have stored the events. */
  @ApiProperty({ example: CURSOR })
  next!: string;

  /** True: nothing more was there. False: ask again, at once after a page with events, else after a moment, or with `wait`. */
  @ApiProperty({ example: true })
  done!: boolean;
}
