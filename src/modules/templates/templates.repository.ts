import { Injectable } from '@nestjs/common';
import { IsNull, type FindOptionsWhere, type QueryDeepPartialEntity } from 'typeorm';
import { newId } from '../../common/ids.js';
import { Database } from '../../infrastructure/database/database.js';
import { insertWebhookEvents, isoTime } from '../webhook/webhook.types.js';
import { TemplateEntity, type PlatformTemplate, type RowChange } from './entities/template.entity.js';
import type { AccountKey, TemplateCategory, TemplateEdit, TemplateStatus } from './templates.types.js';

/** Absent fields do not filter. */
export interface TemplateFilter {
  status?: TemplateStatus;
  category?: TemplateCategory;
  language?: string;
  /** Part of the name. */
  name?: string;
}

type Change = QueryDeepPartialEntity<TemplateEntity>;

/** The position of a template in the list. */
export type TemplatePlace = Pick<TemplateEntity, 'name' | 'language'>;

/**
 * For this long after a deletion, WhatsApp's list may show languages of the deleted name that the mirror did not know.
 */
const DELETION_GRACE = "interval '10 minutes'";

/** WhatsApp lists templates being deleted for at most 30 days. */
const MARK_LIFE = "interval '90 days'";

const LISTED = `jsonb_to_recordset($3::jsonb) as l (id uuid, "platformId" text, name text, language text, status text,
  "platformStatus" text, category text, "parameterFormat" text, quality text, "rejectedReason" text,
  "messageSendTtlSeconds" integer, components jsonb)`;

/** An announced change comes within a day. It may also be withdrawn, which no notification reports. */
const STILL_ANNOUNCED = `t.announced_category is null or t.platform_id = excluded.platform_id
  and t.announced_category <> excluded.category and coalesce(t.announced_for > now() - interval '2 days', true)`;

const STARTED = '(select sync_started_at from template_account where organization_id = $1 and waba_id = $2)';

const PRESENT = `waba_id = $2 and deleted_at is null and ($3::text is null or name = $3)`;

const SHOWN = 'id, name, language, category, status, announced_category, announced_for';

const AS_BEFORE = `select json_agg(to_json(t)) as before from (select ${SHOWN} from template
  where organization_id = $1 and ${PRESENT}) as t`;

// The time is WhatsApp's if it gave one. "deleted" is not a status, since the template no longer exists.
const RECORD_CHANGES = `
with before as (
  select * from json_to_recordset($4::json) as b (id uuid, name text, language text, category text, status text,
    announced_category text, announced_for timestamptz)
), now as (
  select ${SHOWN}, platform_status, rejected_reason, status_at, category_at from template
  where organization_id = $1 and ${PRESENT}
), moved as (
  select name, language, coalesce(now.id, before.id) as id, coalesce(now.category, before.category) as category,
    coalesce(now.status, 'deleted') as status, before.status as previous_status, now.platform_status,
    now.rejected_reason, coalesce(now.status_at, clock_timestamp()) as occurred_at
  from now full join before using (name, language)
  where now.status is distinct from before.status
), recategorised as (
  select now.*, nullif(before.category, now.category) as previous_category,
    coalesce(now.category_at, clock_timestamp()) as occurred_at
  from now join before using (id)
  where now.category <> before.category
    or now.announced_category is not null and (now.announced_category, now.announced_for)
      is distinct from (before.announced_category, before.announced_for)
), numbers as (
  select coalesce(array_agg(id order by created_at, id), '{}') as ids from connection
  where organization_id = $1 and waba_id = $2
), event as (
  select 'template.status.updated'::text as type, occurred_at,
    jsonb_build_object('template_id', moved.id, 'name', moved.name, 'language', moved.language,
      'category', moved.category, 'status', moved.status, 'previous_status', moved.previous_status,
      'platform_status', moved.platform_status, 'rejected_reason', moved.rejected_reason) as data
  from moved
  union all
  select 'template.category.updated', occurred_at,
    jsonb_build_object('template_id', r.id, 'name', r.name, 'language', r.language, 'category', r.category,
      'previous_category', r.previous_category, 'announced_category', r.announced_category,
      'announced_for', ${isoTime('r.announced_for')})
  from recategorised r
), ${insertWebhookEvents(`(
  select $1::uuid as organization_id, event.type as event_type, event.occurred_at,
    nullif(numbers.ids, '{}') as connection_ids, null::bytea as trace_context,
    event.data || jsonb_build_object('connection_ids', numbers.ids,
      'occurred_at', ${isoTime('event.occurred_at')}) as event_data
  from event, numbers)`)}
select 1 from announced`;

