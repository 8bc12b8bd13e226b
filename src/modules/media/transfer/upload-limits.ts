import { LRUCache } from 'lru-cache';
import { systemClock, type Clock } from '../../../common/clock.js';
import type { FailureCategory } from '../../../common/failure-category.js';
import { deferralMs } from '../../../common/retry-schedule.js';
import { Slots } from '../../../common/slots.js';
import type { NotAcceptedOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { PlatformId } from '../media.types.js';

const MAX_ENTRIES = 20_000;

interface Answer {
  answer: PlatformId;
  /** Monotonic milliseconds. */
  until: number;
  /** Uploads in a row that came to nothing; remembered for longer than the answer. */
  failures: number;
  token: string;
}

/**
 * The last answers for files and numbers, so that a campaign asks the database and the platform once and not with
 * every message. An answer about the token ends with the token.
 */
export class UploadCache {
  // `max` would reserve the lists of all entries at once.
  private readonly entries = new LRUCache<string, Answer>({ maxSize: MAX_ENTRIES, sizeCalculation: () => 1 });

  constructor(private readonly clock: Clock = systemClock) {}

  /** The answer, while it holds. One that asks to wait asks for what is left of the wait. */
  get(key: string, token: string): PlatformId | null {
    const entry = this.entries.get(key);
    const leftMs = (entry?.until ?? 0) - this.clock.monotonic();
    if (entry === undefined || leftMs <= 0) return null;
    if (entry.answer.kind === 'account' && entry.token !== token) return null;
    return entry.answer.kind === 'later' ? { kind: 'later', retryInMs: Math.ceil(leftMs) } : entry.answer;
  }

  /** Uploads in a row that came to nothing. */
  failuresOf(key: string): number {
    return this.entries.get(key)?.failures ?? 0;
  }

  set(key: string, answer: PlatformId, forMs: number, token: string): void {
    const failures = answer.kind === 'later' ? this.failuresOf(key) + 1 : 0;
    this.entries.set(key, { answer, until: this.clock.monotonic() + forMs, failures, token });
  }

  delete(key: string): void {
    this.entries.delete(key);
  }
}

const TOTAL = 32;
const PER_WORKSPACE = 16;
const PER_NUMBER = 12;

/** Uploads at once: so many in this process, and not all of them for one workspace or one number. */
export class UploadLimiter {
  private readonly lines = new Map<string, { slots: Slots; users: number }>();

  /** Runs `work` when there is a place for it. */
  within<T>(connection: { id: string; organizationId: string }, work: () => Promise<T>): Promise<T> {
    const { id, organizationId } = connection;
    return this.inLine(`number ${id}`, PER_NUMBER, () =>
      this.inLine(`workspace ${organizationId}`, PER_WORKSPACE, () => this.inLine('all', TOTAL, work)),
    );
  }

  private async inLine<T>(key: string, size: number, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(key) ?? { slots: new Slots(size), users: 0 };
    this.lines.set(key, line);
    line.users++;
    await line.slots.acquire(1);
    try {
      return await work();
    } finally {
      line.slots.release(1);
      line.users--;
      if (line.users === 0) this.lines.delete(key);
    }
  }
}

/** Refusals that say nothing of the file. */
const OF_THE_ACCOUNT: ReadonlySet<FailureCategory> = new Set([
  'authentication',
  'account_restricted',
  'sender_not_ready',
]);
const FOR_NOW: ReadonlySet<FailureCategory> = new Set(['rate_limited', 'platform_unavailable']);
const LONGEST_DELAY_MS = 60_000;

/**
 * What an upload that gave no id means for the messages that need it. An upload that may or may not have been taken is
 * simply made again: a copy too many does no harm.
 *
 * @param failures how many uploads of this file came to nothing before, in a row
 */
export function verdictOf(outcome: NotAcceptedOutcome, failures: number, random = Math.random()): PlatformId {
  const { kind, category, retryAfterMs, platformMessage } = outcome;
  if (kind === 'lane_paused') return { kind: 'account', outcome };
  if (kind === 'rejected' && OF_THE_ACCOUNT.has(category)) return { kind: 'account', outcome };
  if (kind === 'rejected' && !FOR_NOW.has(category)) {
    return { kind: 'failed', message: `The platform refused the file: ${platformMessage ?? 'it gave no reason.'}` };
  }
  const delayMs = Math.min(deferralMs(failures + 1, random), LONGEST_DELAY_MS);
  return { kind: 'later', retryInMs: Math.max(delayMs, retryAfterMs ?? 0) };
}
