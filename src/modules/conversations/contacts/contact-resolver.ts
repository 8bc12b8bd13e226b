import type { Replacement } from '../../../infrastructure/whatsapp/webhook-message.js';
import { databaseClock } from '../../../common/clock.js';
import type { Handover, OwnerFacts } from '../control/owner.types.js';
import type { ContactObservation } from '../conversations.types.js';
import { afterKnown, changesOwner, laterHandover, ownerOf } from '../control/owner.types.js';

/** A row of `conversation`: one contact on one connection. */
export interface ConversationRecord extends OwnerFacts {
  id: string;
  organizationId: string;
  connectionId: string;
  /** The number as the caller wrote it, digits. */
  phone: string | null;
  /** WhatsApp's spelling of the number. */
  waId: string | null;
  userId: string | null;
  profileName: string | null;
  /** The state that callers set. */
  closed: boolean;
  assignee: string | null;
  /** The person in `assignee`; null: no person, or only text was given. */
  assigneeId: string | null;
  /** One of the observations is a message from the contact. */
  wrote?: boolean;
  /** The row that it was merged into. */
  mergedInto: string | null;
  /** Earlier names, with when they were replaced (milliseconds since the epoch). */
  previous?: readonly { name: string; at: number }[];
  createdAt: Date;
}

/** Changes to write about contacts' earlier names. */
export interface AliasChanges {
  replaced: { organizationId: string; connectionId: string; conversationId: string; name: string; at: Date }[];
  /** Earlier names that a contact has again. */
  restored: { conversationId: string; name: string }[];
}

/** Changes to write so that the rows reflect the observations. */
export interface BookChanges {
  created: ConversationRecord[];
  /** Rows that were merged into another, with everything merged into them before. */
  merged: { id: string; into: string }[];
  /** Rows whose identities changed, and rows about whose owner WhatsApp reported more than a message. */
  identified: ConversationRecord[];
  /** Rows with only a new profile name or window. */
  touched: ConversationRecord[];
  /** Rows that give up an identity, merged ones included; another row may get it afterwards. */
  released: string[];
}

interface Entry {
  row: ConversationRecord;
  /** The row as read; null: new. */
  before: ConversationRecord | null;
  /** Order of creation among new rows. */
  sequence: number;
  into: Entry | null;
  /** The handover stored in its row. */
  said: Handover | null;
  /** Earlier names, and when each was replaced; `stored`: as read. */
  former: Map<string, number>;
  stored: ReadonlyMap<string, number>;
}

type Identity = 'phone' | 'waId' | 'userId';
const IDENTITIES: readonly Identity[] = ['phone', 'waId', 'userId'];

/**
 * Finds the row of each observation, and decides how the rows change. Pure: it gets every row that has one of the
 * observed identities, and returns the changes to write.
 *
 * A contact is matched by user id first, then by WhatsApp's number, then by the caller's. If an observation names two
 * rows they are merged: the older row stays and takes over the identities that it lacks.
 */
export class ContactResolver {
  private readonly entries = new Map<string, Entry>();
  private readonly index = new Map<string, Entry>();

  constructor(
    rows: readonly ConversationRecord[],
    private readonly newId: () => string,
  ) {
    for (const row of rows) {
      const stored = new Map(row.previous?.map(({ name, at }) => [name, at]));
      const entry: Entry = {
        row: { ...row },
        before: row,
        sequence: -1,
        into: null,
        said: null,
        former: new Map(stored),
        stored,
      };
      this.entries.set(row.id, entry);
      if (row.mergedInto === null) this.addToIndex(entry);
    }
  }

