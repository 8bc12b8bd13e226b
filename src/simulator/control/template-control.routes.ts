import { PlainError } from '../graph-error.js';
import { control, type Route } from '../http/call.js';
import type { Param } from '../http/param.js';
import type { Platform } from '../platform.js';
import { TEMPLATES } from '../templates/template-json.js';
import { CATEGORIES, QUALITY_SCORES, type Template, type TemplateComponent } from '../templates/template-store.js';

// prettier-ignore
const EVENTS = [
  'APPROVED', 'REJECTED', 'PENDING', 'PAUSED', 'DISABLED', 'FLAGGED', 'REINSTATED', 'IN_APPEAL', 'PENDING_DELETION',
  'DELETED', 'LOCKED', 'LIMIT_EXCEEDED', 'ARCHIVED', 'UNARCHIVED',
];
// prettier-ignore
const SHOWN = [
  'id', 'name', 'language', 'status', 'category', 'previous_category', 'correct_category', 'rejected_reason',
  'quality_score', 'components', 'parameter_format', 'message_send_ttl_seconds', 'last_updated_time',
];
const LATEST_TIME = 10_000_000_000;

/** One control call: what it changes, and the notification about it. */
type Change = (platform: Platform, template: Template, body: Param) => void;

/** The control calls about one template: what the platform decides, and reports by notification. */
export function templateControlRoutes(platform: Platform): Route[] {
  const changing = (name: string, change: Change) =>
    control('post', `/templates/:id/${name}`, (call) => {
      const id = call.pathParam('id');
      const template = platform.templates.get(id);
      if (template === undefined) throw new PlainError(404, `No template has the id ${id}.`);
      change(platform, template, call.param);
      return TEMPLATES.only(platform.templates.get(id) ?? { ...template, status: 'DELETED' }, SHOWN);
    });
  return [
    changing('review', review),
    changing('quality', changeQuality),
    changing('category', changeCategory),
    changing('components', changeComponents),
  ];
}

function review({ templateReviewer }: Platform, template: Template, body: Param): void {
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

function changeQuality(platform: Platform, template: Template, body: Param): void {
  const qualityScore = requireGiven(body, 'score', QUALITY_SCORES);
  const changed = put(platform, { ...template, qualityScore });
  if (body.flag('notify', true)) {
    platform.templateReviewer.notices.quality(changed, template.qualityScore, timeOf(body));
  }
}

/** `announced: true` only says what the category is going to be. */
function changeCategory(platform: Platform, template: Template, body: Param): void {
  const category = requireGiven(body, 'category', CATEGORIES);
  const { category: previous } = template;
  const isAnnounced = body.flag('announced');
  const changed = isAnnounced
    ? put(platform, { ...template, correctCategory: category })
    : put(platform, { ...template, category, previousCategory: previous, correctCategory: undefined });
  if (!body.flag('notify', true)) return;
  platform.templateReviewer.notices.category(changed, previous, isAnnounced ? category : undefined, timeOf(body));
}

function changeComponents(platform: Platform, template: Template, body: Param): void {
  const components = body.objects('components', 0, 20).map((component) => {
    component.text('type', 100);
    return component.value as TemplateComponent;
  });
  const changed = put(platform, { ...template, components });
  if (body.flag('notify', true)) platform.templateReviewer.notices.components(changed, timeOf(body));
}

function put({ templates }: Platform, template: Template): Template {
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
