import { pageOf } from '../../infrastructure/http/pagination.response.js';
import { Injectable, Logger } from '@nestjs/common';
import { type ErrorDetail, fieldPath } from '../../common/app-error.js';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import { describeError } from '../../common/describe-error.js';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { newId } from '../../common/ids.js';
import { cursorOf, periodOf } from '../../infrastructure/http/page.query.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import { DemoReceivers } from './address/demo-receivers.service.js';
import { TargetChecker } from './address/target-checker.js';
import { DeliveriesRepository, type QueuedEvent } from './deliveries.repository.js';
import { webhookLaneOf } from './dispatch/dispatch.repository.js';
import { WebhookProcessor } from './dispatch/webhook.processor.js';
import { exampleOf } from './dto/event.docs.js';
import {
  WebhookWithSecretResponse,
  type DeliveriesResponse,
  type ListDeliveriesRequest,
  type QueuedEventResponse,
} from './dto/webhook.dto.js';
import { cursorText } from '../../infrastructure/events/event-cursor.js';
import { isReadableWith, type DeliveryWithEvent } from './events/events.dto.js';
import type { Caller } from '../keys/caller.decorator.js';
import { WebhookRepository, type EndpointSettings } from './webhook.repository.js';
import type { WebhookEndpointEntity } from './entities/webhook-endpoint.entity.js';
import { EndpointSecrets, headerViolations } from './webhook-secrets.js';
import { webhookErrors } from './webhook.errors.js';
import { TEST_EVENT, type EventType, type MessageEventDelivery } from './webhook.types.js';

const INVALIDATION = 'webhook';
// A stale entry costs a wake that finds nothing, or a missed wake, for which the sweep makes up within a second.
const CACHE = { ttlMs: 30_000, maxEntries: 100_000, keep: () => true };
const RECENT = { limit: 50 };

/** The workspace's webhook: one endpoint, its secret, its deliveries. */
@Injectable()
export class WebhookService {
  private readonly logger = new Logger(WebhookService.name);
  /** By workspace; null: it has none. Read after every change of a message. */
  private readonly endpointIds = new ExpiringCache<string, string | null>(CACHE);

  constructor(
    private readonly endpoints: WebhookRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly invalidation: PgNotifier,
    private readonly secrets: EndpointSecrets,
    private readonly checker: TargetChecker,
    private readonly demo: DemoReceivers,
    private readonly processor: WebhookProcessor,
    private readonly counters: Counters,
    private readonly tracing: Tracing,
  ) {
    const { endpointIds } = this;
    invalidation.on(INVALIDATION, (id) => (id === null ? endpointIds.clear() : endpointIds.delete(id)));
  }

  /**
   * Call it after the commit: events of these workspaces may be due. Never throws and is never awaited; does nothing
   * for workspaces without an endpoint. The sweep makes up for a lost wake within a second.
   */
  wake(organizationIds: Iterable<string>): void {
    const unknown = new Set<string>();
    for (const organizationId of organizationIds) {
      const known = this.endpointIds.peek(organizationId);
      if (known === undefined) unknown.add(organizationId);
      else if (known !== null) this.wakeEndpoint(known);
    }
    if (unknown.size === 0) return;
    this.wakeUnknown([...unknown]).catch(() => this.counters.increment('webhook_wakes_failed'));
  }

  /** @throws WEBHOOK_NOT_FOUND (404). */
  async get(organizationId: string): Promise<WebhookWithSecretResponse> {
    return this.viewOf(await this.endpointOf(organizationId), null);
  }