  /**
   * Applies one observation; null where it names no known contact and no identity to create one from, or a contact that
   * was erased.
   */
  see(observation: ContactObservation): { id: () => string } | null {
    const { phone = null, waId = null, userId = null } = observation;
    if (this.isErased(observation.conversationId)) return null;
    if (observation.replacement) return this.replace(observation, observation.replacement);
    const named = { phone, waId, userId };
    const former = this.takeFormer(observation, named);
    let entry = this.join(new Set([...former, ...this.matches(observation, named)]), waId);
    if (entry === null) {
      if (phone === null && waId === null && userId === null) return null;
      entry = this.create(observation);
    }
    this.identify(entry, named);
    if (observation.wrote === true) Object.assign(entry.row, { closed: false, wrote: true });
    if (observation.profileName) entry.row.profileName = observation.profileName;
    entry.row.lastInboundAt = latest(entry.row.lastInboundAt, observation.inboundAt ?? null);
    entry.row.standbyAt = latest(entry.row.standbyAt, observation.standbyAt ?? null);
    if (observation.handover !== undefined && observation.handover !== null) {
      const handover = afterKnown(entry.row, observation.handover);
      Object.assign(entry.row, laterHandover(entry.row, handover));
      if (entry.row.handoverAt === handover.at) entry.said = handover;
    }
    // With control comes the number's open window.
    if (entry.row.handoverTo === 'you' && ownerOf(entry.row).owner === 'you') {
      entry.row.lastInboundAt = latest(entry.row.lastInboundAt, entry.row.standbyAt);
    }
    const found = entry;
    return { id: () => survivorOf(found).row.id };
  }

  /** A conversation without any name, present or former, belongs to an erased person: late reports must not add one. */
  private isErased(id: string | null | undefined): boolean {
    const known = id ? this.entries.get(id) : undefined;
    if (known === undefined) return false;
    const { row, former } = this.surviving(known);
    return namesOf(row).length === 0 && former.size === 0;
  }

  /** The row as it will be; undefined for an unknown id. */
  find(id: string): ConversationRecord | undefined {
    const entry = this.entries.get(id);
    return entry === undefined ? undefined : this.surviving(entry).row;
  }

  /** Rows whose owner changed, with their earlier state and the cause. */
  ownerChanges(): Pick<Entry, 'row' | 'before' | 'said'>[] {
    return [...this.entries.values()].filter(({ row, before, into }) => into === null && changesOwner(before, row));
  }

  /** Rows whose caller-set state changed, with their earlier state; without those in `touched`. */
  keptChanges(): { row: ConversationRecord; before: ConversationRecord }[] {
    const { identified } = this.changes();
    return identified.flatMap((row) => {
      const before = this.entries.get(row.id)?.before ?? null;
      return before === null || (row.closed === before.closed && row.assignee === before.assignee)
        ? []
        : [{ row, before }];
    });
  }

  changes(): BookChanges {
    const changes: BookChanges = { created: [], merged: [], identified: [], touched: [], released: [] };
    for (const entry of this.entries.values()) {
      const { row, before, into } = entry;
      if (before === null) {
        if (into === null) changes.created.push(row);
        continue;
      }
      if (into !== null) changes.merged.push({ id: row.id, into: survivorOf(entry).row.id });
      else if (IDENTITIES.some((identity) => row[identity] !== before[identity])) changes.identified.push(row);
      else if (row.assignee !== before.assignee || (row.closed !== before.closed && row.wrote !== true)) {
        changes.identified.push(row);
      } else if (isTouched(row, before)) (isRouted(row) ? changes.identified : changes.touched).push(row);
      const gaveUp = IDENTITIES.some((identity) => before[identity] !== null && row[identity] !== before[identity]);
      if (into !== null || gaveUp) changes.released.push(row.id);
    }
    return changes;
  }

  /** The names that contacts lost, or have again, as changes to the stored rows. */
  aliasChanges(): AliasChanges {
    const changes: AliasChanges = { replaced: [], restored: [] };
    for (const { row, into, former, stored } of this.entries.values()) {
      if (into !== null || row.mergedInto !== null) continue;
      const { id: conversationId, organizationId, connectionId } = row;
      for (const [name, at] of former) {
        if (at === stored.get(name)) continue;
        changes.replaced.push({ organizationId, connectionId, conversationId, name, at: new Date(at) });
      }
      for (const name of namesOf(row)) if (!former.has(name)) changes.restored.push({ conversationId, name });
    }
    const wereFormer = new Set([...this.entries.values()].flatMap(({ stored }) => [...stored.keys()]));
    return { ...changes, restored: changes.restored.filter(({ name }) => wereFormer.has(name)) };
  }

