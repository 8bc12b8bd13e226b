import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { Database } from '../../infrastructure/database/database.js';
import type { RowChange } from './template-events.js';
import { TEMPLATE_COLUMNS, TEMPLATE_ROW_COLUMNS, type TemplateRow } from './template-row.js';
import type { AccountKey, PlatformTemplate, Template, TemplateEdit } from './templates.types.js';

/** A list may still show, under a deleted name, languages that the mirror did not know of. */
const DELETION_GRACE = "interval '10 minutes'";

/** The platform lists what it is deleting for 30 days at the most. */
const MARK_LIFE = "interval '90 days'";

const LISTED = `jsonb_to_recordset($3::jsonb) as l (id uuid, "platformId" text, name text, language text, status text,
  "platformStatus" text, category text, "parameterFormat" text, quality text, "rejectedReason" text,
  "messageSendTtlSeconds" integer, components jsonb)`;

const STARTED = '(select sync_started_at from template_account where organization_id = $1 and waba_id = $2)';

/** Changes the mirror. Call everything here in a transaction that has locked the account. */
@Injectable()
export class MirrorRepository {
  constructor(private readonly database: Database) {}

  /**
   * Takes over the platform's list, as it was when the account's sync began. What was changed since by a write of ours
   * or a notification stays, and so does a deletion while the list shows the very template that was deleted.
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
         deleted_at = null, updated_at = excluded.updated_at
       where t.touched_at < ${STARTED}
         and case when t.deleted_at is not null
           then t.platform_id <> excluded.platform_id and excluded.status <> 'pending_deletion'
           else (t.platform_id, t.status, t.platform_status, t.category, t.parameter_format, t.quality,
             t.rejected_reason, t.message_send_ttl_seconds, t.components) is distinct from (excluded.platform_id, excluded.status,
             excluded.platform_status, excluded.category, excluded.parameter_format, excluded.quality,
             excluded.rejected_reason, excluded.message_send_ttl_seconds, excluded.components) end`,
      [organizationId, wabaId, JSON.stringify(listed.map((template) => ({ id: newId(), ...template })))],
    );
  }

  /**
   * Drops what a complete list no longer shows, and was not changed since the sync began; marks of old deletions too.
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

  /** The row, be it deleted or not. */
  async findRow({ organizationId, wabaId }: AccountKey, name: string, language: string): Promise<TemplateRow | null> {
    const [row] = await this.database.query<TemplateRow>(
      `select ${TEMPLATE_ROW_COLUMNS} from template
       where organization_id = $1 and waba_id = $2 and name = $3 and language = $4`,
      [organizationId, wabaId, name, language],
    );
    return row ?? null;
  }

  /** Puts a new template in the place of whatever stood there. */
  async replace({ organizationId, wabaId }: AccountKey, template: PlatformTemplate): Promise<Template> {
    await this.database.execute(
      'delete from template where organization_id = $1 and waba_id = $2 and name = $3 and language = $4',
      [organizationId, wabaId, template.name, template.language],
    );
    const [row] = await this.database.query<Template>(
      `insert into template (id, organization_id, waba_id, platform_id, name, language, status, platform_status, category,
         parameter_format, quality, rejected_reason, message_send_ttl_seconds, components, touched_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, clock_timestamp())
       returning ${TEMPLATE_COLUMNS}`,
      [
        newId(),
        organizationId,
        wabaId,
        template.platformId,
        template.name,
        template.language,
        template.status,
        template.platformStatus,
        template.category,
        template.parameterFormat,
        template.quality,
        template.rejectedReason,
        template.messageSendTtlSeconds,
        JSON.stringify(template.components),
      ],
    );
    if (row === undefined) throw new Error('an insert returned no row');
    return row;
  }

  /**
   * New components: the platform reviews the template anew. Its word from before `since` no longer counts. A time to
   * live that is left out stays.
   *
   * @returns null where the template is gone.
   */
  async edit(
    { organizationId, wabaId }: AccountKey,
    id: string,
    { components, messageSendTtlSeconds }: Omit<TemplateEdit, 'language'>,
    since: Date,
  ): Promise<Template | null> {
    const [row] = await this.database.query<Template>(
      `update template set components = $4, status = 'pending', platform_status = 'PENDING', rejected_reason = null,
         message_send_ttl_seconds = coalesce($6, message_send_ttl_seconds),
         status_at = date_trunc('second', $5::timestamptz), touched_at = clock_timestamp(),
         updated_at = date_trunc('milliseconds', clock_timestamp())
       where organization_id = $1 and waba_id = $2 and id = $3 and deleted_at is null
       returning ${TEMPLATE_COLUMNS}`,
      [organizationId, wabaId, id, JSON.stringify(components), since, messageSendTtlSeconds ?? null],
    );
    return row ?? null;
  }

  /** Marks all languages of a name as deleted, and returns them. */
  async remove({ organizationId, wabaId }: AccountKey, name: string): Promise<string[]> {
    const rows = await this.database.query<{ language: string }>(
      `update template set deleted_at = clock_timestamp(), touched_at = clock_timestamp(),
         updated_at = date_trunc('milliseconds', clock_timestamp())
       where organization_id = $1 and waba_id = $2 and name = $3 and deleted_at is null
       returning language`,
      [organizationId, wabaId, name],
    );
    return rows.map(({ language }) => language).sort();
  }

  /** Applies what a notification says of one row. */
  async apply({ organizationId, wabaId }: AccountKey, id: string, change: RowChange): Promise<void> {
    await this.database.execute(
      `update template set status = coalesce($4, status), platform_status = coalesce($5, platform_status),
         rejected_reason = case when $4::text is null then rejected_reason else $6 end,
         status_at = coalesce($7, status_at), quality = coalesce($8, quality), quality_at = coalesce($9, quality_at),
         category = coalesce($10, category), category_at = coalesce($11, category_at),
         deleted_at = case when $12 then clock_timestamp() end,
         touched_at = clock_timestamp(), updated_at = date_trunc('milliseconds', clock_timestamp())
       where organization_id = $1 and waba_id = $2 and id = $3`,
      [
        organizationId,
        wabaId,
        id,
        change.status ?? null,
        change.platformStatus ?? null,
        change.rejectedReason ?? null,
        change.statusAt ?? null,
        change.quality ?? null,
        change.qualityAt ?? null,
        change.category ?? null,
        change.categoryAt ?? null,
        change.deleted ?? false,
      ],
    );
  }
}
