/** The customer service window: 24 h from the customer's last message. */
const WINDOW_MS = 24 * 60 * 60 * 1000;

export interface InboundFact {
  id: string;
  phoneNumberId: string;
  party: string;
  writtenAt: number;
}

/** Which messages customers wrote: what can be marked as read, and whose window is open. */
export class InboundRegister {
  private readonly facts = new Map<string, InboundFact>();
  private readonly lastWritten = new Map<string, number>();

  /** @param userIdOf of a party, who is a number or a user id already */
  constructor(
    private readonly userIdOf: (party: string) => string,
    private readonly keep = 100_000,
  ) {}

  add(fact: InboundFact): void {
    this.facts.set(fact.id, fact);
    // Whoever wrote with the number in sight may be answered by the user id.
    for (const party of new Set([fact.party, this.userIdOf(fact.party)])) {
      const key = `${fact.phoneNumberId} ${party}`;
      this.lastWritten.set(key, Math.max(fact.writtenAt, this.lastWritten.get(key) ?? 0));
    }
    if (this.facts.size > this.keep) forgetOldest(this.facts);
    if (this.lastWritten.size > this.keep) forgetOldest(this.lastWritten);
  }

  knows(phoneNumberId: string, messageId: string): boolean {
    return this.facts.get(messageId)?.phoneNumberId === phoneNumberId;
  }

  windowIsOpen(phoneNumberId: string, parties: readonly string[], nowMs: number): boolean {
    return parties.some((party) => nowMs - (this.lastWritten.get(`${phoneNumberId} ${party}`) ?? 0) < WINDOW_MS);
  }

  all(): InboundFact[] {
    return [...this.facts.values()];
  }

  clear(): void {
    this.facts.clear();
    this.lastWritten.clear();
  }
}

function forgetOldest(map: Map<string, unknown>): void {
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
