import metadata from 'libphonenumber-js/min/metadata';
import { GraphError, invalidParam } from './graph-error.js';
import type { BareNumbers, SimulatorNumber } from './simulator.types.js';
import { isObject, type JsonObject } from './http/param.js';
import type { Store, Table } from './store.js';

/** The countries of each calling code, the main one first; those of no country, such as `800`, have none. */
const COUNTRIES: Readonly<Record<string, readonly string[]>> = metadata.country_calling_codes;

/** The calling code that a number in international digits begins with, such as `49`. */
export function callingCodeOf(digits: string): string {
  const codes = [1, 2, 3].map((length) => digits.slice(0, length));
  return codes.find((code) => code in COUNTRIES) ?? digits.slice(0, 3);
}

/** ISO 3166 alpha-2 of a number in international digits; `ZZ` (user-assigned) where its code belongs to no country. */
export function countryOf(digits: string): string {
  return COUNTRIES[callingCodeOf(digits)]?.find((country) => /^[A-Z]{2}$/.test(country)) ?? 'ZZ';
}

/** The person that a message is for, as the platform understood the request. */
export interface Recipient {
  /** As the caller wrote it; comes back in `contacts[].input`. */
  input: string;
  /** The number that was addressed, digits only, or the user id. */
  to: string;
  /** The platform's own number for that person; null where only a user id was given. */
  waId: string | null;
  /** False for a user id in `to`: taken with a 200, and no notification ever follows. */
  reachable: boolean;
}

const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

export function digitsOf(phone: string): string {
  return phone.replaceAll(/\D/g, '');
}

/**
 * The number that WhatsApp itself knows a person by. It differs from the dialled one in two countries: Brazilian mobiles
 * outside the area codes 11 to 28 lose their ninth digit, Mexican ones get a 1 after the country code.
 */
export function waIdOf(digits: string): string {
  if (/^55\d{2}9\d{8}$/.test(digits) && Number(digits.slice(2, 4)) >= 31) return digits.slice(0, 4) + digits.slice(5);
  if (/^52[2-9]\d{9}$/.test(digits)) return `521${digits.slice(2)}`;
  return digits;
}

/**
 * Reads `to` and `recipient` (`to` wins). Without `+` the business number's country code goes in front, whatever the
 * digits already begin with: that is the platform's prose. Its own examples have such numbers `as-is`.
 * @throws GraphError 100, 131009, 131021 or 131041
 */
export function resolveRecipient(
  body: Record<string, unknown>,
  sender: SimulatorNumber,
  bareNumbers: BareNumbers = 'country',
): Recipient {
  const to = typeof body.to === 'number' ? String(body.to) : body.to;
  if (to === undefined || to === null || to === '') return resolveUserId(body.recipient);
  if (typeof to !== 'string') throw invalidParam('Param to must be a string.');
  if (body.recipient_type === 'group') throw new GraphError(131041, 'The simulator has no groups');
  if (USER_ID.test(to)) return { input: to, to, waId: to, reachable: false };
  if (!/^\+?[\d\s().-]+$/.test(to)) throw invalidNumber(to);
  const given = digitsOf(to);
  const own = digitsOf(sender.displayPhoneNumber);
  const digits = to.startsWith('+') || bareNumbers === 'as-is' ? given : callingCodeOf(own) + given;
  // E.164 ends at 15 digits; nothing shorter than 7 is a subscriber.
  // No country code begins with 0.
  if (digits.startsWith('0') || digits.length < 7 || digits.length > 15) throw invalidNumber(to);
  if (digits === own) throw new GraphError(131021, 'Sender and recipient are the same number');
  return { input: to, to: digits, waId: waIdOf(digits), reachable: true };
}

function resolveUserId(recipient: unknown): Recipient {
  if (recipient === undefined || recipient === null || recipient === '') {
    throw invalidParam('The parameter to is required.');
  }
  if (typeof recipient !== 'string' || !USER_ID.test(recipient)) {
    throw new GraphError(131009, 'Parameter recipient is not a business-scoped user id of this business');
  }
  return { input: recipient, to: recipient, waId: null, reachable: true };
}

function invalidNumber(to: string): GraphError {
  return new GraphError(131009, `Recipient phone number is not valid: ${to}`);
}

/** What a test has said about a person; everything else follows from the number. */
interface KnownPerson {
  userId?: string;
  username?: string;
  profileName?: string;
  /** Of a user id: no person has it any more. */
  isGone?: true;
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

/** A customer that a number has blocked: by the number, or the user id where only that was given. */
interface BlockedUser {
  phoneNumberId: string;
  party: string;
}

/** A person who wants no marketing messages of a number, and how the platform says so: at once, or by a status. */
interface OptedOut extends BlockedUser {
  refusal: 'answer' | 'status';
}

/** A permission to be called lasts so long. */
const PERMISSION_MS = 7 * 24 * 60 * 60 * 1000;

/** The people behind the numbers: their user ids and names, who of them is blocked, and who may be called. */
export class People {
  private readonly known: Table<KnownPerson>;
  private readonly blocked: Table<BlockedUser>;
  private readonly optedOut: Table<OptedOut>;
  /** By number and customer, milliseconds. */
  private readonly callableUntil: Table<number>;
  /** User ids that were taken out of the contact book. */
  private readonly removed: Table<true>;

