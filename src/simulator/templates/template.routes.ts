import type { Request } from 'express';
import { invalidParam, unknownObject } from '../graph-error.js';
import { type Field, fieldsOf, pick } from '../http/fields.js';
import { parametersOf } from '../http/parameters.js';
import { type JsonObject, pageOf, pathId, queryParam, type Route, SUCCESS } from '../http/route.js';
import type { IdSource } from '../ids.js';
import { Param } from '../messages/param.js';
import { checkComponents } from './component-checks.js';
import { LANGUAGES } from './languages.js';
import { componentsFromLibrary, listLibrary } from './library.js';
import { TEMPLATE_FIELDS, USUAL_FIELDS } from './template-json.js';
import type { TemplateReviewer } from './template-reviewer.js';
import {
  CATEGORIES,
  type Template,
  type TemplateCategory,
  type TemplateLimits,
  type TemplateStore,
} from './template-store.js';
import { PARAMETER_FORMATS, templateError } from './template-text.js';

export interface TemplateParts {
  templates: TemplateStore;
  templateReviewer: TemplateReviewer;
  templateLimits: TemplateLimits;
  ids: IdSource;
}

export function templateRoutes(parts: TemplateParts): Route[] {
  return [
    ['GET', '/:waba/message_templates', (request) => list(parts, request)],
    [
      'POST',
      '/:waba/message_templates',
      (request) => createTemplate(parts, pathId(request, 'waba'), parametersOf(request)),
    ],
    ['DELETE', '/:waba/message_templates', (request) => deleteTemplates(parts, request)],
    ['GET', '/message_template_library', listLibrary],
    ['POST', '/:waba/upsert_message_templates', (request) => upsert(parts, request)],
    ['POST', '/:template/unpause', (request) => unpause(parts, request)],
    ['GET', '/:template', (request) => pick(templateOf(parts, request), TEMPLATE_FIELDS, askedFields(request))],
    ['POST', '/:template', (request) => editTemplate(parts, templateOf(parts, request), parametersOf(request))],
  ];
}

function templateOf({ templates }: Pick<TemplateParts, 'templates'>, request: Request): Template {
  const id = pathId(request, 'template');
  const template = templates.get(id);
  if (template === undefined) throw unknownObject(request.method, id);
  return template;
}

function askedFields(request: Request): readonly Field[] {
  return fieldsOf(request, TEMPLATE_FIELDS, USUAL_FIELDS, 'WhatsAppMessageTemplate');
}

/** Query parameters that narrow the list, and how. */
const FILTERS: Readonly<Record<string, (template: Template, value: string) => boolean>> = {
  name: (template, value) => template.name.includes(value.toLowerCase()),
  content: (template, value) => contentOf(template).includes(value.toLowerCase()),
  name_or_content: ({ name, ...template }, value) => `${name}\n${contentOf(template)}`.includes(value.toLowerCase()),
  status: (template, value) => listOf(value).includes(template.status),
  category: (template, value) => listOf(value).includes(template.category),
  language: (template, value) => listOf(value).includes(template.language.toUpperCase()),
  quality_score: (template, value) => listOf(value).includes(template.qualityScore),
};

function list({ templates, templateLimits }: TemplateParts, request: Request): object {
  const fields = askedFields(request);
  const all = templates.ofAccount(pathId(request, 'waba'));
  const matching = all.filter((template) =>
    Object.entries(FILTERS).every(([name, matches]) => {
      const value = queryParam(request, name);
      return value === null || value === '' || matches(template, value);
    }),
  );
  const page = pageOf(matching, ({ id }) => id, request);
  // Only what is asked for.
  const wanted = queryParam(request, 'summary')
    ?.split(',')
    .map((name) => name.trim());
  const counts = {
    total_count: matching.length,
    message_template_count: all.length,
    message_template_limit: templateLimits.perAccount,
  };
  return {
    ...page,
    data: page.data.map((template) => pick(template, TEMPLATE_FIELDS, fields)),
    summary: wanted && Object.fromEntries(Object.entries(counts).filter(([name]) => wanted.includes(name))),
  };
}

