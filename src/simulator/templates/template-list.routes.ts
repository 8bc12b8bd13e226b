import { jsonAnswer } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { pageOf } from '../http/page.js';
import type { SimulatorContext } from '../simulator-context.js';
import { templateFields, templateJson } from './template-json.js';
import type { Template } from './template.types.js';

/** Query parameters that narrow the list, and how. */
const FILTERS: Readonly<Record<string, (template: Template, value: string) => boolean>> = {
  name: (template, value) => template.name.includes(value.toLowerCase()),
  content: (template, value) => contentOf(template).includes(value.toLowerCase()),
  name_or_content: (template, value) =>
    template.name.includes(value.toLowerCase()) || contentOf(template).includes(value.toLowerCase()),
  status: (template, value) => listOf(value).includes(template.status),
  category: (template, value) => listOf(value).includes(template.category),
  language: (template, value) => listOf(value).includes(template.language.toUpperCase()),
  quality_score: (template, value) => listOf(value).includes(template.qualityScore),
};

/** Registers `GET /{waba_id}/message_templates`. */
export function registerTemplateListRoutes(context: SimulatorContext): void {
  context.router.graph('GET', 'waba', 'message_templates', (call) => {
    const fields = templateFields(call.query.get('fields'));
    const filters = Object.entries(FILTERS).flatMap(([name, matches]) => {
      const value = call.query.get(name);
      return value === null || value === '' ? [] : [(template: Template) => matches(template, value)];
    });
    const all = context.templates.ofAccount(call.nodeId);
    const templates = all.filter((template) => filters.every((matches) => matches(template)));
    const page = pageOf(templates, (template) => template.id, call);
    return jsonAnswer({
      ...page,
      data: page.data.map((template) => templateJson(template, fields)),
      ...summaryOf(call, templates.length, all.length, context.templateLimits.perAccount),
    });
  });
}

/** `summary=total_count,message_template_limit`: only what is asked for. */
function summaryOf(call: Call, matching: number, existing: number, limit: number): { summary?: object } {
  const asked = call.query.get('summary');
  if (asked === null) return {};
  const counts = { total_count: matching, message_template_count: existing, message_template_limit: limit };
  const wanted = asked.split(',').map((name) => name.trim());
  return { summary: Object.fromEntries(Object.entries(counts).filter(([name]) => wanted.includes(name))) };
}

/** One value, some with commas between, or a JSON array, in capitals. */
function listOf(value: string): string[] {
  return value
    .toUpperCase()
    .split(/[[\]",\s]+/)
    .filter((part) => part !== '');
}

function contentOf(template: Template): string {
  return template.components
    .map((component) => component.text ?? '')
    .join('\n')
    .toLowerCase();
}
