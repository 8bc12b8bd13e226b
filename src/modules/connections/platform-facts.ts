import type { PlatformPhoneNumber } from '../../infrastructure/whatsapp/phone-number.js';
import type { ConnectionFacts, ConnectionStatus } from './connections.types.js';

/** Messages a second of the platform's levels (Cloud API, throughput). */
const THROUGHPUT: Readonly<Record<string, number>> = { STANDARD: 80, HIGH: 1_000 };

/**
 * The platform's word for a number's state, and ours. FLAGGED is a warning about quality: such a number sends as
 * before. A word that is not listed changes nothing.
 */
const STATUS: Readonly<Record<string, ConnectionStatus>> = {
  CONNECTED: 'connected',
  FLAGGED: 'connected',
  LINKED: 'connected',
  PENDING: 'pending',
  UNVERIFIED: 'pending',
  RESTRICTED: 'restricted',
  BANNED: 'disconnected',
  DISCONNECTED: 'disconnected',
  UNLINKED: 'disconnected',
  DELETED: 'disconnected',
  MIGRATED: 'disconnected',
};

/** Messages a second that a level stands for; null for a level that is not known. */
export function throughputOf(level: string | null): number | null {
  return level !== null && Object.hasOwn(THROUGHPUT, level) ? (THROUGHPUT[level] ?? null) : null;
}

/** What of the platform's answer a connection keeps. */
export function factsOf(number: PlatformPhoneNumber): ConnectionFacts {
  const { verifiedName, qualityRating, messagingLimit, throughputLevel, status } = number;
  return {
    verifiedName,
    qualityRating: qualityRating === 'NA' ? 'UNKNOWN' : qualityRating,
    messagingLimit,
    throughputPerSecond: throughputOf(throughputLevel),
    status: status !== null && Object.hasOwn(STATUS, status) ? (STATUS[status] ?? null) : null,
  };
}