const NOW = (): string => 'clock_timestamp()';
const TOUCHED = { touchedAt: NOW, updatedAt: () => "date_trunc('milliseconds', clock_timestamp())" };

const ofAccount = ({ organizationId, wabaId }: AccountKey): AccountKey => ({ organizationId, wabaId });

/**
 * The mirror, which is Herald's copy of the accounts' templates: the table `template`. Change the mirror only in a
 * transaction that has locked the account.
 */
@Injectable()
export class TemplatesRepository {
  constructor(private readonly database: Database) {}

  find(key: AccountKey, name: string, language: string): Promise<TemplateEntity | null> {
    return this.table.findOneBy({ ...ofAccount(key), name, language, deletedAt: IsNull() });
  }

  /** Like `find`, but also finds a template that is marked as deleted. */
  findRow(key: AccountKey, name: string, language: string): Promise<TemplateEntity | null> {
    return this.table.findOneBy({ ...ofAccount(key), name, language });
  }

  /** All languages of a name, in the order of their codes; empty where there is no such template. */
  versions(key: AccountKey, name: string): Promise<TemplateEntity[]> {
    return this.table.find({ where: { ...ofAccount(key), name, deletedAt: IsNull() }, order: { language: 'ASC' } });
  }

  /** Templates of the account in all states. */
  count(key: AccountKey): Promise<number> {
    return this.table.countBy(ofAccount(key));
  }

  /** The account's templates by name and language, after `after`, at most `limit`. */
  page(
    key: AccountKey,
    { name, ...equal }: TemplateFilter,
    after: TemplatePlace | null,
    limit: number,
  ): Promise<TemplateEntity[]> {
    const query = this.table
      .createQueryBuilder('template')
      .where({ ...ofAccount(key), deletedAt: IsNull() })
      .orderBy({ 'template.name': 'ASC', 'template.language': 'ASC' })
      .limit(limit);
    for (const [column, value] of Object.entries(equal)) if (value !== undefined) query.andWhere({ [column]: value });
    if (name !== undefined) query.andWhere('position(:part in template.name) > 0', { part: name });
    if (after !== null)
      query.andWhere('(template.name, template.language) > (:afterName, :afterLanguage)', {
        afterName: after.name,
        afterLanguage: after.language,
      });
    return query.getMany();
  }

  /**
   * Runs a change of templates, and records an event for each language whose status changes (new, changed or deleted)
   * or whose category changes or is announced to. In the caller's transaction, which has locked the account, so each
   * change has its event.
   *
   * @param name the only template that may change; null: any.
   */
  async recordingChanges<T>(key: AccountKey, name: string | null, change: () => Promise<T>): Promise<T> {
    const { organizationId, wabaId } = key;
    const [row] = await this.database.query<{ before: unknown }>(AS_BEFORE, [organizationId, wabaId, name]);
    const result = await change();
    await this.database.execute(RECORD_CHANGES, [organizationId, wabaId, name, JSON.stringify(row?.before ?? [])]);
    return result;
  }

  /** Stores a new template, in place of a row with the same name and language if there is one. */
  async replace(key: AccountKey, template: PlatformTemplate): Promise<TemplateEntity> {
    const row = { ...ofAccount(key), id: newId() };
    const { name, language } = template;
    await this.table.delete({ ...ofAccount(key), name, language });
    await this.table.insert({ ...template, ...row, touchedAt: NOW } as Change);
    return this.table.findOneByOrFail(row);
  }

  /**
   * Stores new components of a template. WhatsApp reviews the template again, and its reports from before `since` no
   * longer count. If no time to live is given, that of the template stays.
   *
   * @returns null where the template is gone.
   */
  async edit(
    key: AccountKey,
    id: string,
    edit: Omit<TemplateEdit, 'language'>,
    since: Date,
  ): Promise<TemplateEntity | null> {
    const present = { ...ofAccount(key), id, deletedAt: IsNull() };
    const statusAt = new Date(Math.floor(since.getTime() / 1_000) * 1_000);
    const review = { status: 'pending', platformStatus: 'PENDING', rejectedReason: null, statusAt };
    await this.update(present, { ...edit, ...review } as Change);
    return this.table.findOneBy(present);
  }

