import { GraphError } from '../graph-error.js';
import type { SimulatorNumber } from '../simulator.types.js';
import type { Table } from '../store.js';

export const QUALITY_RATINGS = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'] as const;
export const THROUGHPUT_LEVELS = ['STANDARD', 'HIGH', 'NOT_APPLICABLE'] as const;
// prettier-ignore
export const NUMBER_STATUSES = [
  'CONNECTED', 'PENDING', 'DISCONNECTED', 'FLAGGED', 'RESTRICTED', 'BANNED', 'UNVERIFIED', 'DELETED', 'MIGRATED',
] as const;
export const MESSAGING_LIMITS = ['TIER_250', 'TIER_2K', 'TIER_10K', 'TIER_100K', 'TIER_UNLIMITED'] as const;

export const CODE_VERIFICATIONS = ['VERIFIED', 'NOT_VERIFIED', 'EXPIRED'] as const;

/** What a control call can change about a number; it outlives a restart. */
export interface NumberFacts {
  qualityRating: (typeof QUALITY_RATINGS)[number];
  throughput: (typeof THROUGHPUT_LEVELS)[number];
  status: (typeof NUMBER_STATUSES)[number];
  messagingLimit: (typeof MESSAGING_LIMITS)[number];
  /** Null while it is the one that the number was added with. */
  verifiedName: string | null;
  codeVerification: (typeof CODE_VERIFICATIONS)[number];
}

/** What calls of the platform's own API have set for a number. */
export interface NumberState {
  /** Of two-step verification. */
  pin?: string;
  /** The code that was asked for last, until it is confirmed. */
  code?: string;
  newName?: string;
  /** The number's own address of a webhook: kept and shown, not posted to. */
  webhookUrl?: string;
  settings?: Record<string, object>;
  automation?: object;
  publicKey?: string;
  /** When it was registered or deregistered, milliseconds. */
  attempts?: number[];
}

/** How a number is until something changes it. */
export const FIRST_FACTS: Readonly<NumberFacts> = {
  qualityRating: 'GREEN',
  throughput: 'STANDARD',
  status: 'CONNECTED',
  messagingLimit: 'TIER_2K',
  verifiedName: null,
  codeVerification: 'VERIFIED',
};

/** Numbers by id, with the accounts they belong to. */
export class Numbers {
  private readonly accounts = new Map<string, SimulatorNumber[]>();

  /**
   * @param saved numbers of this run and of former ones
   * @param facts what control calls have changed, by the number's id
   * @param states what calls of the platform's own API have set, by the number's id
   * @param unsubscribed accounts whose app does not want notifications; all others get them
   */
  constructor(
    private readonly saved: Table<SimulatorNumber>,
    private readonly facts: Table<Partial<NumberFacts>>,
    private readonly states: Table<NumberState>,
    private readonly unsubscribed: Table<true>,
  ) {
    this.index();
  }

  /** Adds a number, or replaces the one with its id. */
  register(number: SimulatorNumber): void {
    this.saved.set(number.phoneNumberId, number);
    this.index();
  }

  get(phoneNumberId: string): SimulatorNumber | undefined {
    return this.saved.get(phoneNumberId);
  }

  all(): SimulatorNumber[] {
    return [...this.saved.values()];
  }

  hasAccount(wabaId: string): boolean {
    return this.accounts.has(wabaId);
  }

  ofAccount(wabaId: string): readonly SimulatorNumber[] {
    return this.accounts.get(wabaId) ?? [];
  }

  factsOf(phoneNumberId: string): Readonly<NumberFacts> {
    const changed = this.facts.get(phoneNumberId);
    return changed === undefined ? FIRST_FACTS : { ...FIRST_FACTS, ...changed };
  }

  change(phoneNumberId: string, changes: Partial<NumberFacts>): Readonly<NumberFacts> {
    const facts = { ...this.factsOf(phoneNumberId), ...changes };
    this.facts.set(phoneNumberId, facts);
    return facts;
  }

  stateOf(phoneNumberId: string): Readonly<NumberState> {
    return this.states.get(phoneNumberId) ?? {};
  }

  /** Sets what is given; undefined takes it back. */
  setState(phoneNumberId: string, changes: NumberState): void {
    this.states.set(phoneNumberId, { ...this.stateOf(phoneNumberId), ...changes });
  }

  /** Every number as it was when it was added. Accounts keep their subscriptions. */
  reset(): void {
    this.facts.clear();
    this.states.clear();
  }

  subscribe(wabaId: string, wanted: boolean): void {
    if (wanted) this.unsubscribed.delete(wabaId);
    else this.unsubscribed.set(wabaId, true);
  }

  isSubscribed(wabaId: string): boolean {
    return !this.unsubscribed.has(wabaId);
  }

  private index(): void {
    this.accounts.clear();
    for (const number of this.saved.values()) {
      this.accounts.set(number.wabaId, [...this.ofAccount(number.wabaId), number]);
    }
  }
}

/** Refuses to send from a number that can't. @throws GraphError 131031, 368 or 133010 */
export function checkCanSend({ status }: Readonly<NumberFacts>): void {
  if (status === 'CONNECTED' || status === 'FLAGGED') return;
  if (status === 'BANNED')
    throw new GraphError(131031, { details: 'Business account is locked: the number is banned' });
  if (status === 'RESTRICTED')
    throw new GraphError(368, { details: 'The number is restricted for violating a policy' });
  throw new GraphError(133010, { details: `The number is ${status.toLowerCase()}: it is not registered` });
}
