import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { type Caller, CurrentCaller } from '../../keys/caller.decorator.js';
import { RequireScope } from '../../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import { EventsResponse, ListEventsRequest } from './events.dto.js';
import { EventsService } from './events.service.js';

@ApiTags('Events')
@Controller('events')
export class EventsController {
  constructor(private readonly events: EventsService) {}

  /**
   * Read events in order
   *
   * @remarks What webhooks deliver, for a reader that polls, or for a receiver that was down: begin behind the `cursor`
   * of the last delivery. Pass `next` of each answer as `after` of the following call, and you see each event exactly
   * once, in the order of the transactions that made the changes: of two changes of which one began after the other was
   * stored, the earlier one comes first. An event is given as soon as no transaction is open that began before its own,
   * which is a matter of milliseconds; until then `done` is false.
   *
   * Events of all types are recorded from the moment the workspace has a webhook, chosen by it or not, or from the first
   * call, and are kept for 30 days, unless the installation says otherwise. A workspace without a webhook that has not
   * called for seven days is no longer recorded; the next call begins again. With `types` a page may be empty and `done`
   * false: others were passed over.
   *
   * Events about messages and opt-outs need the scope `messages:read` too, those about files `media:read` or `messages:read`: for a
   * key without it they are left out, and `omitted` names their types.
   */
  @Get()
  @RequireScope('webhooks:read')
  @ApiOkResponse({ type: EventsResponse, description: 'One page, oldest first.' })
  @ApiErrors('EVENT_CURSOR_EXPIRED')
  async list(@CurrentCaller() caller: Caller, @Query() query: ListEventsRequest): Promise<EventsResponse> {
    return this.events.list(caller, query);
  }
}
