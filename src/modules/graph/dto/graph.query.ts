import { invalidField } from '../../../common/common.errors.js';
import { TEMPLATE_STATUSES, type TemplateCategory, type TemplateStatus } from '../../templates/templates.types.js';

export type Query = Readonly<Record<string, unknown>>;

/** The value of a parameter; undefined where it is not given. @throws INVALID_REQUEST (400) where it is given twice. */
function textOf(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw invalidField(name, 'repeated', `${name} must be given once.`);
  if (value.includes('\u0000')) throw invalidField(name, 'text', `${name} must not contain U+0000.`);
  return value;
}

/** Names of the wanted fields of a node; undefined: the usual ones. What stands in braces behind a name is left out. */
export function fieldsOf(query: Query): string[] | undefined {
  const text = textOf(query, 'fields');
  return text
    ?.replaceAll(/\{[^{}]*\}/g, '')
    .split(',')
    .map((name) => name.trim());
}

export function phoneNumberIdOf(query: Query): string | undefined {
  return textOf(query, 'phone_number_id');
}

const DEFAULT_PAGE = 25;
const MAX_PAGE = 100;

export interface TemplatesQuery {
  filter: { name?: string; language?: string; status?: TemplateStatus; category?: TemplateCategory };
  after: { name: string; language: string } | null;
  limit: number;
}

/** @throws INVALID_REQUEST (400) naming what is wrong. */
export function templatesQueryOf(query: Query): TemplatesQuery {
  const [name, language] = [textOf(query, 'name'), textOf(query, 'language')];
  const status = textOf(query, 'status')?.toLowerCase();
  if (status !== undefined && !isStatus(status)) {
    const statuses = TEMPLATE_STATUSES.map((each) => each.toUpperCase()).join(', ');
    throw invalidField('status', 'one_of', `status must be one of ${statuses}; several at once are not supported.`);
  }
  const category = textOf(query, 'category')?.toUpperCase() as TemplateCategory | undefined;
  const filter = {
    ...(name !== undefined && { name }),
    ...(language !== undefined && { language }),
    ...(status !== undefined && { status }),
    ...(category !== undefined && { category }),
  };
  return { filter, after: placeOf(textOf(query, 'after')), limit: limitOf(textOf(query, 'limit')) };
}

function isStatus(text: string): text is TemplateStatus {
  return (TEMPLATE_STATUSES as readonly string[]).includes(text);
}

/** As the platform does, more than a page may have is taken for as many as it may have. */
function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PAGE;
  if (/^[1-9]\d{0,8}$/.test(text)) return Math.min(Number(text), MAX_PAGE);
  throw invalidField('limit', 'range', 'limit must be a number from 1 on.');
}

function placeOf(after: string | undefined): TemplatesQuery['after'] {
  if (after === undefined) return null;
  const text = Buffer.from(after, 'base64url').toString();
  const [, name, language] = /^([a-z0-9_]{1,512})\/([\w-]{1,64})$/.exec(text) ?? [];
  if (name === undefined || language === undefined) {
    throw invalidField('after', 'format', 'after must be paging.cursors.after of the page before.');
  }
  return { name, language };
}

export function cursorOf({ name, language }: { name: string; language: string }): string {
  return Buffer.from(`${name}/${language}`).toString('base64url');
}
