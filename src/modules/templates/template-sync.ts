import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { newId } from '../../common/ids.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import { Database } from '../../infrastructure/database/database.js';
import { Sweeps } from '../../infrastructure/queue/sweeps.js';
import { anyHas } from '../../infrastructure/queue/turns.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { failure, isTokenRefused, type PlatformFailure } from '../../infrastructure/whatsapp/platform-result.js';
import { ConnectionsService } from '../connections/connections.service.js';
import {
  IS_DUE,
  LEASE_SECONDS,
  TemplateAccountsRepository,
  type AccountState,
} from './template-accounts.repository.js';
import { readListing, type Listing } from './template-listing.js';
import { TemplatesRepository } from './templates.repository.js';
import type { AccountKey } from './templates.types.js';

/** Kind of the notice that templates have changed, to every process. */
export const TEMPLATES_CHANGED = 'template';

export interface Freshness {
  /** The allowed age of the mirror; for an account marked as changed any age is too old. */
  maxAgeMs: number;
  /** How long to wait for a sync, counted from its beginning: of many callers in a row, only the first waits. */
  waitMs: number;
  /** The same if there is no mirror yet. Default: `waitMs`. */
  firstWaitMs?: number;
}

/** After a sync, successful or not, no read starts another one for this long, unless something has changed. */
const REST_MS = 5_000;
const REST_AFTER_FAILURE_MS = 10_000;
const POLL_MS = 100;
const MAX_NUMBERS_TRIED = 3;

const SWEEP_EVERY_MS = 10_000;
/** Limits of syncs in this process, and of one workspace: WhatsApp may not answer for long. */
const SWEEP_AT_ONCE = 16;
const SWEEP_OF_WORKSPACE = 2;

const OUR_ERROR = 'The list could not be stored.';
const NO_NUMBER = 'None of the connections of this account is connected to the platform.';

/**
 * Keeps the mirror of an account's templates equal to WhatsApp's list. One process at a time syncs an account, and all
 * its callers share the sync. A failed sync changes nothing.
 */
