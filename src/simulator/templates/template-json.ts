import { GraphError } from '../graph-error.js';
import type { Template } from './template.types.js';

const FIELDS: Readonly<Record<string, (template: Template) => unknown>> = {
  id: (template) => template.id,
  name: (template) => template.name,
  language: (template) => template.language,
  status: (template) => template.status,
  category: (template) => template.category,
  parameter_format: (template) => template.parameterFormat,
  components: (template) => template.components,
  rejected_reason: (template) => template.rejectedReason,
  quality_score: (template) => ({ score: template.qualityScore, date: Math.floor(template.updatedAt / 1000) }),
  last_updated_time: (template) => new Date(template.updatedAt).toISOString(),
};

const DEFAULT_FIELDS = ['name', 'parameter_format', 'components', 'language', 'status', 'category', 'id'];

/** Reads `?fields=`; the usual ones where it is left out. @throws GraphError 100 for a field that no template has */
export function templateFields(asked: string | null): string[] {
  if (asked === null || asked.trim() === '') return DEFAULT_FIELDS;
  const fields = asked.split(',').map((field) => field.trim());
  const unknown = fields.find((field) => !(field in FIELDS));
  if (unknown !== undefined) {
    throw new GraphError(100, {
      message: `(#100) Tried accessing nonexisting field (${unknown}) on node type (WhatsAppMessageTemplate)`,
    });
  }
  return [...new Set([...fields, 'id'])];
}

/** A template as the Graph API shows it. */
export function templateJson(template: Template, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, FIELDS[field]?.(template)]));
}
