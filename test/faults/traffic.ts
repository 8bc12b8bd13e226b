import { randomUUID } from 'node:crypto';
import { pause, waitFor } from '../support/rig/wait.js';
import type { FaultStage } from './fault-stage.js';
import { randomBetween } from './scenario.js';

export interface TrafficOptions {
  callers: number;
  /** So many messages at least, however soon it is ended. */
  least: number;
  /** So many at most, however long the faults take. */
  most: number;
  /** Recipients of each lane that take turns. */
  recipients: number;
  /** Mean pause of a caller between two messages. */
  betweenMs: number;
  /** Every request is repeated once it was answered, and must get the same answer. */
  twice?: boolean;
}

/** Callers that send to every lane in turn until they are stopped, each request with a key of its own. */
export class Traffic {
  readonly messageOfKey = new Map<string, string>();
  readonly violations: string[] = [];
  /** @see FaultReport.late */
  readonly late: string[] = [];
  attempted = 0;
  /** Answered only after a repeat. */
  repeated = 0;
  private ending = false;
  private readonly callers: Promise<unknown>;

  constructor(
    private readonly stage: FaultStage,
    private readonly options: TrafficOptions,
  ) {
    this.callers = Promise.all(Array.from({ length: options.callers }, () => this.call()));
    this.callers.catch(() => undefined); // awaited in `end`; until then a failure must not end the process
  }

  get acknowledged(): string[] {
    return [...this.messageOfKey.values()];
  }

  /** Lets every caller get its answer; resolves with the (monotonic) time of the last. @throws what a caller threw */
  async end(): Promise<number> {
    this.ending = true;
    await this.callers;
    return performance.now();
  }

  /**
   * Waits until messages are accepted and sent again; false where they are not: a fault that hits a service at rest
   * shows nothing.
   */
  async moves(timeoutMs = 60_000): Promise<boolean> {
    const { options, stage, messageOfKey } = this;
    const before = { answered: messageOfKey.size, taken: await stage.taken() };
    const more = async (): Promise<true | null> =>
      (messageOfKey.size > before.answered || messageOfKey.size >= options.most) &&
      ((await stage.taken()) > before.taken || before.taken >= options.most)
        ? true
        : null;
    return waitFor('messages to be accepted and sent', more, { timeoutMs, everyMs: 20 }).catch(() => false);
  }

  /** Every key has exactly the message that its caller was answered, and there are no others. */
  async checkKeys(): Promise<void> {
    const { rows } = await this.stage.stage.database.pool.query<{ key: string; id: string }>(
      `select k.key, m.id from message m left join idempotency_key k on k.message_id = m.id where m.direction = 'outbound'`,
    );
    const stored = new Map(rows.map((row) => [row.key, row.id]));
    for (const [key, id] of this.messageOfKey) {
      if (stored.get(key) !== id) this.violations.push(`key ${key} has another message than its caller was answered`);
    }
    if (rows.length !== this.attempted) this.violations.push(`${this.attempted} keys made ${rows.length} messages`);
  }

  private async call(): Promise<void> {
    const { connections } = this.stage.workspace;
    const { least, most, recipients, betweenMs, twice } = this.options;
    while (this.attempted < (this.ending ? least : most)) {
      const n = this.attempted++;
      const connection = connections[n % connections.length];
      if (connection === undefined) return;
      const recipient = Math.floor(n / connections.length) % recipients;
      const key = randomUUID();
      const { messageId, tries } = await this.stage.caller.send(connection, recipient, key);
      if (tries > 1) this.repeated++;
      this.messageOfKey.set(key, messageId);
      if (twice === true) {
        const again = await this.stage.caller.send(connection, recipient, key);
        if (again.messageId !== messageId) this.violations.push(`key ${key} was answered with two ids`);
        if (!again.replayed) this.violations.push(`the repeat of key ${key} was not marked as replayed`);
      }
      await pause(randomBetween(0, 2 * betweenMs));
    }
  }
}
