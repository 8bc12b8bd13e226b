import { Injectable, Logger } from '@nestjs/common';
import { databaseClock, systemClock } from '../../../common/clock.js';
import { describeError } from '../../../common/describe-error.js';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Database } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import { PgNotifier } from '../../../infrastructure/database/pg-notifier.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import type { OperatorScope } from '../../../infrastructure/http/scopes.js';
import { rateLimits, type RateLimits } from '../../../infrastructure/rates/rate-limiter.js';
import { Audit } from '../../audit/audit.service.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import { digestOf, isSecretOf, newKey, parseKey } from '../api-key-format.js';
import { KeyUsage } from '../key-usage.js';
import { keysErrors } from '../keys.errors.js';
import {
  type OperatorKey,
  type OperatorKeyFilter,
  OperatorKeysRepository,
  type StoredOperatorKey,
} from './operator-keys.repository.js';

export type { OperatorKey };

/** A new key: its text is known only now. */
export interface IssuedOperatorKey extends OperatorKey {
  /** The full text for the Authorization header. Show it once; it cannot be read again. */
  key: string;
}

export interface NewOperatorKey {
  name: string;
  scopes: readonly OperatorScope[];
  /** Null: all workspaces, and operations on the whole installation. */
  workspaceIds: readonly string[] | null;
  expiresAt?: Date | null;
}

/** The caller, from a valid operator key. At most two seconds old. */
export interface OperatorCaller extends Operator {
  scopes: ReadonlySet<OperatorScope>;
  rateLimits: RateLimits;
}

interface KnownKey {
  secretHash: Buffer;
  revoked: boolean;
  /** By this process's monotonic clock. */
  expiresAt: number;
  caller: OperatorCaller;
}

const KEY_CHANGED = 'operator_key';
const CACHE_MS = 2_000;
const MAX_CACHED = 1_000;
const DEFAULT_OVERLAP_SECONDS = 24 * 3_600;

/** Creates, checks and revokes the keys of the admin API. Without any key, every route of it answers 401. */
@Injectable()
export class OperatorKeysService {
  private readonly logger = new Logger(OperatorKeysService.name);
  private readonly known = new ExpiringCache<string, KnownKey | null>({ ttlMs: CACHE_MS, maxEntries: MAX_CACHED });
  /** Like for API keys, a flood of invented ids costs one statement per batch. */
  private readonly reader: GroupCommit<string, StoredOperatorKey | null>;
  private readonly usage = new KeyUsage();

  constructor(
    private readonly keys: OperatorKeysRepository,
    private readonly workspaces: WorkspacesService,
    private readonly database: Database,
    private readonly invalidation: PgNotifier,
    private readonly config: Config,
    private readonly audit: Audit,
  ) {
    this.reader = new GroupCommit(database, {
      name: 'operator keys',
      commit: (ids) => this.keys.readStored(ids),
      transactional: false,
      lockedForMs: null,
    });
    invalidation.on(KEY_CHANGED, (id) => (id === null ? this.known.clear() : this.known.delete(id)));
  }

  /**
   * Creates a key. Its text is in the answer and nowhere else.
   *
   * @param by the operator key that asks for it, which gives no more than it has; null: one without a limit does.
   * @throws OPERATOR_KEY_BEYOND, OPERATOR_KEY_LIMITED (403), KEY_WORKSPACE_NOT_FOUND (422); what `giverOf` throws.
   */
  async create(given: NewOperatorKey, by: string | null = null): Promise<IssuedOperatorKey> {
    return this.database.transaction(async () => {
      const giver = by === null ? null : giverOf(await this.keys.lock([by]), by);
      if (giver !== null) requireWithin(giver, given);
      const { workspaceIds } = given;
      if (workspaceIds !== null && !(await this.workspaces.exist(workspaceIds)))
        throw keysErrors.KEY_WORKSPACE_NOT_FOUND();
      return this.issue(given);
    });
  }

  private async issue({ name, expiresAt = null, ...given }: NewOperatorKey): Promise<IssuedOperatorKey> {
    const { id, secret, text } = newKey('admin');
    const scopes = [...new Set(given.scopes)];
    const workspaceIds = given.workspaceIds === null ? null : [...new Set(given.workspaceIds)];
    await this.keys.insert({ id, name, secretHash: digestOf(secret), scopes, workspaceIds, expiresAt });
    const details = { name, scopes, workspace_ids: workspaceIds, expires_at: expiresAt };
    await this.audit.record({ action: 'operator_key.created', organizationId: null, target: id, details });
    return { ...(await this.getById(id)), key: text };
  }

