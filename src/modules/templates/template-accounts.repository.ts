import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { PlatformFailure } from '../../infrastructure/whatsapp/platform-result.js';
import type { AccountKey } from './templates.types.js';

/** The freshness of an account's mirror. All times are the database's. */
export interface AccountState extends AccountKey {
  /** When the last complete list was requested; null where there was none yet. */
  syncedAt: Date | null;
  /** Milliseconds since `syncedAt`. */
  syncedAgoMs: number | null;
  /** Whether something at WhatsApp is known to have changed since `syncedAt`. */
  stale: boolean;
  /** Milliseconds since the last sync ended, successful or not. */
  triedAgoMs: number | null;
  /** When the last sync ended, to the microsecond. */
  triedAt: string | null;
  /** How many tries have failed in a row. */
  failures: number;
  /** Why the last try failed. */
  failure: PlatformFailure | null;
  /** Milliseconds since a process began to sync the account; null: no process does. */
  syncingForMs: number | null;
  now: Date;
}

const agoMs = (column: string): string => `(extract(epoch from clock_timestamp() - ${column}) * 1000)::float8`;

const STATE = `organization_id as "organizationId", waba_id as "wabaId", synced_at as "syncedAt",
  ${agoMs('synced_at')} as "syncedAgoMs", stale_since is not null as stale, ${agoMs('tried_at')} as "triedAgoMs", tried_at::text as "triedAt",
  failures, failure, clock_timestamp() as now,
  case when sync_until > clock_timestamp() then ${agoMs('sync_started_at')} end as "syncingForMs"`;

/**
 * The time for which a process holds an account. It is longer than one page of WhatsApp's list can take. A process that
 * dies blocks the account for this long.
 */
export const LEASE_SECONDS = 60;
const LEASED = `sync_until = clock_timestamp() + interval '${LEASE_SECONDS} seconds'`;
const RELEASED = 'sync_owner = null, sync_until = null';

const FIRST_RETRY_SECONDS = 60;
const DUE = `(stale_since is not null or synced_at is null or synced_at < clock_timestamp() - interval '1 hour')
  and (sync_until is null or sync_until < clock_timestamp())
  and (failures = 0 or tried_at < clock_timestamp()
    - make_interval(secs => least(3600, ${FIRST_RETRY_SECONDS} * power(4, least(failures - 1, 3)))))`;

/** SQL condition: a sync of the account is due. */
export const IS_DUE = `(${DUE})`;

/**
 * The table `template_account`: for each account, how fresh its mirror is (the copy of its templates in the table
 * `template`), and which process syncs the mirror.
 */
@Injectable()
export class TemplateAccountsRepository {
  constructor(private readonly database: Database) {}

  /** The account's state; creates its row if missing. */
  async get({ organizationId, wabaId }: AccountKey): Promise<AccountState> {
    const known = await this.find(organizationId, wabaId);
    if (known !== null) return known;
    await this.database.execute(
      'insert into template_account (organization_id, waba_id) values ($1, $2) on conflict do nothing',
      [organizationId, wabaId],
    );
    const made = await this.find(organizationId, wabaId);
    if (made === null) throw new Error(`the account ${wabaId} vanished`);
    return made;
  }

  /** The state of the account in every workspace that has it: a notification names only the account. */
  listByWaba(wabaId: string): Promise<AccountState[]> {
    return this.database.query<AccountState>(`select ${STATE} from template_account where waba_id = $1`, [wabaId]);
  }

  /** Accounts that were not synced for an hour, or have changed since; after repeated failures less and less often. */
  listDue(organizationId: string, limit: number): Promise<AccountState[]> {
    return this.database.query<AccountState>(
      `select ${STATE} from template_account where organization_id = $1 and ${IS_DUE}
       order by tried_at nulls first limit $2`,
      [organizationId, limit],
    );
  }

  /** Locks the account for the ambient transaction, so that changes of its templates follow each other. */
  lock({ organizationId, wabaId }: AccountKey): Promise<AccountState | null> {
    return this.find(organizationId, wabaId, 'for update');
  }

  /** Starts a sync of the account; false where another sync runs, or ended after `state` was read. */
  acquire(state: AccountState, owner: string): Promise<boolean> {
    const set = `sync_owner = $3, sync_started_at = clock_timestamp(), ${LEASED}`;
    const and = `and (sync_until is null or sync_until < clock_timestamp())
      and tried_at is not distinct from $4::timestamptz`;
    return this.update(state, set, and, owner, state.triedAt);
  }

  /** Extends the hold of a running sync to `LEASE_SECONDS` from now. Returns false where the hold was lost. */
  renew(key: AccountKey, owner: string): Promise<boolean> {
    return this.update(key, LEASED, 'and sync_owner = $3', owner);
  }

  /** Ends a failed sync. The mirror stays unchanged. */
  async fail(key: AccountKey, owner: string, failure: PlatformFailure): Promise<void> {
    const set = `tried_at = clock_timestamp(), failures = failures + 1, failure = $4, ${RELEASED}`;
    await this.update(key, set, 'and sync_owner = $3', owner, JSON.stringify(failure));
  }

  /** Abandons a sync without a result, so that the next one need not wait. */
  async release(key: AccountKey, owner: string): Promise<void> {
    await this.update(key, RELEASED, 'and sync_owner = $3', owner);
  }

  /**
   * Ends a sync whose list was applied, in the same transaction. The mirror is as fresh as the beginning of the sync,
   * so a later stale mark stays.
   */
  async finish(key: AccountKey, owner: string, changed: boolean): Promise<void> {
    await this.update(
      key,
      `synced_at = sync_started_at, tried_at = clock_timestamp(), failures = 0, failure = null, ${RELEASED},
         stale_since = case when stale_since >= sync_started_at then stale_since end,
         changed_at = case when $4 then clock_timestamp() else changed_at end`,
      'and sync_owner = $3',
      owner,
      changed,
    );
  }

  /** The mirror is known to differ from WhatsApp: the next reader, or the sweep, queries WhatsApp. */
  async markStale(key: AccountKey): Promise<void> {
    await this.update(key, 'stale_since = clock_timestamp()');
  }

  /** Records a change of the mirror, so that a concurrent write notices it. */
  async markChanged(key: AccountKey): Promise<void> {
    await this.update(key, 'changed_at = clock_timestamp()');
  }

  /**
   * Records a write of ours that was sent at `since`. If the account was synced or changed meanwhile, the order is
   * unknown, so WhatsApp is queried.
   */
  async markWritten(key: AccountKey, since: Date): Promise<void> {
    await this.update(
      key,
      `changed_at = clock_timestamp(),
         stale_since = case when changed_at >= $3 or stale_since >= $3 or sync_until > clock_timestamp()
           then clock_timestamp() else stale_since end`,
      '',
      since,
    );
  }

  private find(organizationId: string, wabaId: string, lock = ''): Promise<AccountState | null> {
    return this.database.find<AccountState>(
      `select ${STATE} from template_account where organization_id = $1 and waba_id = $2 ${lock}`,
      [organizationId, wabaId],
    );
  }

  /** Returns whether there was such a row. */
  private update({ organizationId, wabaId }: AccountKey, set: string, and = '', ...more: unknown[]): Promise<boolean> {
    const sql = `update template_account set ${set} where organization_id = $1 and waba_id = $2 ${and}`;
    return this.database.changes(sql, [organizationId, wabaId, ...more]);
  }
}
