import type { Collection } from '../state/state-store.js';

export const QUALITY_RATINGS = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'] as const;
export const THROUGHPUT_LEVELS = ['STANDARD', 'HIGH', 'NOT_APPLICABLE'] as const;
// prettier-ignore
export const NUMBER_STATUSES = [
  'CONNECTED', 'PENDING', 'DISCONNECTED', 'FLAGGED', 'RESTRICTED', 'BANNED', 'UNVERIFIED', 'DELETED', 'MIGRATED',
] as const;
export const MESSAGING_LIMITS = ['TIER_250', 'TIER_2K', 'TIER_10K', 'TIER_100K', 'TIER_UNLIMITED'] as const;

/** What a control call can change about a number; it outlives a restart. */
export interface NumberFacts {
  qualityRating: (typeof QUALITY_RATINGS)[number];
  throughput: (typeof THROUGHPUT_LEVELS)[number];
  status: (typeof NUMBER_STATUSES)[number];
  messagingLimit: (typeof MESSAGING_LIMITS)[number];
  /** Null while it is the one that the number was added with. */
  verifiedName: string | null;
}

const AT_FIRST: Readonly<NumberFacts> = {
  qualityRating: 'GREEN',
  throughput: 'STANDARD',
  status: 'CONNECTED',
  messagingLimit: 'TIER_2K',
  verifiedName: null,
};

/** Facts of each number, by its id. */
export class NumberFactsBook {
  constructor(private readonly saved: Collection<NumberFacts>) {}

  of(phoneNumberId: string): Readonly<NumberFacts> {
    return this.saved.get(phoneNumberId) ?? AT_FIRST;
  }

  change(phoneNumberId: string, changes: Partial<NumberFacts>): Readonly<NumberFacts> {
    const facts = { ...this.of(phoneNumberId), ...changes };
    this.saved.set(phoneNumberId, facts);
    return facts;
  }
}
