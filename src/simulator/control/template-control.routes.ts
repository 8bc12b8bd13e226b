import type { Request } from 'express';
import { PlainError } from '../graph-error.js';
import { pick, plainField } from '../http/fields.js';
import { pathId, type Route } from '../http/route.js';
import { Param } from '../messages/param.js';
import { TEMPLATE_FIELDS } from '../templates/template-json.js';
import type { TemplateReviewer } from '../templates/template-reviewer.js';
import {
  CATEGORIES,
  QUALITY_SCORES,
  type Template,
  type TemplateComponent,
  type TemplateStore,
} from '../templates/template-store.js';

// prettier-ignore
const EVENTS = [
  'APPROVED', 'REJECTED', 'PENDING', 'PAUSED', 'DISABLED', 'FLAGGED', 'REINSTATED', 'IN_APPEAL', 'PENDING_DELETION',
  'DELETED', 'LOCKED', 'LIMIT_EXCEEDED', 'ARCHIVED', 'UNARCHIVED',
];
// prettier-ignore
const SHOWN = [
  'id', 'name', 'language', 'status', 'category', 'previous_category', 'correct_category', 'rejected_reason',
  'quality_score', 'components', 'parameter_format', 'message_send_ttl_seconds', 'last_updated_time',
].map(plainField);
const LATEST_TIME = 10_000_000_000;

export interface TemplateControlParts {
  templates: TemplateStore;
  templateReviewer: TemplateReviewer;
}

/** One control call: what it changes, and the notification about it. */
type Change = (parts: TemplateControlParts, template: Template, body: Param) => void;

/** The control calls about one template: what the platform decides, and reports by notification. */
export function templateControlRoutes(parts: TemplateControlParts): Route[] {
  const changing = (change: Change) => (request: Request) => {
    const id = pathId(request, 'id');
    const template = parts.templates.get(id);
    if (template === undefined) throw new PlainError(404, `No template has the id ${id}.`);
    change(parts, template, Param.ofRequest(request));
    return pick(parts.templates.get(id) ?? { ...template, status: 'DELETED' }, TEMPLATE_FIELDS, SHOWN);
  };
  return [
    ['POST', '/_simulator/templates/:id/review', changing(review)],
    ['POST', '/_simulator/templates/:id/quality', changing(changeQuality)],
    ['POST', '/_simulator/templates/:id/category', changing(changeCategory)],
    ['POST', '/_simulator/templates/:id/components', changing(changeComponents)],
  ];
}

function review({ templateReviewer }: TemplateControlParts, template: Template, body: Param): void {
  const event = requireGiven(body, 'event', EVENTS);
  templateReviewer.decide(template, event, {
    reason: body.optionalText('reason', 1000) ?? (event === 'PENDING_DELETION' ? null : 'NONE'),
    time: timeOf(body),
    notify: body.flag('notify', true),
    rejectionInfo: objectOf(body, 'rejection_info'),
    disableInfo: objectOf(body, 'disable_info'),
    otherInfo: objectOf(body, 'other_info'),
  });
}

function changeQuality(parts: TemplateControlParts, template: Template, body: Param): void {
  const qualityScore = requireGiven(body, 'score', QUALITY_SCORES);
  const changed = put(parts, { ...template, qualityScore });
  if (body.flag('notify', true)) {
    parts.templateReviewer.notices.quality(changed, template.qualityScore, timeOf(body));
  }
}

/** `announced: true` only says what the category is going to be. */
function changeCategory(parts: TemplateControlParts, template: Template, body: Param): void {
  const category = requireGiven(body, 'category', CATEGORIES);
  const { category: previous } = template;
  const isAnnounced = body.flag('announced');
  const changed = isAnnounced
    ? put(parts, { ...template, correctCategory: category })
    : put(parts, { ...template, category, previousCategory: previous, correctCategory: undefined });
  if (!body.flag('notify', true)) return;
  parts.templateReviewer.notices.category(changed, previous, isAnnounced ? category : undefined, timeOf(body));
}

function changeComponents(parts: TemplateControlParts, template: Template, body: Param): void {
  const components = body.objects('components', 0, 20).map((component) => {
    component.text('type', 100);
    return component.value as TemplateComponent;
  });
  const changed = put(parts, { ...template, components });
  if (body.flag('notify', true)) parts.templateReviewer.notices.components(changed, timeOf(body));
}

function put({ templates }: TemplateControlParts, template: Template): Template {
  const changed = { ...template, updatedAt: Date.now() };
  templates.put(changed);
  return changed;
}

function timeOf(body: Param): number | undefined {
  return body.optionalNumber('time', 0, LATEST_TIME);
}

function requireGiven<T extends string>(body: Param, key: string, allowed: readonly T[]): T {
  return body.optionalOneOf(key, allowed) ?? body.oneOf(key, allowed);
}

function objectOf(body: Param, key: string): object | undefined {
  return body.get(key).isGiven ? (body.object(key).value as object) : undefined;
}