  /**
   * The contact to whom the names belonged before. Removes those names from `named`: a user id always, a number only up
   * to when it was replaced, because it may belong to another person afterwards.
   */
  private takeFormer(observation: ContactObservation, named: Record<Identity, string | null>): Set<Entry> {
    const { connectionId, conversationId, at, inboundAt, standbyAt, handover } = observation;
    const time = (at ?? inboundAt ?? standbyAt ?? handover?.at)?.getTime();
    const known = conversationId ? this.entries.get(conversationId) : undefined;
    const found = new Set<Entry>(known === undefined ? [] : [this.surviving(known)]);
    if (named.userId !== null && this.index.get(keyOf(connectionId, 'userId', named.userId)) === undefined) {
      const entry = this.formerly(connectionId, named.userId);
      if (entry !== undefined) {
        found.add(entry);
        named.userId = null;
      }
    }
    for (const identity of ['waId', 'phone'] as const) {
      const number = named[identity];
      const entry = number === null ? undefined : this.formerly(connectionId, number);
      if (number === null || entry === undefined) continue;
      const until = entry.former.get(number) ?? 0;
      if (time === undefined ? !found.has(entry) : time > until) continue;
      found.add(entry);
      named[identity] = null;
    }
    return found;
  }

  /** The contact who last had this name. */
  private formerly(connectionId: string, name: string): Entry | undefined {
    let found: Entry | undefined;
    for (const entry of this.entries.values()) {
      const at = entry.into === null && entry.row.connectionId === connectionId ? entry.former.get(name) : undefined;
      if (at !== undefined && at > (found?.former.get(name) ?? -Infinity)) found = entry;
    }
    return found;
  }

  /**
   * Joins the contacts known under the former and the new names. The latest change decides the present names, in
   * whichever order changes arrive.
   */
  private replace(observation: ContactObservation, replacement: Replacement): { id: () => string } | null {
    const { userId = null, waId = null } = observation;
    const at = observation.at ?? databaseClock.date();
    const atTime = { ...observation, at, conversationId: null, inboundAt: null };
    const before = this.knownAs(atTime, { phone: null, waId, userId });
    const after = this.knownAs(atTime, { phone: null, waId: replacement.waId, userId: replacement.userId });
    const all = [...new Set([...before, ...after])];
    const latestAt = Math.max(...all.flatMap(({ former }) => [...former.values()]));
    const isLatest = at.getTime() >= latestAt;
    const newer = after.find((entry) => !before.includes(entry))?.row ?? null;
    const older = before.find((entry) => !after.includes(entry)) ?? (newer === null ? before[0] : undefined);
    const names = nameAfter(replacement, isLatest, older?.row ?? null, newer);
    if (all.length === 0 && names.waId === null && names.userId === null && (waId ?? userId) === null) return null;
    const isNumber = replacement.of === 'number';
    const others = before.flatMap(({ row }) => (row === newer ? [] : [row]));
    const replaced = isNumber
      ? [waId, userId, ...others.flatMap(namesOf)]
      : [userId, ...(newer === null ? [] : others.map((row) => row.userId))];
    const entry = this.join(all, names.waId) ?? this.create({ ...observation, waId: null, userId: null });
    this.rename(entry, names);
    addFormer(entry, replaced, at.getTime());
    // A change older than the latest one: its names were replaced by then at the latest.
    if (!isLatest) addFormer(entry, [replacement.waId, replacement.userId], latestAt);
    for (const name of namesOf(entry.row)) entry.former.delete(name);
    return { id: () => survivorOf(entry).row.id };
  }

  /** The contacts who have one of these names, or had it at that time. */
  private knownAs(atTime: ContactObservation, named: Record<Identity, string | null>): Entry[] {
    const former = this.takeFormer(atTime, named);
    return [...new Set([...former, ...this.matches(atTime, named)])];
  }

