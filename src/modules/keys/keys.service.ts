import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { systemClock } from '../../common/clock.js';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { Audit } from '../audit/audit.service.js';
import { Config } from '../../infrastructure/config/config.js';
import { Database } from '../../infrastructure/database/database.js';
import { GroupCommit } from '../../infrastructure/database/group-commit.js';
import { KeyUsage } from './key-usage.js';
import { keysErrors } from './keys.errors.js';
import { digestOf, isSecretOf, newKey, parseKey } from './api-key-format.js';
import { ApiKeysRepository, type ApiKey, type KeyFilter, type KeyOfCaller, type StoredKey } from './keys.repository.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import type { Caller, OtpProjectOfKey } from './caller.decorator.js';
import { rateLimits } from '../../infrastructure/rates/rate-limiter.js';
import { isOtpScope, type Scope } from '../../infrastructure/http/scopes.js';
import { WORKSPACE_CHANGED } from '../workspaces/workspaces.service.js';

export type { ApiKey };

/** A new key: its text is known only now. */
export interface IssuedApiKey extends ApiKey {
  /** The full text for the Authorization header. Show it once; it cannot be read again. */
  key: string;
}

export interface NewApiKey {
  organizationId: string;
  name: string;
  scopes: readonly Scope[];
  expiresAt?: Date | null;
  /** The OTP project that the key belongs to; it then has only OTP scopes. */
  otpProject?: OtpProjectOfKey;
}

/** The changeable fields of a key. */
export type KeyChange = Partial<Pick<ApiKey, 'name' | 'expiresAt'> & { scopes: readonly Scope[] }>;

interface KnownKey {
  secretHash: Buffer;
  revoked: boolean;
  /** By this process's monotonic clock. */
  expiresAt: number;
  caller: Caller;
}

const KEY_CHANGED = 'api_key';
const CACHE_MS = 2_000;
const MAX_CACHED = 50_000;
const USAGE_FLUSH_MS = 5_000;
const DEFAULT_OVERLAP_SECONDS = 24 * 3_600;

