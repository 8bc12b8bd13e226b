import { invalidParam, type JsonObject, requireOneOf } from '../messages/checks.js';
import { checkComponents } from './component-checks.js';
import { templateError } from './template-error.js';
import type { ParameterFormat, Template, TemplateCategory, TemplateComponent } from './template.types.js';

const CATEGORIES: readonly TemplateCategory[] = ['AUTHENTICATION', 'MARKETING', 'UTILITY'];
const FORMATS: readonly ParameterFormat[] = ['POSITIONAL', 'NAMED'];

/** Seconds a message may wait for its delivery, by category; -1 (30 days) beside it for all but marketing. */
const TTL_SECONDS: Readonly<Record<TemplateCategory, readonly [number, number]>> = {
  AUTHENTICATION: [30, 900],
  UTILITY: [30, 43_200],
  MARKETING: [43_200, 2_592_000],
};

/** What a create call asks for, checked. */
export interface TemplateDraft {
  name: string;
  language: string;
  category: TemplateCategory;
  allowCategoryChange: boolean;
  parameterFormat: ParameterFormat;
  components: TemplateComponent[];
  messageSendTtlSeconds: number | undefined;
}

/** What an edit call changes, checked; what was left out is undefined. */
export interface TemplateChange {
  category?: TemplateCategory;
  parameterFormat?: ParameterFormat;
  components?: TemplateComponent[];
  messageSendTtlSeconds?: number;
}

/** Reads the body of `POST /{waba_id}/message_templates`. @throws GraphError 100 */
export function readDraft(body: JsonObject): TemplateDraft {
  const name = readName(body.name);
  const language = readLanguage(body.language);
  const category = readCategory(body.category);
  if (category === undefined) throw invalidParam('The parameter category is required.');
  const parameterFormat = readFormat(body.parameter_format) ?? 'POSITIONAL';
  return {
    name,
    language,
    category,
    allowCategoryChange: readFlag(body, 'allow_category_change') ?? true,
    parameterFormat,
    components: checkComponents(body.components, { category, format: parameterFormat }),
    messageSendTtlSeconds: readTtl(body.message_send_ttl_seconds, category),
  };
}

/** Reads the body of `POST /{template_id}`, against the template as it is. @throws GraphError 100 */
export function readChange(body: JsonObject, template: Template): TemplateChange {
  const category = readCategory(body.category);
  const format = readFormat(body.parameter_format);
  const frame = { category: category ?? template.category, format: format ?? template.parameterFormat };
  const change: TemplateChange = {};
  if (category !== undefined) change.category = category;
  if (format !== undefined) change.parameterFormat = format;
  if (body.components !== undefined) change.components = checkComponents(body.components, frame);
  const ttl = readTtl(body.message_send_ttl_seconds, frame.category);
  if (ttl !== undefined) change.messageSendTtlSeconds = ttl;
  if (Object.keys(change).length === 0) {
    throw invalidParam('The parameters category, components or message_send_ttl_seconds are required.');
  }
  return change;
}

function readName(name: unknown): string {
  if (name === undefined || name === null || name === '') throw invalidParam('The parameter name is required.');
  if (typeof name !== 'string') throw invalidParam('Param name must be a string.');
  if (!/^[a-z0-9_]{1,512}$/.test(name)) {
    const rule = 'The message template name can only have lowercase letters, numbers and underscores, 512 at the most.';
    throw templateError(2388046, 'Name Format is Incorrect', rule);
  }
  return name;
}

function readLanguage(language: unknown): string {
  if (language === undefined || language === null || language === '') {
    throw invalidParam('The parameter language is required.');
  }
  if (typeof language !== 'string' || !/^[a-z]{2,3}(_[A-Z]{2,3})?$/.test(language)) {
    throw invalidParam(`Param language is not a language of templates: ${JSON.stringify(language)}.`);
  }
  return language;
}

function readCategory(category: unknown): TemplateCategory | undefined {
  if (category === undefined || category === null) return undefined;
  return requireOneOf(upper(category), CATEGORIES, 'category');
}

function readFormat(format: unknown): ParameterFormat | undefined {
  if (format === undefined || format === null) return undefined;
  return requireOneOf(upper(format), FORMATS, 'parameter_format');
}

function readFlag(body: JsonObject, key: string): boolean | undefined {
  const value = body[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw invalidParam(`Param ${key} must be a boolean.`);
  return value;
}

function readTtl(seconds: unknown, category: TemplateCategory): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  const [min, max] = TTL_SECONDS[category];
  const forever = seconds === -1 && category !== 'MARKETING';
  if (typeof seconds !== 'number' || !(forever || (seconds >= min && seconds <= max))) {
    throw invalidParam(`Param message_send_ttl_seconds must be a number between ${min} and ${max} for ${category}.`);
  }
  return seconds;
}

function upper(value: unknown): unknown {
  return typeof value === 'string' ? value.toUpperCase() : value;
}
