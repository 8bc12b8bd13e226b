import { Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EventReader } from '../../../infrastructure/events/event-reader.decorator.js';
import type { Reader } from '../../../infrastructure/events/read-events.js';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import { AdminController, CurrentOperator } from '../../../infrastructure/http/operator.decorator.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import {
  OperatorEventResponse,
  OperatorEventsResponse,
  ListOperatorEventsQuery,
  typesIn,
} from './operator-events.dto.js';
import { OperatorEventsService } from './operator-events.service.js';

@ApiTags('Events')
@AdminController('events')
export class EventsAdminController {
  constructor(private readonly events: OperatorEventsService) {}

  /**
   * Read events in order
   *
   * @remarks Workspaces, numbers and keys that were added, changed or removed, by a command, over HTTP, or by the platform. Each event is stored with the change
   * itself, and is read once, in the order of the transactions: pass `next` of each answer as `after` of the following call. An event is given
   * as soon as no transaction is open that began before its own; until then `done` is false. With `types` a page may be empty and `done` false:
   * others were passed over.
   *
   * Events are kept as long as the audit trail, 400 days unless the installation says otherwise. Those of a workspace that was deleted have no `changes`.
   * With `wait` a call answers as soon as an event is there, or empty after so many seconds. Ten calls of a key may wait in one process; beyond
   * that the answer is 429 with `scope: "waiting_readers"`. A key that is limited to some workspaces reads the events of those only.
   */
  @Get()
  @RequireOperatorScope('events:read')
  @ApiOkResponse({ type: OperatorEventsResponse, description: 'One page, oldest first.' })
  @ApiErrors('EVENT_CURSOR_EXPIRED')
  async list(
    @CurrentOperator() operator: Operator,
    @Query() query: ListOperatorEventsQuery,
    @EventReader() reader: Reader,
  ): Promise<OperatorEventsResponse> {
    const { events, next, done } = await this.events.read(operator, { ...query, types: typesIn(query) }, reader);
    return { data: events.map(({ event, cursor }) => OperatorEventResponse.of(event, cursor)), next, done };
  }
}
