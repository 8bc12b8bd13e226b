import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { PlatformFailure } from '../../infrastructure/whatsapp/platform-result.js';
import type { AccountKey } from './templates.types.js';

/** How current an account's mirror is. All times are the database's. */
export interface AccountState extends AccountKey {
  /** When the last complete list was asked for; null where there was none yet. */
  syncedAt: Date | null;
  /** Milliseconds since then. */
  syncedAgoMs: number | null;
  /** Something is known to have changed since. */
  stale: boolean;
  /** Milliseconds since the last sync ended, well or badly. */
  triedAgoMs: number | null;
  /** Tries that failed in a row, and why the last one did. */
  failures: number;
  failure: PlatformFailure | null;
  /** Milliseconds since somebody, in whichever process, began to sync it; null where nobody does. */
  syncingForMs: number | null;
  now: Date;
}

const STATE = `organization_id as "organizationId", waba_id as "wabaId", synced_at as "syncedAt",
  (extract(epoch from clock_timestamp() - synced_at) * 1000)::float8 as "syncedAgoMs",
  stale_since is not null as stale,
  (extract(epoch from clock_timestamp() - tried_at) * 1000)::float8 as "triedAgoMs",
  failures, failure, clock_timestamp() as now,
  case when sync_until > clock_timestamp()
    then (extract(epoch from clock_timestamp() - sync_started_at) * 1000)::float8 end as "syncingForMs"`;

/** Longer than one page of the platform's list can take. A process that dies leaves the account for this long. */
export const LEASE_SECONDS = 60;
const FIRST_RETRY_SECONDS = 60;
const SYNC_EVERY = "interval '1 hour'";

const DUE = `(stale_since is not null or synced_at is null or synced_at < clock_timestamp() - ${SYNC_EVERY})
  and (sync_until is null or sync_until < clock_timestamp())
  and (failures = 0 or tried_at < clock_timestamp()
    - make_interval(secs => least(3600, ${FIRST_RETRY_SECONDS} * power(4, least(failures - 1, 3)))))`;

/** SQL: some account is to be synced. */
export const HAS_DUE = `exists (select 1 from template_account where ${DUE})`;

/** Which accounts have a mirror, how current it is, and who is syncing it: the table `template_account`. */
@Injectable()
export class TemplateAccountsRepository {
  constructor(private readonly database: Database) {}

  /** The account's state; makes its row where there is none yet. */
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

  /** Every workspace's mirror of the account: a notification names nothing but the account. */
  listByWaba(wabaId: string): Promise<AccountState[]> {
    return this.database.query<AccountState>(`select ${STATE} from template_account where waba_id = $1`, [wabaId]);
  }

  /** Accounts that were not synced for an hour, or have changed since; those that fail again and again ever less often. */
  listDue(limit: number): Promise<AccountKey[]> {
    return this.database.query<AccountKey>(
      `select organization_id as "organizationId", waba_id as "wabaId" from template_account
       where ${DUE} order by tried_at nulls first limit $1`,
      [limit],
    );
  }

  /** Locks the account for the ambient transaction: whoever changes its templates does so one after the other. */
  async lock({ organizationId, wabaId }: AccountKey): Promise<AccountState | null> {
    const [row] = await this.database.query<AccountState>(
      `select ${STATE} from template_account where organization_id = $1 and waba_id = $2 for update`,
      [organizationId, wabaId],
    );
    return row ?? null;
  }

  /** Takes the account for a sync that begins now; false where somebody else has it. */
  async acquire({ organizationId, wabaId }: AccountKey, owner: string): Promise<boolean> {
    const taken = await this.database.execute(
      `update template_account set sync_owner = $3, sync_started_at = clock_timestamp(),
         sync_until = clock_timestamp() + make_interval(secs => $4)
       where organization_id = $1 and waba_id = $2 and (sync_until is null or sync_until < clock_timestamp())`,
      [organizationId, wabaId, owner, LEASE_SECONDS],
    );
    return taken > 0;
  }

  /** Holds it for as long again; false where it is no longer held. */
  async renew({ organizationId, wabaId }: AccountKey, owner: string): Promise<boolean> {
    const held = await this.database.execute(
      `update template_account set sync_until = clock_timestamp() + make_interval(secs => $4)
       where organization_id = $1 and waba_id = $2 and sync_owner = $3`,
      [organizationId, wabaId, owner, LEASE_SECONDS],
    );
    return held > 0;
  }

  /** Ends a sync that brought nothing. The mirror stays as it is. */
  async fail({ organizationId, wabaId }: AccountKey, owner: string, failure: PlatformFailure): Promise<void> {
    await this.database.execute(
      `update template_account set tried_at = clock_timestamp(), failures = failures + 1, failure = $4,
         sync_owner = null, sync_until = null
       where organization_id = $1 and waba_id = $2 and sync_owner = $3`,
      [organizationId, wabaId, owner, JSON.stringify(failure)],
    );
  }

  /** Gives up a sync that was neither finished nor failed, so that the next one need not wait. */
  async release({ organizationId, wabaId }: AccountKey, owner: string): Promise<void> {
    await this.database.execute(
      `update template_account set sync_owner = null, sync_until = null
       where organization_id = $1 and waba_id = $2 and sync_owner = $3`,
      [organizationId, wabaId, owner],
    );
  }

  /**
   * Ends a sync whose list has been applied, in the same transaction. The mirror is as new as the sync's beginning, so
   * a mark that was set later stays.
   */
  async finish({ organizationId, wabaId }: AccountKey, owner: string, changed: boolean): Promise<void> {
    await this.database.execute(
      `update template_account set synced_at = sync_started_at, tried_at = clock_timestamp(), failures = 0,
         failure = null, sync_owner = null, sync_until = null,
         stale_since = case when stale_since >= sync_started_at then stale_since end,
         changed_at = case when $4 then clock_timestamp() else changed_at end
       where organization_id = $1 and waba_id = $2 and sync_owner = $3`,
      [organizationId, wabaId, owner, changed],
    );
  }

  /** The mirror is known to differ from the platform: the next reader, or the sweep, asks the platform. */
  async markStale({ organizationId, wabaId }: AccountKey): Promise<void> {
    await this.database.execute(
      'update template_account set stale_since = clock_timestamp() where organization_id = $1 and waba_id = $2',
      [organizationId, wabaId],
    );
  }

  /** Notes that the mirror was changed, so that a write that is under way learns of it. */
  async markChanged({ organizationId, wabaId }: AccountKey): Promise<void> {
    await this.database.execute(
      'update template_account set changed_at = clock_timestamp() where organization_id = $1 and waba_id = $2',
      [organizationId, wabaId],
    );
  }

  /**
   * Notes an own write that was sent at `since`. Whatever was learnt of the account while it was under way may be older
   * or newer than its effect: then the platform is asked.
   */
  async markWritten({ organizationId, wabaId }: AccountKey, since: Date): Promise<void> {
    await this.database.execute(
      `update template_account set changed_at = clock_timestamp(),
         stale_since = case when changed_at >= $3 or stale_since >= $3 or sync_until > clock_timestamp()
           then clock_timestamp() else stale_since end
       where organization_id = $1 and waba_id = $2`,
      [organizationId, wabaId, since],
    );
  }

  private async find(organizationId: string, wabaId: string): Promise<AccountState | null> {
    const [row] = await this.database.query<AccountState>(
      `select ${STATE} from template_account where organization_id = $1 and waba_id = $2`,
      [organizationId, wabaId],
    );
    return row ?? null;
  }
}
