import { countryOf } from './calling-codes.js';
import type { Collection } from './state/state-store.js';

/** What a test has said about a customer; everything else follows from the number. */
export interface KnownUser {
  userId?: string;
  username?: string;
  profileName?: string;
}

function hash(text: string, start: number): number {
  let h = start;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

/** The user id of a number of which a test has said nothing. */
export function ownUserIdOf(waId: string): string {
  const digits = String(hash(waId, 0x811c9dc5)).padStart(10, '0') + String(hash(waId, 0x1b873593)).padStart(10, '0');
  return `${countryOf(waId)}.${digits}`;
}

/** The people behind the numbers: each has a business-scoped user id and a profile name. */
export class Users {
  constructor(private readonly known: Collection<KnownUser>) {}

  /** Remembers what is given; fields left out keep their value. */
  learn(waId: string, facts: KnownUser): void {
    if (Object.values(facts).every((value) => value === undefined)) return;
    this.known.set(waId, { ...this.known.get(waId), ...JSON.parse(JSON.stringify(facts)) });
  }

  /** The business-scoped user id: country, a dot, digits; always the same for the same number. */
  userIdOf(waId: string): string {
    return this.known.get(waId)?.userId ?? ownUserIdOf(waId);
  }

  profileNameOf(party: string): string {
    return this.known.get(party)?.profileName ?? `Zoé ${party.slice(-4)}`;
  }

  usernameOf(party: string): string | undefined {
    return this.known.get(party)?.username;
  }
}
