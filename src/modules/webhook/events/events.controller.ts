import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { type Caller, CurrentCaller } from '../../keys/caller.decorator.js';
import { EventReader } from '../../../infrastructure/events/event-reader.decorator.js';
import type { Reader } from '../../../infrastructure/events/read-events.js';
import { ReadsMayBeLate } from '../../../infrastructure/http/late-reads.js';
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
   * With `wait` a call answers as soon as an event is there, mostly within 300 ms of its commit, or empty after so many
   * seconds: call again at once with `next`. An event that is there already, and a page that only passed others over,
   * does not wait. A hundred calls of a workspace may wait in one process; beyond that the answer is 429 with
   * `scope: "waiting_readers"`. A server that stops answers all at once, empty.
   *
   * Events about messages and opt-outs need the scope `messages:read` too, those about files `media:read` or `messages:read`: for a
   * key without it they are left out, and `omitted` names their types.
   */
  @Get()
  @RequireScope('webhooks:read')
  // A reader that waits is told at once; `now` is the end of what is stored, and notes that the workspace reads.
  @ReadsMayBeLate(({ wait, after }) => (wait === undefined || Number(wait) === 0) && after !== 'now')
  @ApiOkResponse({ type: EventsResponse, description: 'One page, oldest first.' })
  @ApiErrors('EVENT_CURSOR_EXPIRED', 'RATE_LIMITED')
  list(
    @CurrentCaller() caller: Caller,
    @Query() query: ListEventsRequest,
    @EventReader() reader: Reader,
  ): Promise<EventsResponse> {
    return this.events.list(caller, query, reader);
  }
}