  /**
   * Creates the workspace's webhook, or changes it; a change keeps the secret and enables a disabled webhook.
   *
   * @throws WEBHOOK_URL_NOT_ALLOWED (400), INVALID_REQUEST (400) for a malformed URL or header,
   * WEBHOOK_CONNECTION_NOT_FOUND (404), RATE_LIMITED (429).
   */
  async put(organizationId: string, settings: EndpointSettings): Promise<WebhookWithSecretResponse> {
    const violations = headerViolations(settings.headers ?? {});
    if (violations.length > 0) throw commonErrors.INVALID_REQUEST({ details: violations });
    await this.requireConnections(organizationId, settings.connectionIds ?? []);
    const url = await this.checkedUrl(organizationId, settings.url);
    const { plain, sealed } = this.secrets.make(organizationId, settings.secret);
    const { created, endpoint } = await this.endpoints.put(organizationId, newId(), { ...settings, url }, sealed);
    if (!created) {
      this.wakeEndpoint(endpoint.id);
      return this.viewOf(endpoint, null);
    }
    // The secret is shown once, so a failure after the commit must not prevent the answer. A cache that misses the
    // notice expires, and there are no deliveries yet.
    await this.endpointChanged(organizationId).catch((error: unknown) => {
      this.logger.warn(`other processes got no notice of a new webhook: ${describeError(error)}`);
    });
    return WebhookWithSecretResponse.of(endpoint, [], plain);
  }

  /** Deletes the webhook and the events that wait for it; false where there is none. */
  async remove(organizationId: string): Promise<boolean> {
    const removed = await this.endpoints.remove(organizationId);
    if (removed !== null) await this.endpointChanged(organizationId);
    return removed !== null;
  }

  /** Queues a test event like every other event. @throws WEBHOOK_NOT_FOUND (404). */
  async sendTest(organizationId: string, type: EventType): Promise<QueuedEventResponse> {
    const data = type === TEST_EVENT ? exampleOf(type) : { ...exampleOf(type), test: true };
    const event = await this.deliveries.insertTest(organizationId, type, data, this.tracing.currentContext);
    if (event === null) throw webhookErrors.WEBHOOK_NOT_FOUND();
    return this.queued(event);
  }

  /** Replaces the secret; the old one signs for 24 hours more. @throws WEBHOOK_NOT_FOUND (404), RATE_LIMITED (429). */
  async rotateSecret(organizationId: string): Promise<WebhookWithSecretResponse> {
    const { plain, sealed } = this.secrets.make(organizationId);
    if (!(await this.endpoints.rotate(organizationId, sealed))) throw webhookErrors.WEBHOOK_NOT_FOUND();
    return this.viewOf(await this.endpointOf(organizationId), plain);
  }

  /** @throws WEBHOOK_NOT_FOUND (404). */
  async listDeliveries(organizationId: string, request: ListDeliveriesRequest): Promise<DeliveriesResponse> {
    const { limit, status, event_type: eventType, event_id: eventId } = request;
    const filter = { ...cursorOf(request), ...periodOf(request), limit: limit + 1, status, eventType, eventId };
    const endpoint = await this.endpointOf(organizationId);
    const found = await this.deliveries.list(organizationId, endpoint.id, filter);
    const { rows, pagination } = pageOf(found, limit, ({ created_at: createdAt }) => createdAt);
    return { data: rows, pagination };
  }

  /** With its event, if the caller's scopes allow it. @throws WEBHOOK_DELIVERY_NOT_FOUND (404). */
  async getDelivery({ organizationId, scopes }: Caller, id: string): Promise<DeliveryWithEvent> {
    const found = await this.deliveries.find(organizationId, id);
    if (found === null) throw webhookErrors.WEBHOOK_DELIVERY_NOT_FOUND();
    const { identity, event, occurredAt, ...delivery } = found;
    const { event_id: eventId, event_type: type } = delivery;
    if (event === null || occurredAt === null || !isReadableWith(scopes, type)) return { ...delivery, event: null };
    const { data, transaction } = event;
    const cursor = cursorText({ kind: 'event', transaction, id: eventId }, { owner: organizationId, identity });
    const envelope = { id: eventId, type, created_at: occurredAt, organization_id: organizationId, cursor, data };
    return { ...delivery, event: envelope };
  }