@Injectable()
export class TemplateSync implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(TemplateSync.name);
  private readonly running = new Map<string, Promise<void>>();
  private readonly held = new Map<string, AccountKey>();
  private readonly suspected = new LRUCache<string, true>({ max: 1_000, ttl: REST_MS });
  private stopped = false;

  constructor(
    private readonly accounts: TemplateAccountsRepository,
    private readonly mirror: TemplatesRepository,
    private readonly connections: ConnectionsService,
    private readonly client: CloudApiClient,
    private readonly database: Database,
    private readonly invalidation: PgNotifier,
    private readonly counters: Counters,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    const rows = [{ table: 'template_account', where: IS_DUE }];
    this.sweeps.addInTurns({
      name: 'templates',
      everyMs: SWEEP_EVERY_MS,
      rows,
      hasWork: anyHas(rows),
      waitsFor: [
        { table: 'template_account', column: 'sync_until', mostAhead: `${LEASE_SECONDS}` },
        { table: 'template_account', column: 'tried_at' },
      ],
      turn: (organizationId, signal) => this.turn(organizationId, signal),
    });
  }

  /**
   * Makes the mirror as fresh as requested, if WhatsApp answers in time. Never throws because of WhatsApp.
   *
   * @returns the account's state afterwards; without `syncedAt` there is no mirror yet, and `failure` says why.
   */
  async refresh(key: AccountKey, { maxAgeMs, waitMs, firstWaitMs = waitMs }: Freshness): Promise<AccountState> {
    const startedAt = performance.now();
    for (;;) {
      const state = await this.accounts.get(key);
      const goneMs = Math.max(performance.now() - startedAt, state.syncingForMs ?? 0);
      const leftMs = (state.syncedAt === null ? firstWaitMs : waitMs) - goneMs;
      if (!isDue(state, maxAgeMs) || this.stopped) return state;
      const ended = this.start(state);
      if (leftMs <= 0) return state;
      await Promise.race([ended, pause(leftMs, undefined, { ref: false })]);
    }
  }

  /** Syncs in the background, unless the last try was a moment ago: then the sweep does it. */
  poke(state: AccountState): void {
    if (!this.stopped && (state.triedAgoMs === null || state.triedAgoMs > REST_MS)) void this.start(state);
  }

  /** The mirror was found wrong: the sweep syncs it soon, but not more often however often this is called. */
  async suspect(key: AccountKey): Promise<void> {
    const name = `${key.organizationId}/${key.wabaId}`;
    if (this.suspected.has(name)) return;
    this.suspected.set(name, true);
    await this.accounts.markStale(key);
  }

  /**
   * Syncs each account of a workspace once an hour, and within seconds if its mirror is known to differ from WhatsApp.
   */
  private async turn(organizationId: string, signal: AbortSignal): Promise<number> {
    const own = [...this.running.keys()].filter((name) => name.startsWith(organizationId)).length;
    const free = Math.min(SWEEP_OF_WORKSPACE - own, SWEEP_AT_ONCE - this.running.size);
    if (free <= 0) return 0;
    const due = await this.accounts.listDue(organizationId, free);
    // A sync may outlast the turn: it continues, and uses up a slot of the next turns.
    const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([Promise.all(due.map((account) => this.start(account))), over]);
    return due.length;
  }

  /** Syncs now, or joins the running sync of this process. Never rejects. */
  private start(state: AccountState): Promise<void> {
    const { organizationId, wabaId } = state;
    const name = `${organizationId}/${wabaId}`;
    const underWay = this.running.get(name);
    if (underWay !== undefined) return underWay;
    // Detached, because it outlives its first caller's transaction.
    const run = this.database
      .detached(() => this.run(state))
      .catch((error: unknown) => {
        this.counters.increment('template_syncs_failed');
        if (!this.stopped) this.logger.error(`the templates of ${wabaId} could not be synced`, error);
      })
      .finally(() => this.running.delete(name));
    this.running.set(name, run);
    return run;
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    // Does not wait for WhatsApp's answers: locks on accounts are released; the rest changes nothing.
    await Promise.allSettled([...this.held].map(([owner, key]) => this.accounts.release(key, owner)));
  }

  private async run(state: AccountState): Promise<void> {
    const owner = newId();
    const { organizationId, wabaId } = state;
    const key = { organizationId, wabaId };
    if (!(await this.accounts.acquire(state, owner))) return this.awaitOther(key);
    this.held.set(owner, key);
    try {
      await this.sync(key, owner);
    } catch (error) {
      // An error of ours must not be retried at once either.
      await this.accounts.fail(key, owner, failure('unavailable', { message: OUR_ERROR })).catch(() => undefined);
      throw error;
    } finally {
      this.held.delete(owner);
    }
  }

  private async sync(key: AccountKey, owner: string): Promise<void> {
    const listed = await this.list(key, owner);
    if (listed === null || this.stopped) return;
    if (!listed.ok) {
      this.counters.increment('template_syncs_failed');
      this.logger.warn(`the templates of ${key.wabaId} could not be listed: ${listed.message}`);
      return this.accounts.fail(key, owner, listed);
    }
    await this.database.transaction(async () => {
      const account = await this.accounts.lock(key);
      // A sync that lost the account to another one has an old list.
      if (account === null || !(await this.accounts.renew(key, owner))) return;
      const takeOver = async (): Promise<number> => {
        const changed = await this.mirror.takeOver(key, listed.templates);
        return changed + (listed.complete ? await this.mirror.removeUnlisted(key, listed.templates) : 0);
      };
      // The first list is not a change.
      const isFirst = account.syncedAt === null;
      const changed = await (isFirst ? takeOver() : this.mirror.recordingChanges(key, null, takeOver));
      await this.accounts.finish(key, owner, changed > 0);
      if (changed > 0) await this.invalidation.publish(TEMPLATES_CHANGED, key.wabaId);
    });
    this.counters.increment('template_syncs');
  }

  /** Any number of the account works; if WhatsApp refuses one's token, the next is tried. */
  private async list(key: AccountKey, owner: string): Promise<Listing | PlatformFailure | null> {
    let listed: Listing | PlatformFailure | null = failure('unavailable', { message: NO_NUMBER });
    for (const id of await this.connections.askable(key.organizationId, key.wabaId, MAX_NUMBERS_TRIED)) {
      const number = await this.connections.forSending(id);
      if (number === null) continue;
      const goOn = async (): Promise<boolean> => !this.stopped && (await this.accounts.renew(key, owner));
      listed = await readListing(this.client, { wabaId: key.wabaId, token: number.token }, goOn);
      if (listed === null || listed.ok || listed.kind !== 'rejected' || this.stopped) break;
      if (isTokenRefused(listed)) await this.connections.tokenRefused(number);
    }
    return listed;
  }

  private async awaitOther(key: AccountKey): Promise<void> {
    const deadline = performance.now() + REST_MS;
    do await pause(POLL_MS, undefined, { ref: false });
    while (!this.stopped && performance.now() < deadline && (await this.accounts.get(key)).syncingForMs !== null);
  }
}

function isDue(state: AccountState, maxAgeMs: number): boolean {
  const triedAgoMs = state.triedAgoMs ?? Infinity;
  if (state.failures > 0) {
    if (triedAgoMs < REST_AFTER_FAILURE_MS) return false;
  } else if (!state.stale && state.syncedAt !== null && triedAgoMs < REST_MS) return false;
  return state.syncedAt === null || state.stale || (state.syncedAgoMs ?? Infinity) > maxAgeMs;
}
