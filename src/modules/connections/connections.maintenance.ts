import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import { mapAtOnce } from '../../common/map-at-once.js';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { inBatches, Sweeps } from '../../infrastructure/queue/sweeps.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { Metrics } from '../../infrastructure/operations/metrics/metrics.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { isTokenRefused } from '../../infrastructure/whatsapp/platform-result.js';
import { ConnectionsRepository, FACTS_ARE_DUE, FACTS_EVERY_SECONDS } from './connections.repository.js';
import { ConnectionsService, tokenPlace } from './connections.service.js';
import { factsOf } from './platform-facts.js';

const EVERY_MS = 5_000;
/** Limits of concurrent requests: numbers of one workspace, and workspaces. */
const NUMBERS_AT_ONCE = 2;
const WORKSPACES_AT_ONCE = 4;

/**
 * Queries WhatsApp about each number hourly, and soon after a reported change. Stops the sending of a deleted
 * workspace, and lists the sealed tokens for the rotation of encryption keys.
 */
@Injectable()
export class ConnectionsMaintenance implements OnModuleInit {
  private readonly logger = new Logger(ConnectionsMaintenance.name);

  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly connections: ConnectionsService,
    private readonly client: CloudApiClient,
    private readonly sweeps: Sweeps,
    private readonly workspaces: WorkspaceErasure,
    private readonly counters: Counters,
    private readonly metrics: Metrics,
    rotation: SecretRotation,
  ) {
    rotation.add({
      table: 'connection',
      column: 'token_ciphertext',
      place: (id, organizationId) => tokenPlace({ id, organizationId }),
    });
  }

  onModuleInit(): void {
    this.metrics.add({
      name: 'connections_payment_missing',
      help: 'Numbers whose account has no valid payment method: WhatsApp refuses what it charges for.',
      collect: async () => [{ value: (await this.connections.payments()).missing }],
    });
    this.metrics.add({
      name: 'connections_service_charged',
      help: 'Numbers whose free service messages of this month are used up.',
      collect: async () => [{ value: (await this.connections.payments()).charged }],
    });
    this.sweeps.addInTurns({
      name: 'connection_facts',
      everyMs: EVERY_MS,
      waitsFor: [{ table: 'connection', column: 'facts_due_at', mostAhead: `${FACTS_EVERY_SECONDS}` }],
      rows: [{ table: 'connection', where: FACTS_ARE_DUE }],
      atOnce: WORKSPACES_AT_ONCE,
      turn: (organizationId, signal) =>
        inBatches(signal, NUMBERS_AT_ONCE, (limit) => this.refreshDue(organizationId, limit)),
    });
    this.workspaces.add({
      stop: async (organizationId) => {
        for (const { id } of await this.connections.list(organizationId)) {
          await this.connections.disconnect(organizationId, id);
        }
      },
    });
  }

  private async refreshDue(organizationId: string, limit: number): Promise<number> {
    const waiting = await this.repository.takeDue(organizationId, limit);
    await mapAtOnce(waiting, limit, async (id) => {
      // An error with one number, such as a token that can't be decrypted, must not block the others.
      const problem = await this.refresh(id).catch(describeError);
      if (problem === null) return;
      this.counters.increment('connection_facts_failed');
      this.logger.warn(`connection ${id}: ${problem}`);
    });
    return waiting.length;
  }

  /**
   * Queries WhatsApp about one number. Without an answer in time the number stays unchanged.
   *
   * @returns what went wrong, in words.
   */
  private async refresh(id: string): Promise<string | null> {
    const connection = await this.connections.forSending(id);
    if (connection === null) return null;
    const answer = await this.client.getPhoneNumber(connection.phoneNumberId, connection.token);
    if (answer.ok) {
      const marketing = await this.client.getMarketingStatus(connection.wabaId, connection.token);
      await this.connections.keepFacts(connection, factsOf(answer.body, marketing));
      return null;
    }
    if (isTokenRefused(answer)) await this.connections.tokenRefused(connection);
    else return `the platform did not describe the number (${answer.message})`;
    return null;
  }
}