  /** The stored events about a message's changes: see `DeliveriesRepository.ofMessage`. */
  deliveriesOfMessage(organizationId: string, messageId: string): Promise<MessageEventDelivery[]> {
    return this.deliveries.ofMessage(organizationId, messageId);
  }

  /** Delivers the event of a delivery again, under its id. @throws WEBHOOK_DELIVERY_NOT_FOUND (404). */
  async replay(organizationId: string, deliveryId: string): Promise<QueuedEventResponse> {
    const event = await this.deliveries.replay(organizationId, deliveryId);
    if (event === null) throw webhookErrors.WEBHOOK_DELIVERY_NOT_FOUND();
    return this.queued(event);
  }

  private async wakeUnknown(organizationIds: readonly string[]): Promise<void> {
    const readAt = performance.now();
    const found = await this.endpoints.idsOf(organizationIds);
    for (const organizationId of organizationIds) {
      const endpointId = found.get(organizationId) ?? null;
      this.endpointIds.set(organizationId, endpointId, readAt);
      if (endpointId !== null) this.wakeEndpoint(endpointId);
    }
  }

  private wakeEndpoint(endpointId: string): void {
    this.processor.wake(webhookLaneOf(endpointId));
  }

  /** Called when the workspace got an endpoint, or lost it. */
  private async endpointChanged(organizationId: string): Promise<void> {
    this.endpointIds.delete(organizationId);
    await this.invalidation.publish(INVALIDATION, organizationId);
  }

  private queued({ endpoint_id: endpointId, ...data }: QueuedEvent): QueuedEventResponse {
    this.wakeEndpoint(endpointId);
    return { data };
  }

  private async requireConnections(organizationId: string, ids: readonly string[]): Promise<void> {
    const details = await this.unknownConnections(organizationId, ids);
    if (details.length > 0) throw webhookErrors.WEBHOOK_CONNECTION_NOT_FOUND({ details });
  }

  /** A violation for each of `connection_ids` that is not a number of the workspace. */
  async unknownConnections(organizationId: string, ids: readonly string[]): Promise<ErrorDetail[]> {
    const unknown = new Set(ids.length === 0 ? [] : await this.endpoints.unknownConnections(organizationId, ids));
    const message = 'The workspace has no number with this id.';
    return ids.flatMap((id, n) =>
      unknown.has(id) ? [{ field: fieldPath('connection_ids', n), rule: 'unknown', message }] : [],
    );
  }

  private async checkedUrl(organizationId: string, raw: string): Promise<string> {
    if (this.demo.isAllowed(organizationId, raw)) return raw;
    const check = await this.checker.check(raw);
    if (check.ok) return check.url;
    const { reason, message } = check;
    if (reason === 'malformed') throw invalidField('url', 'format', message);
    // A caller who wants to pause a webhook must be able to, even if its host name no longer resolves.
    const stored = reason === 'unresolvable' ? (await this.endpoints.find(organizationId))?.url : undefined;
    if (stored !== undefined && new URL(raw).href === stored) return stored;
    const hint = this.demo.hintFor(organizationId, raw);
    throw webhookErrors.WEBHOOK_URL_NOT_ALLOWED({ reason, message: hint === null ? message : `${message} ${hint}` });
  }

  private async endpointOf(organizationId: string): Promise<WebhookEndpointEntity> {
    const endpoint = await this.endpoints.find(organizationId);
    if (endpoint === null) throw webhookErrors.WEBHOOK_NOT_FOUND();
    return endpoint;
  }

  private async viewOf(endpoint: WebhookEndpointEntity, secret: string | null): Promise<WebhookWithSecretResponse> {
    const recent = await this.deliveries.list(endpoint.organizationId, endpoint.id, RECENT);
    return WebhookWithSecretResponse.of(endpoint, recent, secret);
  }
}