  /** Oldest first, ended ones too. */
  list(): Promise<OperatorKey[]> {
    return this.keys.list();
  }

  /** As `OperatorKeysRepository.page`. */
  page(filter: OperatorKeyFilter): Promise<OperatorKey[]> {
    return this.keys.page(filter);
  }

  /**
   * @param only those that are limited to some of these workspaces exist; null: all.
   * @throws OPERATOR_KEY_NOT_FOUND (404).
   */
  async getById(id: string, only: readonly string[] | null = null): Promise<OperatorKey> {
    const key = await this.keys.findById(id);
    if (key === null || !isLimitedTo(only, key.workspaceIds)) throw keysErrors.OPERATOR_KEY_NOT_FOUND();
    return key;
  }

  /**
   * Revokes a key: every process refuses it within five seconds, usually at once. Revoking it again changes nothing.
   *
   * @param by as of `create`: one that ends itself, too, and no key with scopes that it lacks. When either ends does not count.
   * @throws OPERATOR_KEY_NOT_FOUND (404), OPERATOR_KEY_BEYOND (403); what `giverOf` throws.
   */
  revoke(id: string, by: string | null = null): Promise<OperatorKey> {
    return this.database.transaction(async () => {
      const { key } = await this.locked(id, by);
      await this.keys.revoke(id);
      if (key.revokedAt === null) {
        await this.audit.record({ action: 'operator_key.revoked', organizationId: null, target: id });
      }
      await this.invalidation.publish(KEY_CHANGED, id);
      return this.getById(id);
    });
  }

  /**
   * Makes a key of the same name, scopes and workspaces in its place. Both work for `overlapSeconds` (default one day),
   * then the old one has expired; with 0 it is revoked at once. The new one ends with the key that asks for it, or never.
   *
   * @param by as of `revoke`.
   * @throws OPERATOR_KEY_ENDED (409) where it was revoked; what `revoke` throws.
   */
  rotate(id: string, overlapSeconds = DEFAULT_OVERLAP_SECONDS, by: string | null = null): Promise<IssuedOperatorKey> {
    return this.database.transaction(async () => {
      const { key: old, giver } = await this.locked(id, by);
      if (old.revokedAt !== null) throw keysErrors.OPERATOR_KEY_ENDED();
      const { name, scopes, workspaceIds } = old;
      const issued = await this.issue({ name, scopes, workspaceIds, expiresAt: giver?.expiresAt ?? null });
      if (overlapSeconds > 0) await this.keys.expireIn(id, overlapSeconds);
      else await this.keys.revoke(id);
      const details = { replaced_by: issued.id, overlap_seconds: overlapSeconds };
      await this.audit.record({ action: 'operator_key.rotated', organizationId: null, target: id, details });
      await this.invalidation.publish(KEY_CHANGED, id);
      return issued;
    });
  }

  /** A key that is to be changed, with the one that asks for it, as they are now. @throws as `revoke`. */
  private async locked(id: string, by: string | null): Promise<{ key: OperatorKey; giver: OperatorKey | null }> {
    const found = await this.keys.lock(by === null ? [id] : [id, by]);
    const giver = by === null ? null : giverOf(found, by);
    const key = found.find((each) => each.id === id);
    if (key === undefined || !isLimitedTo(giver?.workspaceIds ?? null, key.workspaceIds))
      throw keysErrors.OPERATOR_KEY_NOT_FOUND();
    if (giver !== null) requireScopes(giver, key.scopes);
    return { key, giver };
  }

  /**
   * Finds the operator of this key, cached for two seconds.
   *
   * @throws API_KEY_INVALID, API_KEY_EXPIRED, API_KEY_REVOKED, OPERATOR_KEY_REQUIRED (401).
   */
  async authenticate(text: string): Promise<OperatorCaller> {
    const parsed = parseKey(text);
    if (parsed === null) throw keysErrors.API_KEY_INVALID();
    const { mode, id, secret } = parsed;
    if (mode !== 'admin') throw keysErrors.OPERATOR_KEY_REQUIRED();
    const key = await this.known.get(id, () => this.read(id));
    if (!isSecretOf(key, secret)) throw keysErrors.API_KEY_INVALID();
    const caller = admit(key);
    this.noteUse(id);
    return caller;
  }

