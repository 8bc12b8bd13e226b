import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_REPLAY_ID } from '../../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../../keys/caller.decorator.js';
import { RequireScope } from '../../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import { UuidParam } from '../../../infrastructure/http/uuid-param.decorator.js';
import { webhookErrors } from '../webhook.errors.js';
import { ReplayResponse, StartReplayRequest } from './replays.dto.js';
import { ReplaysService } from './replays.service.js';

@ApiTags('Webhook')
@Controller('webhook/replay')
export class ReplaysController {
  constructor(private readonly replays: ReplaysService) {}

  /**
   * Deliver many events again
   *
   * @remarks After an outage of your receiver: all events of which an attempt was made in a time are queued once more,
   * the oldest first, each under the same `id` and with all its attempts. The answer comes at once; follow the task with
   * GET /webhook/replay/{id}. It survives restarts of Herald.
   *
   * Fresh events do not wait for it: it adds to your webhook's queue only while few events are due there, and never
   * exceeds what your receiver takes. While the webhook is paused or disabled it waits, three days at the most. One
   * replay runs at a time (409), with at most 100,000 events (422: choose a shorter time, and one after the other). Events
   * count whose attempts are kept, delivered or not. For 10 seconds after such a 422 the answer is 429, with
   * `scope: "webhook_replay"`.
   */
  @Post()
  @HttpCode(202)
  @RequireScope('webhooks:write')
  @ApiAcceptedResponse({ type: ReplayResponse, description: 'Begun; `done` at once where there is nothing to do.' })
  @ApiErrors('WEBHOOK_NOT_FOUND', 'WEBHOOK_REPLAY_RUNNING', 'WEBHOOK_REPLAY_TOO_LARGE')
  async start(@CurrentCaller() caller: Caller, @Body() body: StartReplayRequest): Promise<ReplayResponse> {
    return { data: await this.replays.start(caller.organizationId, body) };
  }

  /**
   * Read how far a replay is
   *
   * @remarks Replays are kept for as long as attempts to deliver are, 30 days unless the installation says otherwise.
   */
  @Get(':id')
  @RequireScope('webhooks:read')
  @ApiOkResponse({ type: ReplayResponse, description: 'The replay.' })
  @ApiErrors('WEBHOOK_REPLAY_NOT_FOUND')
  async get(
    @CurrentCaller() caller: Caller,
    @UuidParam('id', {
      malformed: webhookErrors.WEBHOOK_REPLAY_NOT_FOUND,
      description: 'Id of a replay, from POST /webhook/replay.',
      example: EXAMPLE_REPLAY_ID,
    })
    id: string,
  ): Promise<ReplayResponse> {
    return { data: await this.replays.get(caller.organizationId, id) };
  }
}
