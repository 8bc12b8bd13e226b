import { invalidParam } from '../graph-error.js';
import { type Call, listOf, matching, on, type Route, SUCCESS } from '../http/call.js';
import { jsonOf, type JsonObject, Param } from '../http/param.js';
import type { Platform } from '../platform.js';
import { checkComponents } from './component-checks.js';
import { componentsFromLibrary, listLibrary } from './library.js';
import {
  CATEGORIES,
  PARAMETER_FORMATS,
  type Template,
  type TemplateCategory,
  templateError,
  TEMPLATES,
} from './template-store.js';

/** The languages that WhatsApp documents for templates (supported-languages, 2026-05-21). */
const LANGUAGES: ReadonlySet<string> = new Set(
  `af sq ar ar_EG ar_AE ar_LB ar_MA ar_QA az be_BY bn bn_IN bg ca zh_CN zh_HK zh_TW hr cs da prs_AF nl nl_BE en en_GB
   en_US en_AE en_AU en_CA en_GH en_IE en_IN en_JM en_MY en_NZ en_QA en_SG en_UG en_ZA et fil fi fr fr_BE fr_CA fr_CH fr_CI
   fr_MA ka de de_AT de_CH el gu ha he hi hu id ga it ja kn kk rw_RW ko ky_KG lo lv lt mk ms ml mr nb ps_AF fa pl pt_BR
   pt_PT pa ro ru sr si_LK sk sl es es_AR es_CL es_CO es_CR es_DO es_EC es_HN es_MX es_PA es_PE es_ES es_UY sw sv ta te th
   tr uk ur uz vi zu`.split(/\s+/),
);