  /** Marks all languages of a name as deleted, and returns them. */
  async remove(key: AccountKey, name: string): Promise<string[]> {
    const removed = await this.update({ ...ofAccount(key), name, deletedAt: IsNull() }, { deletedAt: NOW });
    return removed.map(({ language }) => language).sort();
  }

  /** Applies a notification to one row. */
  async apply(key: AccountKey, id: string, { deleted, ...change }: RowChange): Promise<void> {
    await this.update({ ...ofAccount(key), id }, { ...change, deletedAt: deleted === true ? NOW : null });
  }

  /**
   * Applies WhatsApp's list, which is as of the beginning of the account's sync. Changes that our writes or
   * notifications made since then stay. A deleted template stays deleted even if the list still shows it.
   *
   * @returns how many rows changed.
   */
  async takeOver({ organizationId, wabaId }: AccountKey, listed: readonly PlatformTemplate[]): Promise<number> {
    return this.database.execute(
      `insert into template as t (id, organization_id, waba_id, platform_id, name, language, status, platform_status,
         category, parameter_format, quality, rejected_reason, message_send_ttl_seconds, components)
       select l.id, $1, $2, l."platformId", l.name, l.language, l.status, l."platformStatus", l.category,
         l."parameterFormat", l.quality, l."rejectedReason", l."messageSendTtlSeconds", l.components
       from ${LISTED}
       where exists (select from template k where k.organization_id = $1 and k.waba_id = $2
           and k.name = l.name and k.language = l.language)
         or not exists (select from template d where d.organization_id = $1 and d.waba_id = $2
           and d.name = l.name and d.deleted_at is not null
           and (d.deleted_at > ${STARTED} - ${DELETION_GRACE} or l.status = 'pending_deletion'))
       order by l.name, l.language
       on conflict (organization_id, waba_id, name, language) do update set
         id = case when t.platform_id = excluded.platform_id then t.id else excluded.id end,
         created_at = case when t.platform_id = excluded.platform_id then t.created_at else excluded.created_at end,
         platform_id = excluded.platform_id, status = excluded.status, platform_status = excluded.platform_status,
         category = excluded.category, parameter_format = excluded.parameter_format, quality = excluded.quality,
         rejected_reason = excluded.rejected_reason, components = excluded.components,
         message_send_ttl_seconds = excluded.message_send_ttl_seconds,
         status_at = null, quality_at = null, category_at = null,
         announced_category = case when ${STILL_ANNOUNCED} then t.announced_category end,
         announced_for = case when ${STILL_ANNOUNCED} then t.announced_for end,
         deleted_at = null, updated_at = excluded.updated_at
       where t.touched_at < ${STARTED}
         and case when t.deleted_at is not null
           then t.platform_id <> excluded.platform_id and excluded.status <> 'pending_deletion'
           else not (${STILL_ANNOUNCED}) or (t.platform_id, t.status, t.platform_status, t.category, t.parameter_format, t.quality,
             t.rejected_reason, t.message_send_ttl_seconds, t.components) is distinct from (excluded.platform_id, excluded.status,
             excluded.platform_status, excluded.category, excluded.parameter_format, excluded.quality,
             excluded.rejected_reason, excluded.message_send_ttl_seconds, excluded.components) end`,
      [organizationId, wabaId, JSON.stringify(listed.map((template) => ({ id: newId(), ...template })))],
    );
  }

  /**
   * Deletes rows that are missing in a complete list and were not changed since the sync began, and old marks of
   * deletions.
   *
   * @returns how many.
   */
  removeUnlisted({ organizationId, wabaId }: AccountKey, listed: readonly PlatformTemplate[]): Promise<number> {
    return this.database.execute(
      `delete from template t where organization_id = $1 and waba_id = $2 and touched_at < ${STARTED}
         and (deleted_at is null or deleted_at < ${STARTED} - ${MARK_LIFE})
         and not exists (select from unnest($3::text[], $4::text[]) as l (name, language)
           where l.name = t.name and l.language = t.language)`,
      [organizationId, wabaId, listed.map(({ name }) => name), listed.map(({ language }) => language)],
    );
  }

  private async update(where: FindOptionsWhere<TemplateEntity>, change: Change): Promise<{ language: string }[]> {
    const result = await this.table
      .createQueryBuilder()
      .update()
      .set({ ...change, ...TOUCHED })
      .where(where)
      .returning('language')
      .execute();
    return result.raw as { language: string }[];
  }

  private get table() {
    return this.database.repository(TemplateEntity);
  }
}