  constructor(store: Store) {
    this.known = store.table('users');
    this.blocked = store.table('blocked_users');
    this.optedOut = store.table('opted_out_users');
    this.callableUntil = store.table('call_permissions');
    this.removed = store.table('removed_contacts');
  }

  /** Remembers what is given; fields left out keep their value. */
  learn(waId: string, facts: KnownPerson): void {
    if (Object.values(facts).every((value) => value === undefined)) return;
    this.known.set(waId, { ...this.known.get(waId), ...JSON.parse(JSON.stringify(facts)) });
  }

  /** The business-scoped user id: country, a dot, digits; always the same for the same number. */
  userIdOf(waId: string): string {
    return this.known.get(waId)?.userId ?? ownUserIdOf(waId);
  }

  /** The person gives up a user id, and gets another one: it is not valid any more, for any number. */
  replaceUserId(before: string, waId: string | null, userId: string): void {
    this.known.set(before, { isGone: true });
    if (waId !== null) this.learn(waId, { userId });
  }

  isGone(userId: string): boolean {
    return this.known.get(userId)?.isGone === true;
  }

  profileNameOf(party: string): string {
    return this.known.get(party)?.profileName ?? `Zoé ${party.slice(-4)}`;
  }

  usernameOf(party: string): string | undefined {
    return this.known.get(party)?.username;
  }

  /** A number stands for its owner's user id as well. */
  namesOf(party: string): string[] {
    return isNamedByUserId(party) ? [party] : [party, this.userIdOf(party)];
  }

  setBlocked(phoneNumberId: string, party: string, wanted: boolean): void {
    if (wanted) this.blocked.set(`${phoneNumberId} ${party}`, { phoneNumberId, party });
    else this.blocked.delete(`${phoneNumberId} ${party}`);
  }

  hasBlocked(phoneNumberId: string, party: string): boolean {
    if (this.blocked.size === 0) return false;
    return this.namesOf(party).some((each) => this.blocked.has(`${phoneNumberId} ${each}`));
  }

  /** @param refusal null: the person wants marketing messages again */
  setOptedOut(phoneNumberId: string, party: string, refusal: OptedOut['refusal'] | null): void {
    for (const each of this.namesOf(party)) {
      if (refusal === null) this.optedOut.delete(`${phoneNumberId} ${each}`);
      else this.optedOut.set(`${phoneNumberId} ${each}`, { phoneNumberId, party: each, refusal });
    }
  }

  removeContact(userId: string): void {
    this.removed.set(userId, true);
  }

  removedContacts(): string[] {
    return [...this.removed.keys()];
  }

  /** How marketing messages to this person are refused; null where they are not. */
  marketingRefusalOf(phoneNumberId: string, party: string): OptedOut['refusal'] | null {
    const known = this.namesOf(party).map((each) => this.optedOut.get(`${phoneNumberId} ${each}`));
    return known.find((each) => each !== undefined)?.refusal ?? null;
  }

  blockedBy(phoneNumberId: string): string[] {
    return [...this.blocked.values()].filter((user) => user.phoneNumberId === phoneNumberId).map(({ party }) => party);
  }

  /** Takes a customer's answer to a request to be called, from what they wrote; anything else changes nothing. */
  noteCallPermission(phoneNumberId: string, party: string, { interactive }: JsonObject): void {
    const reply = isObject(interactive) ? interactive.call_permission_reply : undefined;
    if (!isObject(reply)) return;
    const key = `${phoneNumberId} ${party}`;
    if (reply.response === 'accept') this.callableUntil.set(key, Date.now() + PERMISSION_MS);
    else this.callableUntil.delete(key);
  }

  /** When the permission to call ends, milliseconds; null where there is none. */
  endOfCallPermission(phoneNumberId: string, party: string): number | null {
    const end = this.callableUntil.get(`${phoneNumberId} ${party}`) ?? 0;
    return end > Date.now() ? end : null;
  }
}

export function isNamedByUserId(party: string): boolean {
  return /^[A-Z]{2}\./.test(party);
}

/** A customer as calls name one: a user id as it is, or a number in any spelling. */
export function partyOf(text: string): string {
  return isNamedByUserId(text) ? text : waIdOf(digitsOf(text));
}

/** The customer service window: 24 h from the customer's last message. */
const WINDOW_MS = 24 * 60 * 60 * 1000;
const MAX_PEOPLE = 100_000;

/** A customer's message on its way in. */
export interface Inbound {
  readonly phoneNumberId: string;
  /** The customer's number, or user id where the number is not shown. */
  readonly party: string;
  /** Milliseconds; opens the customer's window. */
  readonly writtenAt: number;
  readonly contact: object | null;
  readonly message: { readonly id: string; readonly [key: string]: unknown };
}

interface InboundFact extends Pick<Inbound, 'phoneNumberId' | 'party' | 'writtenAt'> {
  id: string;
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
  if (map.size <= MAX_PEOPLE) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
