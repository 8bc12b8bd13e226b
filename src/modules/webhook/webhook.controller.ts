import { Body, Controller, Delete, Get, HttpCode, Post, Put, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_DELIVERY_ID } from '../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { ReadsMayBeLate } from '../../infrastructure/http/late-reads.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { ConformanceResponse } from './conformance/conformance.dto.js';
import { ConformanceService } from './conformance/conformance.service.js';
import './dto/event.docs.js';
import {
  ConfigureWebhookRequest,
  DeliveriesResponse,
  ListDeliveriesRequest,
  QueuedEventResponse,
  TestWebhookRequest,
  WebhookResponse,
  WebhookWithSecretResponse,
} from './dto/webhook.dto.js';
import { SingleDeliveryResponse } from './events/events.dto.js';
import { webhookErrors } from './webhook.errors.js';
import { WebhookService } from './webhook.service.js';

const DeliveryId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: webhookErrors.WEBHOOK_DELIVERY_NOT_FOUND,
    description: 'Id of a delivery attempt, from GET /webhook/deliveries.',
    example: EXAMPLE_DELIVERY_ID,
  });

@ApiTags('Webhook')
@Controller('webhook')
export class WebhookController {
  constructor(
    private readonly webhook: WebhookService,
    private readonly conformance: ConformanceService,
  ) {}

  /**
   * Read the webhook and its recent deliveries
   *
   * @remarks The signing secret is not shown; `secret_hint` distinguishes secrets.
   */
  @Get()
  @RequireScope('webhooks:read')
  @ApiOkResponse({ type: WebhookResponse, description: 'The webhook.' })
  @ApiErrors('WEBHOOK_NOT_FOUND')
  async get(@CurrentCaller() caller: Caller): Promise<WebhookResponse> {
    return this.webhook.get(caller.organizationId);
  }

  /**
   * Set the webhook
   *
   * @remarks A workspace has one webhook. The first call creates it, and only its answer contains the signing `secret`,
   * which Herald makes where the call brings none; later calls change it and keep the secret, also where the URL changes. A webhook that was disabled works again
   * after any call that does not pause it, and what waited for it goes out.
   *
   * What is left out stays as it is; empty `connection_ids` choose all numbers, empty `headers` none.
   * Headers do not follow the webhook to another scheme, host or port: give them again with such an address.
   *
   * Deliveries follow Standard Webhooks (standardwebhooks.com): verify each with one of its libraries, from the raw
   * body. Any 2xx within ten seconds is success. Otherwise the event comes again after 5 s, 30 s, 2 min, 10 min, 30 min,
   * 2 h, 5 h, 10 h and 10 h, each ±20 %, or after the time in `Retry-After` where that is longer, up to an hour. Answer
   * 410 to be disabled at once; five days without one success disable the webhook as well. Redirects are not followed.
   * The same event may come twice, and events may overtake each other: compare `id` and `data.sequence`.
   *
   * A workspace has sixty calls at once that make or change its webhook, and one more each minute; beyond that the
   * answer is 429 with `scope: "webhook_changes"`. Calls that change nothing do not count, and DELETE is always free.
   */
  @Put()
  @RequireScope('webhooks:write')
  @ApiOkResponse({ type: WebhookWithSecretResponse, description: 'The webhook, with `secret` where it is new.' })
  @ApiErrors('WEBHOOK_URL_NOT_ALLOWED', 'WEBHOOK_SECRET_DIFFERS', 'WEBHOOK_CONNECTION_NOT_FOUND', 'RATE_LIMITED')
  async put(
    @CurrentCaller() caller: Caller,
    @Body() body: ConfigureWebhookRequest,
  ): Promise<WebhookWithSecretResponse> {
    const { url, active, headers, secret } = body;
    const events = body.events && [...new Set(body.events)];
    const connectionIds = body.connection_ids && [...new Set(body.connection_ids.map((id) => id.toLowerCase()))];
    return this.webhook.put(caller.organizationId, { url, events, active, connectionIds, headers, secret });
  }

  /**
   * Delete the webhook
   *
   * @remarks Events that wait are dropped. A webhook set later has a new secret.
   */
  @Delete()
  @HttpCode(204)
  @RequireScope('webhooks:write')
  @ApiNoContentResponse({ description: 'Deleted.' })
  @ApiErrors('WEBHOOK_NOT_FOUND')
  async remove(@CurrentCaller() caller: Caller): Promise<void> {
    if (!(await this.webhook.remove(caller.organizationId))) throw webhookErrors.WEBHOOK_NOT_FOUND();
  }