/** One value, some with commas between, or a JSON array, in capitals. */
function listOf(value: string): string[] {
  return value
    .toUpperCase()
    .split(/[[\]",\s]+/)
    .filter((part) => part !== '');
}

function contentOf({ components }: Pick<Template, 'components'>): string {
  return components
    .map(({ text }) => text ?? '')
    .join('\n')
    .toLowerCase();
}

/** @throws GraphError 100 or 80007 */
function createTemplate(
  { templates, templateReviewer, templateLimits, ids }: TemplateParts,
  wabaId: string,
  body: JsonObject,
): Pick<Template, 'id' | 'status' | 'category'> {
  const draft = readDraft(body);
  const { name, language } = draft;
  const now = Date.now();
  const existing = templates.find(wabaId, name, language);
  if (existing !== undefined && existing.status !== 'PENDING_DELETION') {
    throw templateError(
      2388024,
      'Content in This Language Already Exists',
      `There is already ${language} content for this template. You can create a new template and try again.`,
    );
  }
  templateLimits.checkCreation({ wabaId, name, language }, templates.ofAccount(wabaId).length, now);
  const template = templateReviewer.submitted(
    {
      id: ids.newTemplateId(),
      wabaId,
      ...draft,
      status: 'PENDING',
      rejectedReason: 'NONE',
      qualityScore: 'UNKNOWN',
      createdAt: now,
      updatedAt: now,
    },
    now,
  );
  templateLimits.noteCreation(wabaId, now);
  templates.put(template);
  templateReviewer.watch(template);
  const { id, status, category } = template;
  return { id, status, category };
}

/** What can be edited at all. */
const EDITABLE = ['APPROVED', 'REJECTED', 'PAUSED'];

function editTemplate(
  { templates, templateReviewer, templateLimits }: TemplateParts,
  template: Template,
  body: JsonObject,
): object {
  const now = Date.now();
  if (!EDITABLE.includes(template.status)) {
    throw templateError(
      2388039,
      "Message Template Status Can't Be Changed",
      `A message template that is ${template.status} can't be edited. It must be approved, rejected or paused.`,
    );
  }
  const changed = { ...template, ...readChange(body, template), updatedAt: now };
  if (template.status === 'APPROVED') {
    if (changed.category !== template.category) {
      throw invalidParam("The category of an approved message template can't be edited.");
    }
    templateLimits.checkEdit(template, now);
    changed.edits = templateLimits.editsWith(template, now);
  }
  const edited = templateReviewer.submitted(changed, now);
  templates.put(edited);
  templateReviewer.watch(edited);
  return SUCCESS;
}

/** One authentication template for each language; those that exist are edited. All or none. */
function upsert(parts: TemplateParts, request: Request): object {
  const { languages, ...body } = parametersOf(request);
  if (!Array.isArray(languages) || languages.length === 0) throw invalidParam('The parameter languages is required.');
  if (body.category !== 'AUTHENTICATION') {
    throw invalidParam('Param category must be AUTHENTICATION to create or edit templates in many languages.');
  }
  const wabaId = pathId(request, 'waba');
  const bodies = (languages as unknown[]).map((language): JsonObject => ({ ...body, language }));
  for (const each of bodies) readDraft(each);
  const data = bodies.map((each) => {
    const existing = parts.templates.find(wabaId, String(body.name), String(each.language));
    if (existing === undefined) return { ...createTemplate(parts, wabaId, each), language: each.language };
    editTemplate(parts, existing, { components: each.components });
    return { id: existing.id, status: 'PENDING', category: existing.category, language: existing.language };
  });
  return { data: data.map(({ id, status, language }) => ({ id, status, language })) };
}

function unpause({ templates, templateReviewer }: TemplateParts, request: Request): object {
  const template = templateOf({ templates }, request);
  if (template.status !== 'PAUSED') {
    return { success: false, reason: `The message template is ${template.status}, and not paused.` };
  }
  templateReviewer.decide(template, 'APPROVED', { reason: 'NONE' });
  return { success: true };
}

type Draft = Pick<Template, 'category' | 'parameterFormat' | 'components' | 'messageSendTtlSeconds'>;
type NewDraft = Draft & Pick<Template, 'name' | 'language' | 'libraryTemplateName'>;

/** Reads the body of a create call. @throws GraphError 100 */
function readDraft(body: JsonObject): NewDraft {
  const { name, language } = body;
  const param = Param.body(body);
  if (isMissing(name)) throw invalidParam('The parameter name is required.');
  if (typeof name !== 'string') throw invalidParam('Param name must be a string.');
  if (!/^[a-z0-9_]{1,512}$/.test(name)) {
    const rule = 'The message template name can only have lowercase letters, numbers and underscores, 512 at the most.';
    throw templateError(2388046, 'Name Format is Incorrect', rule);
  }
  if (isMissing(language)) throw invalidParam('The parameter language is required.');
  if (typeof language !== 'string' || !LANGUAGES.has(language)) {
    throw invalidParam(`Param language is not a language of templates: ${JSON.stringify(language)}.`);
  }
  const category = param.optionalOneOf('category', CATEGORIES);
  if (category === undefined) throw invalidParam('The parameter category is required.');
  const parameterFormat = param.optionalOneOf('parameter_format', PARAMETER_FORMATS) ?? 'POSITIONAL';
  const mayChange = param.flag('allow_category_change', true);
  // A UTILITY template that says `promo_me` is a marketing one to the platform, unless the caller forbade the change.
  const library = body.library_template_name;
  const isPromotion = category === 'UTILITY' && mayChange && name.includes('promo_me');
  return {
    name,
    language,
    category: isPromotion ? 'MARKETING' : category,
    parameterFormat,
    components:
      library === undefined
        ? checkComponents(body.components, { category, format: parameterFormat })
        : checkComponents(componentsFromLibrary(body), { category, format: parameterFormat }),
    messageSendTtlSeconds: readTtl(body, category),
    ...(typeof library === 'string' && { libraryTemplateName: library }),
  };
}

/** Reads the body of an edit call, against the template as it is. @throws GraphError 100 */
function readChange(body: JsonObject, template: Template): Partial<Draft> {
  const param = Param.body(body);
  const category = param.optionalOneOf('category', CATEGORIES) ?? template.category;
  const format = param.optionalOneOf('parameter_format', PARAMETER_FORMATS) ?? template.parameterFormat;
  const { components } = body;
  const others = [body.category, body.parameter_format, body.message_send_ttl_seconds];
  if (components === undefined && others.every((value) => value === undefined || value === null)) {
    throw invalidParam('The parameters category, components or message_send_ttl_seconds are required.');
  }
  return {
    category,
    parameterFormat: format,
    components: components === undefined ? template.components : checkComponents(components, { category, format }),
    messageSendTtlSeconds: readTtl(body, category) ?? template.messageSendTtlSeconds,
  };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Seconds a message may wait for its delivery, by category; -1 (30 days) beside it for all but marketing. */
const TTL_SECONDS: Readonly<Record<TemplateCategory, readonly [number, number]>> = {
  AUTHENTICATION: [30, 900],
  UTILITY: [30, 43_200],
  MARKETING: [43_200, 2_592_000],
};

function readTtl({ message_send_ttl_seconds: seconds }: JsonObject, category: TemplateCategory): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  const [min, max] = TTL_SECONDS[category];
  const forever = seconds === -1 && category !== 'MARKETING';
  if (typeof seconds !== 'number' || !(forever || (seconds >= min && seconds <= max))) {
    throw invalidParam(`Param message_send_ttl_seconds must be a number between ${min} and ${max} for ${category}.`);
  }
  return seconds;
}

const MOST_IDS = 100;

/**
 * Deletes by `name` in every language, by `name` and `hsm_id` in one, by `hsm_ids` alone up to a hundred, all or none.
 * @throws GraphError 100; nothing is deleted then
 */
function deleteTemplates(parts: TemplateParts, request: Request): object {
  const chosen = choose(parts, request);
  const disabled = chosen.find(({ status }) => status === 'DISABLED');
  if (disabled !== undefined) {
    const rule = `${disabled.name} is disabled. A disabled message template can't be deleted.`;
    throw templateError(2388039, "Message Template Status Can't Be Changed", rule);
  }
  const now = Date.now();
  for (const template of chosen) {
    if (template.status === 'PENDING_DELETION') continue;
    if (template.status === 'APPROVED' || template.status === 'PAUSED') {
      parts.templateLimits.block(template, now);
      parts.templateReviewer.scheduleDeletion(template, now);
    } else parts.templateReviewer.remove(template);
  }
  return SUCCESS;
}

function choose({ templates }: TemplateParts, request: Request): Template[] {
  const given = parametersOf(request);
  const read = (name: string): unknown => given[name] ?? null;
  const name = read('name');
  const hsmId = read('hsm_id');
  const id = typeof hsmId === 'string' || typeof hsmId === 'number' ? String(hsmId) : null;
  const ids = idsOf(read('hsm_ids'));
  const ofAccount = templates.ofAccount(pathId(request, 'waba'));
  if (ids !== null) {
    if (name !== null || id !== null) throw invalidParam('Param hsm_ids must be given alone.');
    return ids.map((one) => found(ofAccount.find((template) => template.id === one)));
  }
  if (typeof name !== 'string' || name === '') throw invalidParam('The parameter name is required.');
  const named = ofAccount.filter((template) => template.name === name);
  const [first, ...more] = id === null ? named : named.filter((template) => template.id === id);
  return [found(first), ...more];
}

function idsOf(given: unknown): string[] | null {
  if (given === null) return null;
  let list = given;
  if (typeof given === 'string') {
    try {
      list = JSON.parse(given);
    } catch {
      list = given.split(',');
    }
  }
  const ids = [...new Set((Array.isArray(list) ? (list as unknown[]) : [list]).map(String))];
  if (ids.length === 0 || ids.length > MOST_IDS) throw invalidParam(`Param hsm_ids must have 1 to ${MOST_IDS} ids.`);
  return ids;
}

function found(template: Template | undefined): Template {
  if (template !== undefined) return template;
  const rule = "The message template wasn't found in this WhatsApp Business account.";
  throw templateError(2593002, 'Message Template Not Found', rule);
}
