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

/** Kind of the notices to every process that templates have changed. */
export const TEMPLATES_CHANGED = 'template';

export interface Freshness {
  /** The mirror may be so old; an account that is marked as changed is too old in any case. */
  maxAgeMs: number;
  /** How long a sync is waited for, from its beginning on: of many who ask one after the other, only the first waits. */
  waitMs: number;
  /** The same where there is no mirror yet that could answer instead. Default: `waitMs`. */
  firstWaitMs?: number;
}

/** After a sync, good or bad, no question starts another one for so long, unless something has changed. */
const REST_MS = 5_000;
const REST_AFTER_FAILURE_MS = 10_000;
const POLL_MS = 100;
const MAX_NUMBERS_TRIED = 3;

const SWEEP_EVERY_MS = 10_000;
/** Syncs under way in this process, and those of one workspace: a platform that does not answer may keep them for long. */
const SWEEP_AT_ONCE = 16;
const SWEEP_OF_WORKSPACE = 2;

const OUR_ERROR = 'The list could not be stored.';
const NO_NUMBER = 'None of the connections of this account is connected to the platform.';

/**
 * Keeps the mirror of an account's templates true to the platform's list. One process at a time syncs an account, and
 * in it all who ask share the sync. A sync that fails changes nothing.
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
   * Makes the mirror as fresh as asked for, where the platform lets it in time. Never throws for the platform's sake.
   *
   * @returns the account's state then; without `syncedAt` there is no mirror yet, and `failure` says why.
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

  /** The mirror was found wrong: the sweep compares it soon, once in a while however often this is called. */
  async suspect(key: AccountKey): Promise<void> {
    const name = `${key.organizationId}/${key.wabaId}`;
    if (this.suspected.has(name)) return;
    this.suspected.set(name, true);
    await this.accounts.markStale(key);
  }

  /** Syncs each account of a workspace once an hour, and within seconds where its mirror is known to differ from the platform. */
  private async turn(organizationId: string, signal: AbortSignal): Promise<number> {
    const own = [...this.running.keys()].filter((name) => name.startsWith(organizationId)).length;
    const free = Math.min(SWEEP_OF_WORKSPACE - own, SWEEP_AT_ONCE - this.running.size);
    if (free <= 0) return 0;
    const due = await this.accounts.listDue(organizationId, free);
    // A sync may take longer than the turn: it goes on, and takes a place of the next ones.
    const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([Promise.all(due.map((account) => this.start(account))), over]);
    return due.length;
  }

  /** Syncs now, or joins the sync that is under way in this process. Never rejects. */
  private start(state: AccountState): Promise<void> {
    const { organizationId, wabaId } = state;
    const name = `${organizationId}/${wabaId}`;
    const underWay = this.running.get(name);
    if (underWay !== undefined) return underWay;
    // It outlives its first caller, so it must not take part in that transaction.
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
    // Answers of the platform are not waited for: what holds an account is given back, the rest changes nothing.
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
      // An error of ours must not be tried again at once either.
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
      // What the first list shows is no change.
      const isFirst = account.syncedAt === null;
      const changed = await (isFirst ? takeOver() : this.mirror.recordingChanges(key, null, takeOver));
      await this.accounts.finish(key, owner, changed > 0);
      if (changed > 0) await this.invalidation.publish(TEMPLATES_CHANGED, key.wabaId);
    });
    this.counters.increment('template_syncs');
  }

  /** Any number of the account will do; where the platform refuses the one's token, the next is tried. */
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