export function templateRoutes(platform: Platform): Route[] {
  const { account, template } = platform.nodes;
  return [
    account.on('get', '/message_templates', (wabaId, call) => list(platform, wabaId, call)),
    account.on('post', '/message_templates', (wabaId, { param }) => createTemplate(platform, wabaId, param)),
    account.on('delete', '/message_templates', (wabaId, call) => deleteTemplates(platform, wabaId, call)),
    on('get', '/message_template_library', listLibrary),
    account.on('post', '/upsert_message_templates', (wabaId, call) => upsert(platform, wabaId, call)),
    template.on('post', '/unpause', (one) => unpause(platform, one)),
    template.on('get', '', (one, call) => TEMPLATES.show(one, call)),
    template.on('post', '', (one, { param }) => editTemplate(platform, one, param)),
  ];
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

function list({ templates, options }: Platform, wabaId: string, call: Call): object {
  const all = templates.ofAccount(wabaId);
  const found = matching(call, all, FILTERS);
  // Only the requested values.
  const wanted = listOf(call.query('summary') ?? '');
  const counts = {
    total_count: found.length,
    message_template_count: all.length,
    message_template_limit: options.templatesPerAccount,
  };
  return {
    ...TEMPLATES.page(call, found, ({ id }) => id),
    summary:
      wanted.length === 0
        ? undefined
        : Object.fromEntries(Object.entries(counts).filter(([name]) => wanted.includes(name.toUpperCase()))),
  };
}

function contentOf({ components }: Pick<Template, 'components'>): string {
  return components
    .map(({ text }) => text ?? '')
    .join('\n')
    .toLowerCase();
}

/** @throws GraphError 100 or 80007 */
function createTemplate(
  { templates, templateReviewer, templateLimits, ids }: Platform,
  wabaId: string,
  param: Param,
): Pick<Template, 'id' | 'status' | 'category'> {
  const draft = readDraft(param);
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
  templateLimits.noteCreation({ wabaId, name, language }, templates.ofAccount(wabaId).length, now);
  const template: Template = {
    id: ids.newTemplateId(),
    wabaId,
    ...draft,
    status: 'PENDING',
    rejectedReason: 'NONE',
    qualityScore: 'UNKNOWN',
    createdAt: now,
    updatedAt: now,
  };
  templateReviewer.submit(template, now);
  const { id, status, category } = template;
  return { id, status, category };
}

/** Statuses in which a template can be edited. */
const EDITABLE = ['APPROVED', 'REJECTED', 'PAUSED'];

function editTemplate({ templateReviewer, templateLimits }: Platform, template: Template, param: Param): object {
  const now = Date.now();
  if (!EDITABLE.includes(template.status)) {
    throw templateError(
      2388039,
      "Message Template Status Can't Be Changed",
      `A message template that is ${template.status} can't be edited. It must be approved, rejected or paused.`,
    );
  }
  const changed = { ...template, ...readChange(param, template), updatedAt: now };
  if (template.status === 'APPROVED') {
    if (changed.category !== template.category) {
      throw invalidParam("The category of an approved message template can't be edited.");
    }
    changed.edits = templateLimits.editsWith(template, now);
  }
  templateReviewer.submit(changed, now);
  return SUCCESS;
}

/** One authentication template per language; existing ones are edited. All or none. */
function upsert(platform: Platform, wabaId: string, call: Call): object {
  const { languages, ...body } = call.parameters.values;
  if (!Array.isArray(languages) || languages.length === 0) throw invalidParam('The parameter languages is required.');
  if (body.category !== 'AUTHENTICATION') {
    throw invalidParam('Param category must be AUTHENTICATION to create or edit templates in many languages.');
  }
  const drafts = (languages as unknown[]).map((language) => new Param({ ...body, language }, ''));
  for (const draft of drafts) readDraft(draft);
  const data = drafts.map((draft) => {
    const language = String(draft.get('language').value);
    const existing = platform.templates.find(wabaId, String(body.name), language);
    if (existing === undefined) {
      const { id, status } = createTemplate(platform, wabaId, draft);
      return { id, status, language };
    }
    editTemplate(platform, existing, new Param({ components: body.components }, ''));
    return { id: existing.id, status: 'PENDING', language };
  });
  return { data };
}

function unpause({ templateReviewer }: Platform, template: Template): object {
  if (template.status !== 'PAUSED') {
    return { success: false, reason: `The message template is ${template.status}, and not paused.` };
  }
  templateReviewer.decide(template, 'APPROVED', { reason: 'NONE' })();
  return { success: true };
}

type Draft = Pick<Template, 'category' | 'parameterFormat' | 'components' | 'messageSendTtlSeconds'>;
type NewDraft = Draft & Pick<Template, 'name' | 'language' | 'libraryTemplateName'>;

/** Reads the body of a create call. @throws GraphError 100 */
function readDraft(param: Param): NewDraft {
  const name = param.required('name');
  if (!/^[a-z0-9_]{1,512}$/.test(name)) {
    const rule = 'The message template name can only have lowercase letters, numbers and underscores, 512 at the most.';
    throw templateError(2388046, 'Name Format is Incorrect', rule);
  }
  const language = param.required('language');
  if (!LANGUAGES.has(language)) {
    throw invalidParam(`Param language is not a language of templates: ${JSON.stringify(language)}.`);
  }
  param.required('category');
  const category = param.optionalOneOf('category', CATEGORIES) ?? 'UTILITY';
  const parameterFormat = param.optionalOneOf('parameter_format', PARAMETER_FORMATS) ?? 'POSITIONAL';
  const mayChange = param.flag('allow_category_change', true);
  // WhatsApp treats a UTILITY template with `promo_me` as a marketing one, unless the caller forbade the change.
  const { library_template_name: library, components } = param.value as JsonObject;
  const isPromotion = category === 'UTILITY' && mayChange && name.includes('promo_me');
  return {
    name,
    language,
    category: isPromotion ? 'MARKETING' : category,
    parameterFormat,
    components: checkComponents(library === undefined ? components : componentsFromLibrary(param), {
      category,
      format: parameterFormat,
    }),
    messageSendTtlSeconds: readTtl(param, category),
    ...(typeof library === 'string' && { libraryTemplateName: library }),
  };
}

/** Reads the body of an edit call, against the present template. @throws GraphError 100 */
function readChange(param: Param, template: Template): Partial<Draft> {
  const category = param.optionalOneOf('category', CATEGORIES) ?? template.category;
  const format = param.optionalOneOf('parameter_format', PARAMETER_FORMATS) ?? template.parameterFormat;
  const { components } = param.value as JsonObject;
  const others = ['category', 'parameter_format', 'message_send_ttl_seconds'];
  if (components === undefined && !others.some((name) => param.get(name).isGiven)) {
    throw invalidParam('The parameters category, components or message_send_ttl_seconds are required.');
  }
  return {
    category,
    parameterFormat: format,
    components: components === undefined ? template.components : checkComponents(components, { category, format }),
    messageSendTtlSeconds: readTtl(param, category) ?? template.messageSendTtlSeconds,
  };
}

/** Seconds that a message may wait for delivery, by category; -1 (30 days) is also allowed for all but marketing. */
const TTL_SECONDS: Readonly<Record<TemplateCategory, readonly [number, number]>> = {
  AUTHENTICATION: [30, 900],
  UTILITY: [30, 43_200],
  MARKETING: [43_200, 2_592_000],
};

function readTtl(param: Param, category: TemplateCategory): number | undefined {
  const { value: seconds, isGiven } = param.get('message_send_ttl_seconds');
  if (!isGiven) return undefined;
  const [min, max] = TTL_SECONDS[category];
  const forever = seconds === -1 && category !== 'MARKETING';
  if (typeof seconds !== 'number' || !(forever || (seconds >= min && seconds <= max))) {
    throw invalidParam(`Param message_send_ttl_seconds must be a number between ${min} and ${max} for ${category}.`);
  }
  return seconds;
}

const MAX_IDS = 100;

/**
 * Deletes by `name` in every language, by `name` and `hsm_id` in one, or by `hsm_ids` alone up to a hundred; all or
 * none.
 *
 * @throws GraphError 100; then nothing is deleted
 */
function deleteTemplates(
  { templates, templateLimits, templateReviewer }: Platform,
  wabaId: string,
  call: Call,
): object {
  const chosen = choose(templates.ofAccount(wabaId), call.parameters.values);
  const disabled = chosen.find(({ status }) => status === 'DISABLED');
  if (disabled !== undefined) {
    const rule = `${disabled.name} is disabled. A disabled message template can't be deleted.`;
    throw templateError(2388039, "Message Template Status Can't Be Changed", rule);
  }
  const now = Date.now();
  for (const template of chosen) {
    if (template.status === 'PENDING_DELETION') continue;
    if (template.status === 'APPROVED' || template.status === 'PAUSED') {
      templateLimits.block(template, now);
      templateReviewer.scheduleDeletion(template, now);
    } else templates.remove(template.id);
  }
  return SUCCESS;
}

function choose(ofAccount: readonly Template[], given: JsonObject): Template[] {
  const { name = null, hsm_id: hsmId, hsm_ids: hsmIds = null } = given;
  const id = typeof hsmId === 'string' || typeof hsmId === 'number' ? String(hsmId) : null;
  const ids = idsOf(hsmIds);
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
  const list = typeof given === 'string' ? (jsonOf(given) ?? given.split(',')) : given;
  const ids = [...new Set((Array.isArray(list) ? (list as unknown[]) : [list]).map(String))];
  if (ids.length === 0 || ids.length > MAX_IDS) throw invalidParam(`Param hsm_ids must have 1 to ${MAX_IDS} ids.`);
  return ids;
}

function found(template: Template | undefined): Template {
  if (template !== undefined) return template;
  const rule = "The message template wasn't found in this WhatsApp Business account.";
  throw templateError(2593002, 'Message Template Not Found', rule);
}
