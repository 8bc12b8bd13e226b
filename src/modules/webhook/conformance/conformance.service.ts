import { Injectable, Logger } from '@nestjs/common';
import { describeError } from '../../../common/describe-error.js';
import { newId } from '../../../common/ids.js';
import { RateLimiter } from '../../../infrastructure/rates/rate-limiter.js';
import { ratesErrors } from '../../../infrastructure/rates/rates.errors.js';
import { DemoReceivers } from '../address/demo-receivers.service.js';
import { DeliveryClient } from '../delivery-client.js';
import { PLAIN_HEADERS } from '../dispatch/webhook.processor.js';
import { EventsService } from '../events/events.service.js';
import { WebhookRepository, type SigningEndpoint } from '../webhook.repository.js';
import { webhookErrors } from '../webhook.errors.js';
import { EndpointSecrets } from '../webhook-secrets.js';
import { EXAMPLE_CURSOR } from '../dto/event.docs.js';
import { runConformance } from './conformance.js';
import type { ConformanceReport, Post, ProbeAnswer } from './conformance.types.js';

/** Rate limit of runs: each makes over thirty deliveries to an address that the caller chose. */
const RUNS = { ratePerSecond: 1 / 60, burst: 3 };

/** Sends a workspace's receiver every kind of delivery, and checks its answers. */
@Injectable()
export class ConformanceService {
  private readonly logger = new Logger(ConformanceService.name);

  constructor(
    private readonly endpoints: WebhookRepository,
    private readonly secrets: EndpointSecrets,
    private readonly events: EventsService,
    private readonly client: DeliveryClient,
    private readonly demo: DemoReceivers,
    private readonly limiter: RateLimiter,
  ) {}

  /** @throws WEBHOOK_NOT_FOUND (404), RATE_LIMITED (429). */
  async run(organizationId: string): Promise<ConformanceReport> {
    const endpoint = await this.endpoints.findSigning(organizationId);
    if (endpoint === null) throw webhookErrors.WEBHOOK_NOT_FOUND();
    const { allowed, resetSeconds } = await this.limiter.take(`webhook_verify ${organizationId}`, RUNS);
    if (!allowed) throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: resetSeconds, scope: 'webhook_verify' });
    const secrets = this.secretsOf(endpoint);
    const own = this.secrets.openHeaders(organizationId, endpoint.id, endpoint.headers);
    const client = this.demo.clientFor(organizationId, endpoint.url) ?? this.client;
    const cursor = await this.events.endOf(organizationId);
    return runConformance(
      { organizationId, secrets, cursor },
      async (signature, body, signal): Promise<ProbeAnswer> => {
        const headers = { ...own, ...PLAIN_HEADERS, ...signature };
        const result = await client.deliver({ url: endpoint.url, headers, body, endpoint: endpoint.id, signal });
        const { durationMs } = result;
        return result.kind === 'answered' ? { status: result.status, durationMs } : { error: result.error, durationMs };
      },
    );
  }

  /** The secrets that deliveries use. @throws Error where the current one cannot be opened. */
  private secretsOf({ id: endpointId, organizationId, secrets }: SigningEndpoint): string[] {
    return secrets.flatMap(({ id, sealed }, index) => {
      try {
        return this.secrets.open(organizationId, id, sealed);
      } catch (error) {
        if (index === 0) throw error;
        this.logger.error(`endpoint ${endpointId}: a replaced secret cannot be used: ${describeError(error)}`);
        return [];
      }
    });
  }
}

/** The same for a program on the machine of the command line; it has no workspace. */
export function checkLocalReceiver(secret: string, post: Post): Promise<ConformanceReport> {
  return runConformance({ organizationId: newId(), secrets: [secret], cursor: EXAMPLE_CURSOR }, post);
}
