import { applyDecorators, Body, Controller, Delete, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_DESTINATION_ID } from '../../common/example-ids.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { destinationsErrors } from './destinations.errors.js';
import { DestinationsService } from './destinations.service.js';
import {
  ChangeDestinationRequest,
  CreateDestinationRequest,
  DestinationListResponse,
  DestinationResponse,
  DestinationTestResponse,
  ReplayDestinationRequest,
} from './dto/destinations.dto.js';

const DestinationId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: destinationsErrors.DESTINATION_NOT_FOUND,
    description: 'Id of a destination, from GET /destinations.',
    example: EXAMPLE_DESTINATION_ID,
  });

/** An address that can be checked everywhere; paused, since the keys are none of AWS. */
const SQS = {
  queue_url: 'https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo',
  region: 'eu-central-1',
  access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

const Changed = (): MethodDecorator =>
  applyDecorators(
    ApiOkResponse({ type: DestinationResponse, description: 'The destination as it is now.' }),
    ApiErrors('DESTINATION_NOT_FOUND', 'RATE_LIMITED'),
  );

@ApiTags('Destinations')
@Controller('destinations')
export class DestinationsController {
  constructor(private readonly destinations: DestinationsService) {}

  /**
   * List the event destinations
   *
   * @remarks All of the workspace, oldest first; there are no pages. Each says how it is: what it has written, what waits for it, what
   * went wrong last.
   */
  @Get()
  @RequireScope('webhooks:read')
  @ApiOkResponse({ type: DestinationListResponse, description: 'All of them.' })
  async list(@CurrentCaller() caller: Caller): Promise<DestinationListResponse> {
    return { data: await this.destinations.list(caller.organizationId) };
  }

  /**
   * Make an event destination
   *
   * @remarks A NATS JetStream stream, a RabbitMQ exchange or an SQS queue of yours, to which Herald writes the events of the workspace from
   * now on: the bytes of a webhook's delivery, with the headers of CloudEvents. Streams, exchanges and queues must be there already. A
   * workspace has at most twenty destinations, beside its webhook and any number of readers of GET /events.
   *
   * Each event is written until the broker has acknowledged it, those of a conversation in their order; after a failure Herald tries again
   * later and later, every five minutes in the end. A duplicate, with the same id, may come only after a connection or a process broke.
   *
   * The host must lead to public addresses, unless the operator names host and port in `EVENT_DESTINATION_HOSTS`. Secrets are stored
   * encrypted and never shown. A workspace has sixty calls at once that make, change or replay destinations, and one more each minute;
   * beyond that the answer is 429 with `scope: "destination_changes"`.
   */
  @Post()
  @RequireScope('webhooks:write')
  @ApiBody({
    type: CreateDestinationRequest,
    examples: { sqs: { summary: 'A queue of SQS, paused', value: { name: 'orders', sqs: SQS, active: false } } },
  })
  @ApiCreatedResponse({ type: DestinationResponse, description: 'Made; the first event is written within a second.' })
  @ApiErrors(
    'DESTINATION_ADDRESS_NOT_ALLOWED',
    'DESTINATION_CONNECTION_NOT_FOUND',
    'DESTINATION_NAME_TAKEN',
    'DESTINATION_LIMIT_REACHED',
    'RATE_LIMITED',
  )
  async create(@CurrentCaller() caller: Caller, @Body() body: CreateDestinationRequest): Promise<DestinationResponse> {
    return { data: await this.destinations.create(caller.organizationId, body) };
  }

  /**
   * Read an event destination
   *
   * @remarks One entry of GET /destinations. The values of its secrets are not shown; `secrets` has their names.
   */
  @Get(':id')
  @RequireScope('webhooks:read')
  @ApiOkResponse({ type: DestinationResponse, description: 'The destination.' })
  @ApiErrors('DESTINATION_NOT_FOUND')
  async get(@CurrentCaller() caller: Caller, @DestinationId() id: string): Promise<DestinationResponse> {
    return { data: await this.destinations.get(caller.organizationId, id) };
  }

  /**
   * Change an event destination
   *
   * @remarks What is left out stays as it is. Settings of its kind are given as a whole; secrets that are left out stay, unless host, port
   * or TLS change. Its place stays too: what waits goes to the new address. A destination that fails is tried again at once.
   */
  @Patch(':id')
  @RequireScope('webhooks:write')
  @ApiBody({
    type: ChangeDestinationRequest,
    examples: { events: { summary: 'Other events', value: { events: ['message.received'] } } },
  })
  @Changed()
  @ApiErrors('DESTINATION_ADDRESS_NOT_ALLOWED', 'DESTINATION_CONNECTION_NOT_FOUND', 'DESTINATION_NAME_TAKEN')
  async change(
    @CurrentCaller() caller: Caller,
    @DestinationId() id: string,
    @Body() body: ChangeDestinationRequest,
  ): Promise<DestinationResponse> {
    return { data: await this.destinations.change(caller.organizationId, id, body) };
  }

  /**
   * Delete an event destination
   *
   * @remarks What waits for it is not written any more. A destination that is made later begins with the events of then.
   */
  @Delete(':id')
  @HttpCode(204)
  @RequireScope('webhooks:write')
  @ApiNoContentResponse({ description: 'Deleted.' })
  @ApiErrors('DESTINATION_NOT_FOUND')
  async remove(@CurrentCaller() caller: Caller, @DestinationId() id: string): Promise<void> {
    await this.destinations.remove(caller.organizationId, id);
  }

  /**
   * Pause an event destination
   *
   * @remarks Events wait in Herald, which goes on recording them, as long as it keeps them: 30 days unless the installation says otherwise.
   */
  @Post(':id/pause')
  @HttpCode(200)
  @RequireScope('webhooks:write')
  @Changed()
  async pause(@CurrentCaller() caller: Caller, @DestinationId() id: string): Promise<DestinationResponse> {
    return { data: await this.destinations.setActive(caller.organizationId, id, false) };
  }

  /**
   * Resume an event destination
   *
   * @remarks What waited is written in its order. A destination that fails is tried again at once, without waiting for `retry_at`.
   */
  @Post(':id/resume')
  @HttpCode(200)
  @RequireScope('webhooks:write')
  @Changed()
  async resume(@CurrentCaller() caller: Caller, @DestinationId() id: string): Promise<DestinationResponse> {
    return { data: await this.destinations.setActive(caller.organizationId, id, true) };
  }

  /**
   * Write a test event to a destination
   *
   * @remarks Connects, writes one `webhook.test` event and waits for its acknowledgement, ten seconds or so at the most. The answer says
   * whether that worked, also while the destination is paused.
   */
  @Post(':id/test')
  @HttpCode(200)
  @RequireScope('webhooks:write')
  @ApiOkResponse({ type: DestinationTestResponse, description: 'Tried; `written` says with which outcome.' })
  @ApiErrors('DESTINATION_NOT_FOUND')
  async test(@CurrentCaller() caller: Caller, @DestinationId() id: string): Promise<DestinationTestResponse> {
    return { data: await this.destinations.test(caller.organizationId, id) };
  }

  /**
   * Write events of a destination again
   *
   * @remarks Goes back to a time: everything that Herald keeps of then and later is written again, in its order and under the same ids, then
   * what waits. A broker that removes duplicates by id, as SQS FIFO does for five minutes, may leave out what it got shortly before.
   */
  @Post(':id/replay')
  @HttpCode(200)
  @RequireScope('webhooks:write')
  @Changed()
  async replay(
    @CurrentCaller() caller: Caller,
    @DestinationId() id: string,
    @Body() { since }: ReplayDestinationRequest,
  ): Promise<DestinationResponse> {
    return { data: await this.destinations.replay(caller.organizationId, id, new Date(since)) };
  }
}
