import { randomUUID } from 'node:crypto';
import { describeError } from '../../src/common/describe-error.js';
import { recipientNumber } from '../support/rig/recipients.js';
import { pause } from '../support/rig/wait.js';
import type { SeededConnection, SeededWorkspace } from '../support/rig/workspace.js';

const GIVE_UP_MS = 180_000;
const AGAIN_MS = 20;
const REQUEST_MS = 10_000;

export interface Acknowledgement {
  messageId: string;
  /** Whether Herald said that it knew the key. */
  replayed: boolean;
  /** Requests that it took. */
  tries: number;
}

/** A client as the documentation asks for: it repeats a request with the same key until it is answered with 2xx. */
export class Caller {
  /** Answers of 503. */
  refusals = 0;
  /** Answers of 5xx but 503, in words: a fault outside that Herald took for one of its own. */
  readonly faults: string[] = [];

  constructor(
    private readonly apiUrl: string,
    private readonly workspace: SeededWorkspace,
  ) {}

  /**
   * @param recipient the nth recipient, or a number in digits
   * @throws Error on an answer that no repeat can change, or when three minutes have passed
   */
  async send(
    connection: SeededConnection,
    recipient: number | string,
    key: string = randomUUID(),
  ): Promise<Acknowledgement> {
    const until = performance.now() + GIVE_UP_MS;
    for (let tries = 1; ; tries++) {
      const answer = await this.post(connection, recipient, key);
      const { status, text } = answer;
      if (status === 202) {
        const { data } = JSON.parse(text) as { data: { id: string } };
        return { messageId: data.id, replayed: answer.replayed, tries };
      }
      if (status === 503) this.refusals++;
      else if (status >= 500) this.note(answer);
      else if (status !== 0 && status !== 429) throw new Error(`Herald answered ${status}: ${text}`);
      if (performance.now() > until)
        throw new Error(`no 2xx within three minutes; the last answer, ${status}: ${text}`);
      await pause(AGAIN_MS);
    }
  }

  private note({ status, text }: { status: number; text: string }): void {
    if (this.faults.length < 5) this.faults.push(`Herald answered ${status}: ${text.slice(0, 200)}`);
  }

  /** Status 0: no answer came, and `text` says why. */
  private async post(
    connection: SeededConnection,
    recipient: number | string,
    key: string,
  ): Promise<{ status: number; text: string; replayed: boolean }> {
    try {
      const response = await fetch(`${this.apiUrl}/api/v1/messages`, {
        method: 'POST',
        signal: AbortSignal.timeout(REQUEST_MS),
        headers: {
          authorization: `Bearer ${this.workspace.apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({
          connection_id: connection.id,
          to: `+${typeof recipient === 'string' ? recipient : recipientNumber(recipient)}`,
          type: 'text',
          text: { body: 'Hello' },
        }),
      });
      const replayed = response.headers.get('idempotency-replayed') === 'true';
      return { status: response.status, text: await response.text(), replayed };
    } catch (error) {
      // Refused, reset or too slow: what a client sees of a killed server.
      return { status: 0, text: describeError((error as Error).cause ?? error), replayed: false };
    }
  }
}

/** Runs `work` for 0 to `count` - 1, at most `atOnce` at a time; resolves with the (monotonic) time of the end. */
export async function forEachOf(count: number, atOnce: number, work: (n: number) => Promise<void>): Promise<number> {
  let next = 0;
  const walk = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, walk));
  return performance.now();
}
