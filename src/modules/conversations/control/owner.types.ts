/** Who may write freely in a conversation: this app, another app, or unknown. */
export const OWNERS = ['you', 'other', 'unknown'] as const;
export type Owner = (typeof OWNERS)[number];

/** The latest known fact of each kind: the order of arrival does not matter. */
export interface OwnerFacts {
  /** When the contact last wrote or called: only the owner gets these reports. */
  lastInboundAt: Date | null;
  /** When the contact last wrote to another app. */
  standbyAt: Date | null;
  handoverAt: Date | null;
  handoverTo: Owner | null;
  handoverRole: string | null;
}

/** Control was passed, taken or given back. */
export interface Handover {
  at: Date;
  /** The result of our own request, so it is later than everything known. */
  isOurs?: true;
  owner: Owner;
  /** The role of the new owner, if it is another app. */
  role: string | null;
  /** For the event. */
  note: string | null;
  context: Record<string, unknown> | null;
}

export interface OwnerState {
  owner: Owner;
  role: string | null;
}

export const UNKNOWN_OWNER: OwnerState = { owner: 'unknown', role: null };

const NEVER = -Infinity;
const timeOf = (at: Date | null): number => at?.getTime() ?? NEVER;

/** The latest fact decides. Within the same second a handover comes first, then the other app. */
export function ownerOf({ lastInboundAt, standbyAt, handoverAt, handoverTo, handoverRole }: OwnerFacts): OwnerState {
  const [own, other, handover] = [timeOf(lastInboundAt), timeOf(standbyAt), timeOf(handoverAt)];
  const last = Math.max(own, other, handover);
  if (last === NEVER) return UNKNOWN_OWNER;
  const owner = last === handover ? (handoverTo ?? 'unknown') : last === other ? 'other' : 'you';
  // Unless this app has been the owner since.
  return { owner, role: handoverTo === 'other' && handover >= own ? handoverRole : null };
}

/** When the owner last changed, at the latest; null where nothing is known. */
export function ownerSince({ lastInboundAt, standbyAt, handoverAt }: OwnerFacts): Date | null {
  const last = Math.max(timeOf(lastInboundAt), timeOf(standbyAt), timeOf(handoverAt));
  return last === NEVER ? null : new Date(last);
}

type HandoverFacts = Pick<OwnerFacts, 'handoverAt' | 'handoverTo' | 'handoverRole'>;

/**
 * The handover with a time after the known one: notifications have whole seconds, within which two of our requests may
 * fall.
 */
export function afterKnown({ handoverAt }: HandoverFacts, said: Handover): Handover {
  if (said.isOurs !== true || timeOf(handoverAt) < said.at.getTime()) return said;
  return { ...said, at: new Date(timeOf(handoverAt) + 1) };
}

/** The later of two handovers; for the same second always the same one, in any order of arrival. */
export function laterHandover(known: HandoverFacts, said: Handover | HandoverFacts): HandoverFacts {
  const other =
    'at' in said
      ? { handoverAt: said.at, handoverTo: said.owner, handoverRole: said.owner === 'other' ? said.role : null }
      : said;
  const rank = ({ handoverTo, handoverRole }: HandoverFacts): string => `${handoverTo ?? ''} ${handoverRole ?? ''}`;
  const difference = timeOf(known.handoverAt) - timeOf(other.handoverAt);
  const isKnownLater = difference > 0 || (difference === 0 && rank(known) >= rank(other));
  const { handoverAt, handoverTo, handoverRole } = isKnownLater ? known : other;
  return { handoverAt, handoverTo, handoverRole };
}

/** The first message of a contact produces no event, because it shows the owner itself. */
export function changesOwner(before: OwnerFacts | null, after: OwnerFacts): boolean {
  const was = before === null ? UNKNOWN_OWNER : ownerOf(before);
  const is = ownerOf(after);
  if (was.owner === is.owner && was.role === is.role) return false;
  return was.owner !== 'unknown' || is.owner !== 'you' || after.standbyAt !== null || after.handoverAt !== null;
}

/**
 * SQL: the fields of `ownerOf` for a row of `conversation`, or for a missing one.
 *
 * @param c its alias.
 */
export const ownerFields = (c: string): string => `
  'owner', case greatest(${c}.handover_at, ${c}.standby_at, ${c}.last_inbound_at)
    when ${c}.handover_at then ${c}.handover_to when ${c}.standby_at then 'other' when ${c}.last_inbound_at then 'you'
    else 'unknown' end,
  'owner_role', case when ${c}.handover_to = 'other'
    and ${c}.handover_at >= coalesce(${c}.last_inbound_at, '-infinity') then ${c}.handover_role end`;
