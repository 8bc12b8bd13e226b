import { GraphError, PlainError } from '../graph-error.js';
import type { PlanName } from './message-log.js';

/** How a taken message is answered: at once, never, late, or only after its notifications went out. */
export type AnswerManner = 'at_once' | 'cut' | 'slow' | 'after_notifications';

export interface Scenario {
  plan: PlanName;
  answer: AnswerManner;
  /** The customer writes back. */
  reply: boolean;
}

const NORMAL: Scenario = { plan: 'all', answer: 'at_once', reply: false };

const BY_LAST_DIGITS: Readonly<Record<string, Scenario>> = {
  '0001': { ...NORMAL, plan: 'sent_only' },
  '0002': { ...NORMAL, plan: 'undeliverable' },
  '0005': { ...NORMAL, answer: 'cut' },
  '0007': { ...NORMAL, answer: 'slow' },
  '0008': { ...NORMAL, plan: 'backwards_twice', answer: 'after_notifications' },
  '0009': { ...NORMAL, plan: 'read_only' },
  '0011': { ...NORMAL, plan: 'window_closed' },
  '0012': { ...NORMAL, reply: true },
};

const THROTTLES = 2;
const MOST_KEYS = 50_000;

/** What the recipient's last four digits ask for. */
export class Scenarios {
  private readonly throttled = new Map<string, number>();
  private readonly lastTaken = new Map<string, number>();

  constructor(private readonly pairLimitMs: number) {}

  /**
   * Decides a message that passed all checks.
   * @param recipient digits or user id
   * @throws GraphError 131009, 130429 or 131056, or PlainError: not taken
   */
  decide(phoneNumberId: string, recipient: string, nowMs: number): Scenario {
    const digits = recipient.slice(-4);
    if (!digits.startsWith('00')) return NORMAL;
    const key = `${phoneNumberId} ${recipient}`;
    if (digits === '0003') {
      throw new GraphError(131009, { details: 'Recipient 0003: this message is always refused' });
    }
    if (digits === '0004') this.throttle(key);
    if (digits === '0006') throw new PlainError(500);
    if (digits === '0010') this.limitPair(key, nowMs);
    return BY_LAST_DIGITS[digits] ?? NORMAL;
  }

  clear(): void {
    this.throttled.clear();
    this.lastTaken.clear();
  }

  private throttle(key: string): void {
    const refused = this.throttled.get(key) ?? 0;
    if (refused >= THROTTLES) {
      this.throttled.delete(key);
      return;
    }
    if (this.throttled.size > MOST_KEYS) this.throttled.clear();
    this.throttled.set(key, refused + 1);
    throw new GraphError(130429, { details: 'Recipient 0004: too many messages were sent from this number' });
  }

  private limitPair(key: string, nowMs: number): void {
    const last = this.lastTaken.get(key);
    if (last !== undefined && nowMs - last < this.pairLimitMs) {
      throw new GraphError(131056, { details: 'Recipient 0010: too many messages to this recipient in a short time' });
    }
    if (this.lastTaken.size > MOST_KEYS) this.lastTaken.clear();
    this.lastTaken.set(key, nowMs);
  }
}
