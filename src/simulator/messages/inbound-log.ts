import type { People } from '../people.js';
import type { Store, Table } from '../store.js';

/** The customer service window: 24 h from the customer's last message. */
const WINDOW_MS = 24 * 60 * 60 * 1000;
const MOST = 100_000;

export interface InboundFact {
  id: string;
  phoneNumberId: string;
  /** Number or user id of the customer. */
  party: string;
  /** Milliseconds. */
  writtenAt: number;
  /** When it was marked as read first, milliseconds; absent until then. */
  readAt?: number;
  /** When the business was last seen typing, milliseconds. */
  typingAt?: number;
  /** How many calls have marked it. */
  reads?: number;
}

/** Which messages customers wrote: what can be marked as read, and where the 24-hour window is open. */
export class InboundLog {
  private readonly lastWritten = new Map<string, number>();
  private readonly facts: Table<InboundFact>;

  constructor(
    store: Store,
    private readonly people: People,
  ) {
    this.facts = store.table('inbound');
    for (const fact of this.facts.values()) this.index(fact);
  }

  add(fact: InboundFact): void {
    this.facts.set(fact.id, fact);
    this.index(fact);
    forgetOldest(this.facts);
    forgetOldest(this.lastWritten);
  }

  /** @returns false where this number received no such message */
  markRead(phoneNumberId: string, messageId: string, typing: boolean): boolean {
    const fact = this.facts.get(messageId);
    if (fact?.phoneNumberId !== phoneNumberId) return false;
    const now = Date.now();
    const reads = (fact.reads ?? 0) + 1;
    this.facts.set(messageId, { ...fact, readAt: fact.readAt ?? now, reads, ...(typing && { typingAt: now }) });
    return true;
  }

  /** What customers wrote, the last first. */
  list(limit: number): InboundFact[] {
    return [...this.facts.values()].slice(-limit).toReversed();
  }

  get(messageId: string): InboundFact | undefined {
    return this.facts.get(messageId);
  }

  windowIsOpen(phoneNumberId: string, parties: readonly string[], nowMs: number): boolean {
    return parties.some((party) => nowMs - (this.lastWritten.get(`${phoneNumberId} ${party}`) ?? 0) < WINDOW_MS);
  }

  clear(): void {
    this.facts.clear();
    this.lastWritten.clear();
  }

  private index({ phoneNumberId, party, writtenAt }: InboundFact): void {
    // A customer who wrote with the number in sight may be answered by the user id.
    for (const each of this.people.namesOf(party)) {
      const key = `${phoneNumberId} ${each}`;
      this.lastWritten.set(key, Math.max(writtenAt, this.lastWritten.get(key) ?? 0));
    }
  }
}

function forgetOldest(map: Map<string, unknown>): void {
  if (map.size <= MOST) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