  /** Merges several contacts into one; null for none. */
  private join(entries: Iterable<Entry>, waId: string | null): Entry | null {
    let joined: Entry | null = null;
    for (const entry of entries) joined = joined === null ? entry : this.merge(joined, entry, waId);
    return joined;
  }

  /** Replaces the row's names; a number that another contact has got stays there. */
  private rename(entry: Entry, { phone, waId, userId }: Names): void {
    const { row } = entry;
    this.removeFromIndex(entry);
    const isTaken = phone !== null && this.index.has(keyOf(row.connectionId, 'phone', phone));
    row.phone = isTaken ? null : phone;
    row.waId = waId;
    row.userId = userId;
    this.addToIndex(entry);
  }

  private matches(observation: ContactObservation, named: Record<Identity, string | null>): Set<Entry> {
    const at = (identity: Identity, value: string | null): Entry | undefined =>
      value === null ? undefined : this.index.get(keyOf(observation.connectionId, identity, value));
    const known = observation.conversationId ? this.entries.get(observation.conversationId) : undefined;
    const byWaId = at('waId', named.waId);
    // A row that a caller's number created, and whose WhatsApp number was unknown until now.
    const spelledAlike = at('phone', named.waId);
    const byPhone = at('phone', named.phone) ?? at('waId', named.phone);
    const found = [
      known === undefined ? undefined : this.surviving(known),
      at('userId', named.userId),
      byWaId,
      spelledAlike?.row.waId === null ? spelledAlike : undefined,
      byPhone,
    ];
    return new Set(found.filter((entry) => entry !== undefined));
  }

  private create(observation: ContactObservation): Entry {
    const row: ConversationRecord = {
      id: this.newId(),
      organizationId: observation.organizationId,
      connectionId: observation.connectionId,
      phone: null,
      waId: null,
      userId: null,
      profileName: null,
      lastInboundAt: null,
      standbyAt: null,
      handoverAt: null,
      handoverTo: null,
      handoverRole: null,
      closed: false,
      assignee: null,
      assigneeId: null,
      mergedInto: null,
      createdAt: new Date(0),
    };
    const sequence = this.entries.size;
    const entry: Entry = { row, before: null, sequence, into: null, said: null, former: new Map(), stored: new Map() };
    this.entries.set(row.id, entry);
    const phone = observation.phone ?? observation.waId ?? null;
    if (phone !== null && !this.index.has(keyOf(row.connectionId, 'phone', phone))) row.phone = phone;
    this.addToIndex(entry);
    return entry;
  }

  /** Adds the named identities to the row; every other row with one of them has been merged into it by now. */
  private identify(entry: Entry, named: Record<Identity, string | null>): void {
    const { row } = entry;
    this.removeFromIndex(entry);
    row.waId = named.waId ?? row.waId;
    row.userId = named.userId ?? row.userId;
    for (const name of [named.waId, named.userId]) if (name !== null) entry.former.delete(name);
    const isFree = named.phone !== null && !this.index.has(keyOf(row.connectionId, 'phone', named.phone));
    // WhatsApp's number finds the row anyway, so the caller's own spelling is stored here.
    if (isFree && named.phone !== row.waId && (row.phone === null || row.phone === row.waId)) row.phone = named.phone;
    this.addToIndex(entry);
  }

  private merge(a: Entry, b: Entry, namedWaId: string | null): Entry {
    const [older, younger] = isOlder(a, b) ? [a, b] : [b, a];
    this.removeFromIndex(older);
    this.removeFromIndex(younger);
    const stays = older.row;
    const goes = younger.row;
    stays.waId ??= goes.waId;
    stays.userId ??= goes.userId;
    stays.profileName ??= goes.profileName;
    if (stays.assignee === null) ({ assignee: stays.assignee, assigneeId: stays.assigneeId } = goes);
    stays.closed &&= goes.closed;
    stays.lastInboundAt = latest(stays.lastInboundAt, goes.lastInboundAt);
    stays.standbyAt = latest(stays.standbyAt, goes.standbyAt);
    Object.assign(stays, laterHandover(stays, goes));
    if (goes.phone !== null && (stays.phone === null || stays.phone === (namedWaId ?? stays.waId))) {
      stays.phone = goes.phone;
    }
    goes.phone = null;
    goes.waId = null;
    goes.userId = null;
    older.said ??= younger.said;
    for (const [name, at] of younger.former) addFormer(older, [name], at);
    younger.into = older;
    this.addToIndex(older);
    return older;
  }

