import type { People } from '../people.js';
import type { Store, Table } from '../store.js';
import type { Numbers } from './numbers.js';

/** Roles of apps in conversation routing. */
export const ROLES = ['customer_service', 'marketing', 'utility', 'ctwa', 'ai_agent', 'escalation'] as const;
export type Role = (typeof ROLES)[number];

/** Who answers a customer: the tested app, another one, or none until the customer writes again. */
export interface ThreadOwner {
  owner: 'app' | 'other' | 'none';
  /** Of another owner. */
  role: Role | null;
}

const APP: ThreadOwner = { owner: 'app', role: null };
/** The app that receives messages in a thread without an owner. */
const AGENT: ThreadOwner = { owner: 'other', role: 'ai_agent' };

/** Conversation routing of numbers with a second responder: who owns which thread. */
export class Threads {
  private readonly owners: Table<ThreadOwner>;

  constructor(
    store: Store,
    private readonly numbers: Numbers,
    private readonly people: People,
  ) {
    this.owners = store.table('thread_owners');
  }

  isRouted(phoneNumberId: string): boolean {
    return this.numbers.factsOf(phoneNumberId).secondResponder !== 'OFF';
  }

  /** @param party a number or a user id */
  ownerOf(phoneNumberId: string, party: string): ThreadOwner {
    if (!this.isRouted(phoneNumberId)) return APP;
    return this.owners.get(this.keyOf(phoneNumberId, party)) ?? AGENT;
  }

  setOwner(phoneNumberId: string, party: string, owner: ThreadOwner): void {
    this.owners.set(this.keyOf(phoneNumberId, party), owner);
  }

  /** The customer writes: returns the thread's present owner. */
  receive(phoneNumberId: string, party: string): ThreadOwner {
    if (this.ownerOf(phoneNumberId, party).owner === 'none') this.setOwner(phoneNumberId, party, AGENT);
    return this.ownerOf(phoneNumberId, party);
  }

  /** A number also stands for its owner's user id. */
  private keyOf(phoneNumberId: string, party: string): string {
    return `${phoneNumberId} ${this.people.namesOf(party).at(-1)}`;
  }
}
