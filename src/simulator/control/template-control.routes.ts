import { jsonAnswer, type Answer } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { isObject, type JsonObject } from '../messages/checks.js';
import type { SimulatorContext } from '../simulator-context.js';
import { templateFields, templateJson } from '../templates/template-json.js';
import type { QualityScore, Template, TemplateCategory, TemplateComponent } from '../templates/template.types.js';
import {
  controlBody,
  ControlError,
  controlHandler,
  optionalFlag,
  optionalNumber,
  optionalText,
  textField,
} from './control-input.js';

// prettier-ignore
const EVENTS = [
  'APPROVED', 'REJECTED', 'PENDING', 'PAUSED', 'DISABLED', 'FLAGGED', 'REINSTATED', 'IN_APPEAL', 'PENDING_DELETION',
  'DELETED', 'LOCKED', 'LIMIT_EXCEEDED', 'ARCHIVED', 'UNARCHIVED',
];
const SCORES: readonly QualityScore[] = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'];
const CATEGORIES: readonly TemplateCategory[] = ['AUTHENTICATION', 'MARKETING', 'UTILITY'];
const ALL_FIELDS = templateFields(
  'id,name,language,status,category,previous_category,correct_category,rejected_reason,quality_score,components,' +
    'parameter_format,message_send_ttl_seconds,last_updated_time',
);
const LATEST_TIME = 10_000_000_000;

/** Registers the control calls about one template: what the platform decides, and tells by notification. */
export function registerTemplateControlRoutes(context: SimulatorContext): void {
  const on = (action: string, act: (template: Template, body: JsonObject) => void) =>
    context.router.plain(
      'POST',
      `/_simulator/templates/:id/${action}`,
      controlHandler((call) => {
        const template = find(context, call);
        act(template, controlBody(call));
        return shown(context, template);
      }),
    );
  on('review', (template, body) => review(context, template, body));
  on('quality', (template, body) => changeQuality(context, template, body));
  on('category', (template, body) => changeCategory(context, template, body));
  on('components', (template, body) => changeComponents(context, template, body));
}

function find(context: SimulatorContext, call: Call): Template {
  const id = call.params.id as string;
  const template = context.templates.get(id);
  if (template === undefined) throw new ControlError(`No template has the id ${id}.`, 404);
  return template;
}

function shown(context: SimulatorContext, before: Template): Answer {
  const template = context.templates.get(before.id) ?? { ...before, status: 'DELETED' as const };
  return jsonAnswer(templateJson(template, ALL_FIELDS));
}

function review(context: SimulatorContext, template: Template, body: JsonObject): void {
  const event = oneOf(body, 'event', EVENTS);
  const reason = optionalText(body, 'reason') ?? (event === 'PENDING_DELETION' ? null : 'NONE');
  context.templateReviewer.decide(template, event, {
    reason,
    time: optionalNumber(body, 'time', 0, LATEST_TIME),
    notify: body.notify === undefined ? true : optionalFlag(body, 'notify'),
    rejectionInfo: optionalObject(body, 'rejection_info'),
    disableInfo: optionalObject(body, 'disable_info'),
    otherInfo: optionalObject(body, 'other_info'),
  });
}

function changeQuality(context: SimulatorContext, template: Template, body: JsonObject): void {
  const qualityScore = oneOf(body, 'score', SCORES);
  const changed = change(context, template, { qualityScore });
  if (wantsNotice(body)) context.templateNotices.quality(changed, template.qualityScore, timeOf(body));
}

/** `announced: true` only says what the category is going to be. */
function changeCategory(context: SimulatorContext, template: Template, body: JsonObject): void {
  const category = oneOf(body, 'category', CATEGORIES);
  const { category: previous, correctCategory: _, ...rest } = template;
  if (optionalFlag(body, 'announced')) {
    const changed = change(context, template, { correctCategory: category });
    if (wantsNotice(body)) context.templateNotices.category(changed, previous, category, timeOf(body));
    return;
  }
  const changed = change(context, { ...rest, category }, { previousCategory: previous });
  if (wantsNotice(body)) context.templateNotices.category(changed, previous, undefined, timeOf(body));
}

function changeComponents(context: SimulatorContext, template: Template, body: JsonObject): void {
  const { components } = body;
  if (!Array.isArray(components) || !components.every((part) => isObject(part) && typeof part.type === 'string')) {
    throw new ControlError('"components" must be the components of a template.');
  }
  const changed = change(context, template, { components: components as TemplateComponent[] });
  if (wantsNotice(body)) context.templateNotices.components(changed, timeOf(body));
}

function change(context: SimulatorContext, template: Template, changes: Partial<Template>): Template {
  const changed = { ...template, ...changes, updatedAt: Date.now() };
  context.templates.put(changed);
  return changed;
}

function oneOf<T extends string>(body: JsonObject, name: string, allowed: readonly T[]): T {
  const value = textField(body, name).toUpperCase();
  const known = allowed.find((one) => one === value);
  if (known === undefined) throw new ControlError(`"${name}" must be one of ${allowed.join(', ')}.`);
  return known;
}

function wantsNotice(body: JsonObject): boolean {
  return body.notify === undefined ? true : optionalFlag(body, 'notify');
}

function timeOf(body: JsonObject): number | undefined {
  return optionalNumber(body, 'time', 0, LATEST_TIME);
}

function optionalObject(body: JsonObject, name: string): object | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw new ControlError(`"${name}" must be an object.`);
  return value;
}
