import { Injectable, Logger } from '@nestjs/common';
import { commonErrors } from '../../common/common.errors.js';
import { describeError } from '../../common/describe-error.js';
import { newId } from '../../common/ids.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { TargetChecker } from './address/target-checker.js';
import { DeliveriesRepository, type Delivery, type DeliveryFilter, type QueuedEvent } from './deliveries.repository.js';
import { WebhookDispatcher } from './dispatch/webhook-dispatcher.js';
import { EndpointDirectory } from './endpoint-directory.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { EndpointsRepository, type Endpoint, type EndpointSettings } from './endpoints.repository.js';
import { webhookErrors } from './webhook.errors.js';

/** An endpoint as its workspace sees it. */
export interface WebhookView {
  endpoint: Endpoint;
  /** The last 50 attempts, newest first. */
  recent: Delivery[];
  /** Plain, only just after it was made. */
  secret: string | null;
}

export interface DeliveryPage {
  deliveries: Delivery[];
  /** The last of the page where more follow, else null. */
  next: Delivery | null;
}

const RECENT: DeliveryFilter = { limit: 50, before: null, beforeId: null, status: null, eventType: null };
const TEST_DATA = { note: 'This is a test event. It tells of nothing that happened.' };

/** The workspace's webhook: one endpoint, its secret, its deliveries. */
@Injectable()
export class WebhookService {
  private readonly logger = new Logger(WebhookService.name);

  constructor(
    private readonly endpoints: EndpointsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly directory: EndpointDirectory,
    private readonly secrets: EndpointSecrets,
    private readonly checker: TargetChecker,
    private readonly dispatcher: WebhookDispatcher,
    private readonly counters: Counters,
  ) {}

  /**
   * Says, after the commit, that events of these workspaces may be due. Never throws and is never awaited; does nothing
   * for workspaces without an endpoint. A wake that gets lost is made up for by the sweep within a second.
   */
  wake(organizationIds: Iterable<string>): void {
    this.directory
      .each(organizationIds, (endpointId) => this.dispatcher.wake(endpointId))
      .catch(() => this.counters.increment('webhook_wakes_failed'));
  }

  /** @throws WEBHOOK_NOT_FOUND (404). */
  async get(organizationId: string): Promise<WebhookView> {
    return this.viewOf(await this.endpointOf(organizationId), null);
  }

  /**
   * Makes the workspace's webhook, or changes it; a change keeps the secret and ends a disablement.
   *
   * @throws WEBHOOK_URL_NOT_ALLOWED (400), INVALID_REQUEST (400) for what is no URL.
   */
  async put(organizationId: string, settings: EndpointSettings): Promise<WebhookView> {
    const url = await this.checkedUrl(organizationId, settings.url);
    const { plain, sealed } = this.secrets.make(organizationId);
    const { created, endpoint } = await this.endpoints.put(organizationId, newId(), { ...settings, url }, sealed);
    if (!created) {
      this.dispatcher.wake(endpoint.id);
      return this.viewOf(endpoint, null);
    }
    // The secret is shown once: what comes after the commit must not keep it from its owner. A cache that was not told
    // forgets by itself, and there are no deliveries yet.
    await this.directory.changed(organizationId).catch((error: unknown) => {
      this.logger.warn(`other processes were not told of a new webhook: ${describeError(error)}`);
    });
    return { endpoint, recent: [], secret: plain };
  }

  /** Deletes the webhook and the events that wait for it. @throws WEBHOOK_NOT_FOUND (404). */
  async remove(organizationId: string): Promise<void> {
    if (!(await this.removeIfAny(organizationId))) throw webhookErrors.WEBHOOK_NOT_FOUND();
  }

  /** As `remove`; false where there is none. */
  async removeIfAny(organizationId: string): Promise<boolean> {
    const removed = await this.endpoints.remove(organizationId);
    if (removed !== null) await this.directory.changed(organizationId);
    return removed !== null;
  }

  /** Queues a test event on the way of all events. @throws WEBHOOK_NOT_FOUND (404). */
  async sendTest(organizationId: string): Promise<QueuedEvent> {
    const event = await this.deliveries.insertTest(organizationId, TEST_DATA);
    if (event === null) throw webhookErrors.WEBHOOK_NOT_FOUND();
    this.dispatcher.wake(event.endpointId);
    return event;
  }

  /** Replaces the secret; the old one signs for 24 hours more. @throws WEBHOOK_NOT_FOUND (404). */
  async rotateSecret(organizationId: string): Promise<WebhookView> {
    const { plain, sealed } = this.secrets.make(organizationId);
    if (!(await this.endpoints.rotate(organizationId, sealed))) throw webhookErrors.WEBHOOK_NOT_FOUND();
    return this.viewOf(await this.endpointOf(organizationId), plain);
  }

  /** @throws WEBHOOK_NOT_FOUND (404). */
  async listDeliveries(organizationId: string, filter: DeliveryFilter): Promise<DeliveryPage> {
    const endpoint = await this.endpointOf(organizationId);
    const found = await this.deliveries.list(organizationId, endpoint.id, { ...filter, limit: filter.limit + 1 });
    const deliveries = found.slice(0, filter.limit);
    return { deliveries, next: found.length > filter.limit ? (deliveries.at(-1) ?? null) : null };
  }

  /** Delivers the event of a delivery again, under its id. @throws WEBHOOK_DELIVERY_NOT_FOUND (404). */
  async replay(organizationId: string, deliveryId: string): Promise<QueuedEvent> {
    const event = await this.deliveries.replay(organizationId, deliveryId);
    if (event === null) throw webhookErrors.WEBHOOK_DELIVERY_NOT_FOUND();
    this.dispatcher.wake(event.endpointId);
    return event;
  }

  private async checkedUrl(organizationId: string, raw: string): Promise<string> {
    const check = await this.checker.check(raw);
    if (check.ok) return check.url;
    const { reason, message } = check;
    if (reason === 'malformed') {
      throw commonErrors.INVALID_REQUEST({ details: [{ field: 'url', rule: 'format', message }] });
    }
    // Who wants to pause a webhook must not be kept from it by the name that has just died.
    const stored = reason === 'unresolvable' ? (await this.endpoints.find(organizationId))?.url : undefined;
    if (stored !== undefined && new URL(raw).href === stored) return stored;
    throw webhookErrors.WEBHOOK_URL_NOT_ALLOWED({ reason, message });
  }

  private async endpointOf(organizationId: string): Promise<Endpoint> {
    const endpoint = await this.endpoints.find(organizationId);
    if (endpoint === null) throw webhookErrors.WEBHOOK_NOT_FOUND();
    return endpoint;
  }

  private async viewOf(endpoint: Endpoint, secret: string | null): Promise<WebhookView> {
    const recent = await this.deliveries.list(endpoint.organizationId, endpoint.id, RECENT);
    return { endpoint, recent, secret };
  }
}