  /**
   * Send a test event
   *
   * @remarks A `webhook.test` event takes the way of all events: signed, repeated, logged. It is sent whatever kinds
   * the webhook has chosen. Find its outcome by `event_id` in GET /webhook/deliveries.
   *
   * With `type` the event is one of that kind, so that you can try how your receiver takes it: its data is the example
   * of this description, marked by `test: true`.
   */
  @Post('test')
  @HttpCode(202)
  @RequireScope('webhooks:write')
  @ApiAcceptedResponse({ type: QueuedEventResponse, description: 'Queued.' })
  @ApiErrors('WEBHOOK_NOT_FOUND')
  async test(@CurrentCaller() caller: Caller, @Body() { type }: TestWebhookRequest): Promise<QueuedEventResponse> {
    return this.webhook.sendTest(caller.organizationId, type);
  }

  /**
   * Check the receiver
   *
   * @remarks Posts everything that may ever come to the address of the webhook, and says what the receiver did wrong and how to mend
   * it: an event of each kind, repeats, events out of order, two signatures as after a rotation, a large body, kinds and fields that do
   * not exist yet, and forgeries, which it must refuse: another secret, a changed body, no signature, a time that is too
   * old or ahead. Every event has `test: true` in its data.
   *
   * The deliveries are made at once, each with the limits and the checks of the address that all deliveries have, also while the
   * webhook is paused; they are not in GET /webhook/deliveries, and change nothing about the webhook. The answer comes within 25
   * seconds; what was not tried by then is `not_run`. A workspace has three runs at once and one more each minute; beyond that the
   * answer is 429 with `scope: "webhook_verify"`.
   */
  @Post('verify')
  @HttpCode(200)
  @RequireScope('webhooks:write')
  @ApiOkResponse({ type: ConformanceResponse, description: 'What the receiver did.' })
  @ApiErrors('WEBHOOK_NOT_FOUND', 'RATE_LIMITED')
  async verify(@CurrentCaller() { organizationId }: Caller): Promise<ConformanceResponse> {
    return { data: await this.conformance.run(organizationId) };
  }

  /**
   * Replace the signing secret
   *
   * @remarks The new `secret` is shown only once, in this answer. For 24 hours every delivery is signed with the
   * replaced secret as well, so that you can change over without losing one. A workspace has twenty rotations at once
   * and one more each three minutes; beyond that the answer is 429 with `scope: "webhook_changes"`.
   */
  @Post('rotate-secret')
  @HttpCode(200)
  @RequireScope('webhooks:write')
  @ApiOkResponse({ type: WebhookWithSecretResponse, description: 'The webhook with its new `secret`.' })
  @ApiErrors('WEBHOOK_NOT_FOUND', 'RATE_LIMITED')
  async rotateSecret(@CurrentCaller() caller: Caller): Promise<WebhookWithSecretResponse> {
    return this.webhook.rotateSecret(caller.organizationId);
  }

  /**
   * List delivery attempts
   *
   * @remarks Newest first. For the next page pass `next_before` and `next_before_id` of the answer as `before` and
   * `before_id`; both are null on the last page. Attempts are kept for 30 days, unless the installation says otherwise.
   */
  @Get('deliveries')
  @RequireScope('webhooks:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: DeliveriesResponse, description: 'One page.' })
  @ApiErrors('WEBHOOK_NOT_FOUND')
  async deliveries(
    @CurrentCaller() caller: Caller,
    @Query() query: ListDeliveriesRequest,
  ): Promise<DeliveriesResponse> {
    return this.webhook.listDeliveries(caller.organizationId, query);
  }

  /**
   * Read a delivery attempt
   *
   * @remarks One entry of GET /webhook/deliveries, with the `event` that was sent. What your receiver answered is not kept, apart
   * from its status.
   */
  @Get('deliveries/:id')
  @RequireScope('webhooks:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: SingleDeliveryResponse, description: 'The attempt.' })
  @ApiErrors('WEBHOOK_DELIVERY_NOT_FOUND')
  async delivery(@CurrentCaller() caller: Caller, @DeliveryId() id: string): Promise<SingleDeliveryResponse> {
    return { data: await this.webhook.getDelivery(caller, id) };
  }

  /**
   * Deliver an event again
   *
   * @remarks Queues the event of this delivery attempt once more, under the same `id` and with all its attempts, whether
   * it was delivered, exhausted or still waits for its next attempt.
   */
  @Post('deliveries/:id/replay')
  @HttpCode(202)
  @RequireScope('webhooks:write')
  @ApiAcceptedResponse({ type: QueuedEventResponse, description: 'Queued.' })
  @ApiErrors('WEBHOOK_DELIVERY_NOT_FOUND')
  async replay(@CurrentCaller() caller: Caller, @DeliveryId() id: string): Promise<QueuedEventResponse> {
    return this.webhook.replay(caller.organizationId, id);
  }
}
