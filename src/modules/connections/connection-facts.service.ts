import { describeError } from '../../common/describe-error.js';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Sweeps } from '../../infrastructure/lanes/sweeps.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { isTokenRefused } from '../../infrastructure/whatsapp/platform-fault.js';
import { ConnectionsRepository } from './connections.repository.js';
import { ConnectionsService } from './connections.service.js';
import { factsOf } from './platform-facts.js';

const EVERY_MS = 5_000;
const NUMBERS_A_ROUND = 40;
const AT_ONCE = 4;

/** Keeps what we know of the numbers true: asks the platform hourly, and soon after it told that something changed. */
@Injectable()
export class ConnectionFactsService implements OnModuleInit {
  private readonly logger = new Logger(ConnectionFactsService.name);

  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly connections: ConnectionsService,
    private readonly client: CloudApiClient,
    private readonly sweeps: Sweeps,
    private readonly counters: Counters,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'connection_facts',
      everyMs: EVERY_MS,
      waitsFor: [{ table: 'connection', column: 'facts_due_at' }],
      run: (signal) => this.refreshDue(signal),
    });
  }

  /** Asks the platform about one number. What it does not answer, or not in time, leaves the number as it is. */
  async refresh(id: string): Promise<void> {
    const connection = await this.connections.forSending(id);
    if (connection === null) return;
    const answer = await this.client.getPhoneNumber(connection.phoneNumberId, connection.token);
    if (answer.ok) {
      await this.connections.keepFacts(connection, factsOf(answer.body));
    } else if (isTokenRefused(answer)) {
      await this.connections.tokenRefused(connection);
    } else {
      this.counters.increment('connection_facts_failed');
      this.logger.warn(`connection ${id}: the platform did not describe the number (${answer.message})`);
    }
  }

  private async refreshDue(signal: AbortSignal): Promise<number> {
    const due = await this.repository.takeDue(NUMBERS_A_ROUND);
    const waiting = due.map(({ id }) => id);
    const work = async (): Promise<void> => {
      for (let id = waiting.shift(); id !== undefined && !signal.aborted; id = waiting.shift()) {
        await this.refreshSafely(id);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return due.length;
  }

  /** One number's fault, such as a token that can't be decrypted, must not keep the others from being asked. */
  private async refreshSafely(id: string): Promise<void> {
    try {
      await this.refresh(id);
    } catch (error) {
      this.counters.increment('connection_facts_failed');
      this.logger.warn(`connection ${id}: ${describeError(error)}`);
    }
  }
}