  /**
   * Whether the caller of a request that waited may still be answered.
   *
   * @throws API_KEY_INVALID, API_KEY_EXPIRED, API_KEY_REVOKED (401).
   */
  async confirm({ keyId }: Pick<OperatorCaller, 'keyId'>): Promise<void> {
    const key = await this.known.get(keyId, () => this.read(keyId));
    if (key === null) throw keysErrors.API_KEY_INVALID();
    admit(key);
  }

  private async read(id: string): Promise<KnownKey | null> {
    const startedAt = systemClock.monotonic();
    const stored = await this.reader.submit(id);
    if (stored === null) return null;
    const { ratePerSecond, rateBurst } = this.config.limits;
    return {
      secretHash: stored.secretHash,
      revoked: stored.revoked,
      expiresAt: stored.expiresInMs === null ? Infinity : startedAt + stored.expiresInMs,
      caller: {
        keyId: id,
        scopes: new Set(stored.scopes),
        workspaceIds: stored.workspaceIds,
        rateLimits: rateLimits(ratePerSecond, rateBurst),
      },
    };
  }

  /** At most once a minute; no request waits for it. */
  private noteUse(id: string): void {
    this.usage.note(id);
    const ids = this.usage.takePending();
    if (ids.length === 0) return;
    this.keys.touch(ids).catch((error: unknown) => {
      this.logger.warn(`the time of last use of an operator key was not noted: ${describeError(error)}`);
    });
  }
}

/** @throws API_KEY_EXPIRED, API_KEY_REVOKED (401). */
function admit(key: KnownKey): OperatorCaller {
  if (key.revoked) throw keysErrors.API_KEY_REVOKED();
  if (key.expiresAt <= systemClock.monotonic()) throw keysErrors.API_KEY_EXPIRED();
  return key.caller;
}

/** The key that asks for a change of keys. One that has ended by now changes none. @throws API_KEY_INVALID, API_KEY_EXPIRED, API_KEY_REVOKED (401). */
function giverOf(found: readonly OperatorKey[], id: string): OperatorKey {
  const giver = found.find((each) => each.id === id);
  if (giver === undefined) throw keysErrors.API_KEY_INVALID();
  if (giver.revokedAt !== null) throw keysErrors.API_KEY_REVOKED();
  if (giver.expiresAt !== null && giver.expiresAt.getTime() <= databaseClock.now()) throw keysErrors.API_KEY_EXPIRED();
  return giver;
}

/** @throws OPERATOR_KEY_BEYOND, OPERATOR_KEY_LIMITED (403), KEY_WORKSPACE_NOT_FOUND (422). */
function requireWithin(giver: OperatorKey, { scopes, workspaceIds, expiresAt = null }: NewOperatorKey): void {
  requireScopes(giver, scopes);
  if (!isLimitedTo(giver.workspaceIds, workspaceIds)) {
    // Those that it may not see do not exist for it.
    throw workspaceIds === null ? keysErrors.OPERATOR_KEY_LIMITED() : keysErrors.KEY_WORKSPACE_NOT_FOUND();
  }
  if (giver.expiresAt !== null && (expiresAt === null || expiresAt > giver.expiresAt))
    throw keysErrors.OPERATOR_KEY_BEYOND({ endsAt: giver.expiresAt });
}

/** @throws OPERATOR_KEY_BEYOND (403). */
function requireScopes(giver: OperatorKey, scopes: readonly OperatorScope[]): void {
  const lacking = scopes.filter((scope) => !giver.scopes.includes(scope));
  if (lacking.length > 0) throw keysErrors.OPERATOR_KEY_BEYOND({ scopes: [...new Set(lacking)] });
}

/** @param only null: all workspaces, with which every limit goes. */
function isLimitedTo(only: readonly string[] | null, workspaceIds: readonly string[] | null): boolean {
  return only === null || (workspaceIds !== null && workspaceIds.every((id) => only.includes(id)));
}