/** Creates, checks and revokes API keys. */
@Injectable()
export class ApiKeysService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(ApiKeysService.name);
  private readonly known = new ExpiringCache<string, KnownKey | null>({
    ttlMs: CACHE_MS,
    maxEntries: MAX_CACHED,
    keep: (key) => key !== null && !key.revoked && key.expiresAt > systemClock.monotonic(),
  });
  /**
   * The key of each verified text, so that the same text is not parsed and hashed again. It counts only while `known`
   * has exactly that key; `known` is updated by revocations.
   */
  private readonly verified = new ExpiringCache<string, KnownKey>({ ttlMs: CACHE_MS, maxEntries: MAX_CACHED });
  /** A flood of invented ids costs one statement per batch. */
  private readonly reader: GroupCommit<string, StoredKey | null>;
  private readonly usage = new KeyUsage();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly keys: ApiKeysRepository,
    private readonly database: Database,
    private readonly invalidation: PgNotifier,
    private readonly config: Config,
    private readonly audit: Audit,
  ) {
    this.reader = new GroupCommit(database, {
      name: 'API keys',
      commit: (ids) => this.keys.readStored(ids),
      transactional: false,
      lockedForMs: null,
      maxWaiting: 5_000,
    });
    invalidation.on(KEY_CHANGED, (id) => (id === null ? this.known.clear() : this.known.delete(id)));
    invalidation.on(WORKSPACE_CHANGED, () => this.known.clear());
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.flushUsage(), USAGE_FLUSH_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.flushUsage();
  }

  /**
   * Creates a key. Its text is in the answer and nowhere else.
   *
   * @param within the scopes that the key may have at most; absent: any
   * @throws KEY_SCOPES_MIXED (422) where a key of an OTP project gets other scopes than OTP's, or another key gets
   * those; KEY_BEYOND_ROLE (403).
   */
  async create(input: NewApiKey, within?: ReadonlySet<Scope>): Promise<IssuedApiKey> {
    const { otpProject = null } = input;
    requireWithin(input.scopes, within);
    requireFitting(input.scopes, otpProject !== null);
    const { id, secret, text } = newKey(otpProject?.mode === 'sandbox' ? 'test' : 'live');
    const { organizationId, name, expiresAt = null } = input;
    const scopes = [...new Set(input.scopes)];
    return this.database.transaction(async () => {
      const otpProjectId = otpProject?.id ?? null;
      await this.keys.insert({
        id,
        organizationId,
        name,
        secretHash: digestOf(secret),
        scopes,
        expiresAt,
        otpProjectId,
      });
      const details = { name, scopes, expires_at: expiresAt, otp_project_id: otpProjectId };
      await this.audit.record({ action: 'key.created', organizationId, target: id, details });
      return { ...(await this.getById(id)), key: text };
    });
  }

  /** The workspace's keys, oldest first, including expired and revoked ones. */
  list(organizationId: string): Promise<ApiKey[]> {
    return this.keys.list(organizationId);
  }

  /** As `ApiKeysRepository.page`. */
  page(organizationId: string, filter: KeyFilter): Promise<ApiKey[]> {
    return this.keys.page(organizationId, filter);
  }

  /** @throws KEY_NOT_FOUND (404) where the workspace has no such key. */
  async getOf(organizationId: string, id: string): Promise<ApiKey> {
    const key = await this.keys.findOf(organizationId, id);
    if (key === null) throw keysErrors.KEY_NOT_FOUND();
    return key;
  }

  /** @throws KEY_PROJECT_NOT_FOUND (422) where the workspace has no such OTP project. */
  async getProject(organizationId: string, id: string): Promise<OtpProjectOfKey> {
    const project = await this.keys.findProject(organizationId, id);
    if (project === null) throw keysErrors.KEY_PROJECT_NOT_FOUND();
    return project;
  }

  /**
   * Changes a key; absent fields stay unchanged. Every process knows the change within five seconds, usually at once.
   *
   * @param within the scopes that the key may have at most, before and after; absent: any
   * @throws KEY_NOT_FOUND (404), KEY_ENDED (409), KEY_SCOPES_MIXED (422), KEY_BEYOND_ROLE (403).
   */
  change(organizationId: string, id: string, change: KeyChange, within?: ReadonlySet<Scope>): Promise<ApiKey> {
    return this.database.transaction(async () => {
      const key = await this.keys.lock(id);
      if (key?.organizationId !== organizationId) throw keysErrors.KEY_NOT_FOUND();
      if (key.revokedAt !== null) throw keysErrors.KEY_ENDED();
      const { name = key.name, scopes = key.scopes, expiresAt = key.expiresAt } = change;
      requireWithin([...key.scopes, ...scopes], within);
      requireFitting(scopes, key.otpProjectId !== null);
      await this.keys.update(id, { name, scopes: [...new Set(scopes)], expiresAt });
      const details = { name: change.name, scopes: change.scopes, expires_at: change.expiresAt };
      await this.audit.record({ action: 'key.changed', organizationId, target: id, details });
      await this.invalidation.publish(KEY_CHANGED, id);
      return this.getById(id);
    });
  }

  /** @throws Error where there is no such key. */
  async getById(id: string): Promise<ApiKey> {
    const key = await this.keys.findById(id);
    if (key === null) throw new Error(`there is no API key ${id}`);
    return key;
  }

  private async locked(id: string): Promise<ApiKey> {
    const key = await this.keys.lock(id);
    if (key === null) throw new Error(`there is no API key ${id}`);
    return key;
  }

  /**
   * Revokes a key: every process refuses it within five seconds, usually at once. Revoking it again changes nothing.
   *
   * @throws Error where there is no such key.
   */
  revoke(id: string): Promise<ApiKey> {
    return this.database.transaction(async () => {
      const { organizationId, revokedAt } = await this.locked(id);
      await this.keys.revoke(id);
      if (revokedAt === null) await this.audit.record({ action: 'key.revoked', organizationId, target: id });
      await this.invalidation.publish(KEY_CHANGED, id);
      return this.getById(id);
    });
  }

  /** Revokes all keys of the workspace. */
  async revokeAll(organizationId: string): Promise<void> {
    for (const { id } of await this.list(organizationId)) await this.revoke(id);
  }

  /**
   * Creates a successor with the same name and scopes. Both work for `overlapSeconds` (default one day), then the old
   * one expires; with 0 it is revoked at once. The new one has no expiry.
   *
   * @param within the scopes that the key may have at most; absent: any
   * @throws Error where there is no such key, KEY_ENDED (409) where it was revoked, KEY_BEYOND_ROLE (403).
   */
  rotate(id: string, overlapSeconds = DEFAULT_OVERLAP_SECONDS, within?: ReadonlySet<Scope>): Promise<IssuedApiKey> {
    return this.database.transaction(async () => {
      const old = await this.locked(id);
      if (old.revokedAt !== null) throw keysErrors.KEY_ENDED();
      requireWithin(old.scopes, within);
      const otpProject = await this.otpProjectOf(id);
      const { organizationId, name, scopes } = old;
      const issued = await this.create({ organizationId, name, scopes, otpProject });
      const expiresAt = overlapSeconds > 0 ? await this.keys.expireIn(id, overlapSeconds) : null;
      if (expiresAt === null) await this.keys.revoke(id);
      const details = { replaced_by: issued.id, overlap_seconds: overlapSeconds, expires_at: expiresAt ?? undefined };
      await this.audit.record({ action: 'key.rotated', organizationId, target: id, details });
      await this.invalidation.publish(KEY_CHANGED, id);
      return issued;
    });
  }

  /** Records which keys expire soon, each once, at most `limit`; returns how many. */
  noteEnding(limit: number): Promise<number> {
    return this.database.transaction(async () => {
      const ending = await this.keys.takeEnding(limit);
      for (const { id, organizationId, name, expiresAt } of ending) {
        const details = { name, expires_at: expiresAt };
        await this.audit.record({ action: 'key.ending', organizationId, target: id, details });
      }
      return ending.length;
    });
  }

  /**
   * Finds the caller of this key, cached for two seconds.
   *
   * @throws API_KEY_INVALID, API_KEY_EXPIRED, API_KEY_REVOKED (401).
   */
  authenticate(text: string): Caller | Promise<Caller> {
    const verified = this.verified.peek(text);
    if (verified !== undefined && this.known.peek(verified.caller.apiKeyId) === verified) return this.admit(verified);
    const parsed = parseKey(text);
    if (parsed === null || parsed.mode === 'admin') throw keysErrors.API_KEY_INVALID();
    const { id, secret } = parsed;
    const known = this.known.peek(id);
    if (known !== undefined) return this.verify(known, secret, text);
    return this.known.get(id, () => this.read(id)).then((read) => this.verify(read, secret, text));
  }

  /**
   * Whether the caller of a request that waited may still be answered.
   *
   * @throws API_KEY_INVALID, API_KEY_EXPIRED, API_KEY_REVOKED (401).
   */
  async confirm({ apiKeyId }: Pick<Caller, 'apiKeyId'>): Promise<void> {
    const known = await this.known.get(apiKeyId, () => this.read(apiKeyId));
    if (known === null) throw keysErrors.API_KEY_INVALID();
    this.admit(known);
  }

  /** For a route whose scope depends on what the request asks for. @throws SCOPE_REQUIRED (403). */
  requireScope({ scopes, otpProject, person }: Caller, scope: Scope): void {
    if (scopes.has(scope)) return;
    const ofPerson = person === undefined ? {} : { ofPerson: true as const };
    throw keysErrors.SCOPE_REQUIRED({ scope, ofOtpProject: otpProject !== null, ...ofPerson });
  }

  /** @throws API_KEY_INVALID (401) where the key was deleted during the request. */
  async describe({ organizationId, apiKeyId, person }: Caller): Promise<KeyOfCaller> {
    if (person !== undefined) {
      const { name, expiresAt, workspace } = person;
      return { name, expiresAt, workspaceName: workspace.name, otpProject: null };
    }
    const found = await this.keys.describe(organizationId, apiKeyId);
    if (found === null) throw keysErrors.API_KEY_INVALID();
    return found;
  }

  private verify(key: KnownKey | null, secret: string, text: string): Caller {
    if (!isSecretOf(key, secret)) throw keysErrors.API_KEY_INVALID();
    this.verified.set(text, key);
    return this.admit(key);
  }

  private admit(key: KnownKey): Caller {
    if (key.revoked) throw keysErrors.API_KEY_REVOKED();
    if (key.expiresAt <= systemClock.monotonic()) throw keysErrors.API_KEY_EXPIRED();
    this.usage.note(key.caller.apiKeyId);
    return key.caller;
  }

  private async read(id: string): Promise<KnownKey | null> {
    const startedAt = systemClock.monotonic();
    const stored = await this.reader.submit(id);
    if (stored === null) return null;
    const { limits } = this.config;
    return {
      secretHash: stored.secretHash,
      revoked: stored.revoked,
      expiresAt: stored.expiresInMs === null ? Infinity : startedAt + stored.expiresInMs,
      caller: {
        organizationId: stored.organizationId,
        apiKeyId: stored.id,
        scopes: new Set(stored.scopes as Scope[]),
        apiPaidUntil: stored.apiPaidUntil,
        limited: stored.limited,
        rateLimits: rateLimits(stored.ratePerSecond ?? limits.ratePerSecond, stored.rateBurst ?? limits.rateBurst),
        otpProject: projectOf(stored),
      },
    };
  }

  private async otpProjectOf(id: string): Promise<OtpProjectOfKey | undefined> {
    const [stored] = await this.keys.readStored([id]);
    return (stored && projectOf(stored)) ?? undefined;
  }

  private async flushUsage(): Promise<void> {
    const ids = this.usage.takePending();
    if (ids.length === 0) return;
    try {
      await this.keys.touch(ids);
    } catch (error) {
      this.logger.warn(`the time of last use of ${ids.length} keys was not noted: ${String(error)}`);
    }
  }
}

function projectOf({ otpProjectId, otpMode }: StoredKey): OtpProjectOfKey | null {
  return otpProjectId === null || otpMode === null ? null : { id: otpProjectId, mode: otpMode };
}

function requireWithin(scopes: readonly Scope[], within: ReadonlySet<Scope> | undefined): void {
  const beyond = within === undefined ? [] : [...new Set(scopes)].filter((scope) => !within.has(scope));
  if (beyond.length > 0) throw keysErrors.KEY_BEYOND_ROLE({ scopes: beyond });
}

function requireFitting(scopes: readonly Scope[], ofProject: boolean): void {
  if (scopes.every((scope) => isOtpScope(scope) === ofProject)) return;
  throw keysErrors.KEY_SCOPES_MIXED({ ofProject });
}
