import { randomBytes } from 'node:crypto';

const KEY_LENGTH = 36;
const COUNTER_LENGTH = 12;
/** In a body, as often as it stands there: eight digits that are others in each request. */
export const COUNTED = '########';

/** A request as bytes, in which only the last digits of the key, and `COUNTED`, change from one time to the next. */
export class KeyedRequest {
  private readonly bytes: Buffer;
  private readonly counterAt: number;
  private readonly countedAt: number[] = [];

  constructor(url: URL, headers: Record<string, string>, body: string) {
    // A version 4 UUID whose last group counts up: unique without asking the system for random bytes each time.
    const prefix = randomBytes(10).toString('hex');
    const key = [prefix.slice(0, 8), prefix.slice(8, 12), `4${prefix.slice(12, 15)}`, `8${prefix.slice(15, 18)}`];
    const lines = [
      `POST ${url.pathname} HTTP/1.1`,
      `Host: ${url.host}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `Idempotency-Key: ${key.join('-')}-${'0'.repeat(COUNTER_LENGTH)}`,
    ];
    const head = `${lines.join('\r\n')}\r\n\r\n`;
    this.counterAt = head.length - 4 - COUNTER_LENGTH;
    if (!/^[0-9a-f-]+$/.test(head.slice(this.counterAt - KEY_LENGTH + COUNTER_LENGTH, this.counterAt))) {
      throw new Error('the key is not where it should be');
    }
    this.bytes = Buffer.from(head + body);
    for (let at = this.bytes.indexOf(COUNTED); at >= 0; at = this.bytes.indexOf(COUNTED, at + 1))
      this.countedAt.push(at);
  }

  /** The bytes with the key's counter, and the body's, set; valid until the next call. */
  withCounter(counter: number): Buffer {
    this.bytes.write(counter.toString(16).padStart(COUNTER_LENGTH, '0'), this.counterAt, 'latin1');
    const { countedAt } = this;
    if (countedAt.length === 0) return this.bytes;
    const digits = counter.toString().padStart(COUNTED.length, '0');
    for (const at of countedAt) this.bytes.write(digits, at, 'latin1');
    return this.bytes;
  }
}