  /** For a row that was merged before it was read, the surviving one, which is among the rows too. */
  private surviving(entry: Entry): Entry {
    const into = entry.row.mergedInto === null ? undefined : this.entries.get(entry.row.mergedInto);
    return survivorOf(into ?? entry);
  }

  private addToIndex(entry: Entry): void {
    for (const key of keysOf(entry.row)) this.index.set(key, entry);
  }

  private removeFromIndex(entry: Entry): void {
    for (const key of keysOf(entry.row)) {
      if (this.index.get(key) === entry) this.index.delete(key);
    }
  }
}

type Names = Pick<ConversationRecord, Identity>;

/** @param older the contact's earlier names; `newer`: the known new names. */
function nameAfter(
  { of, waId, userId }: Replacement,
  isLatest: boolean,
  older: Names | null,
  newer: Names | null,
): Names {
  if (!isLatest) return namesAlone(newer ?? older);
  if (of === 'user_id') {
    const number = newer?.waId ?? older?.waId ?? null;
    return { waId: number, phone: newer?.phone ?? older?.phone ?? null, userId: userId ?? newer?.userId ?? null };
  }
  const number = waId ?? newer?.waId ?? null;
  return {
    waId: number,
    phone: newer?.phone ?? (older?.waId === number ? older?.phone : null) ?? number,
    userId: userId ?? newer?.userId ?? null,
  };
}

function namesAlone(row: Names | null): Names {
  return { phone: row?.phone ?? null, waId: row?.waId ?? null, userId: row?.userId ?? null };
}

function namesOf({ phone, waId, userId }: Names): string[] {
  return [...new Set([phone, waId, userId].filter((name) => name !== null))];
}

function addFormer({ former }: Entry, names: readonly (string | null)[], at: number): void {
  for (const name of names) if (name !== null) former.set(name, Math.max(at, former.get(name) ?? at));
}

function survivorOf(entry: Entry): Entry {
  let found = entry;
  while (found.into !== null) found = found.into;
  return found;
}

function isOlder(a: Entry, b: Entry): boolean {
  if (a.before === null || b.before === null)
    return b.before === null && (a.before !== null || a.sequence < b.sequence);
  const difference = a.before.createdAt.getTime() - b.before.createdAt.getTime();
  return difference === 0 ? a.row.id < b.row.id : difference < 0;
}

function isTouched(row: ConversationRecord, before: ConversationRecord): boolean {
  return (
    row.profileName !== before.profileName ||
    row.closed !== before.closed ||
    row.lastInboundAt?.getTime() !== before.lastInboundAt?.getTime() ||
    row.standbyAt?.getTime() !== before.standbyAt?.getTime() ||
    row.handoverAt?.getTime() !== before.handoverAt?.getTime() ||
    row.handoverTo !== before.handoverTo ||
    row.handoverRole !== before.handoverRole
  );
}

/** Whether a message may change the owner. */
function isRouted({ standbyAt, handoverAt }: ConversationRecord): boolean {
  return standbyAt !== null || handoverAt !== null;
}

function latest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a.getTime() >= b.getTime() ? a : b;
}

function keyOf(connectionId: string, identity: Identity, value: string): string {
  return `${connectionId}/${identity}/${value}`;
}

function keysOf(row: ConversationRecord): string[] {
  return IDENTITIES.flatMap((identity) => {
    const value = row[identity];
    return value === null ? [] : [keyOf(row.connectionId, identity, value)];
  });
}
