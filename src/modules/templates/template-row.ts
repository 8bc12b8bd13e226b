import type { Template } from './templates.types.js';

/** A row of the table `template`, be it deleted or not. */
export interface TemplateRow extends Template {
  /** How new the platform's last word on the field is, by its own clock. */
  statusAt: Date | null;
  qualityAt: Date | null;
  categoryAt: Date | null;
  deletedAt: Date | null;
}

/** What a `Template` is made of. */
export const TEMPLATE_COLUMNS = `id, platform_id as "platformId", name, language, status,
  platform_status as "platformStatus", category, parameter_format as "parameterFormat", quality,
  rejected_reason as "rejectedReason", message_send_ttl_seconds as "messageSendTtlSeconds", components, created_at as "createdAt", updated_at as "updatedAt"`;

/** What a `TemplateRow` is made of. */
export const TEMPLATE_ROW_COLUMNS = `${TEMPLATE_COLUMNS}, status_at as "statusAt", quality_at as "qualityAt",
  category_at as "categoryAt", deleted_at as "deletedAt"`;
