import { jsonAnswer } from '../http/answer.js';
import { pageOf } from '../http/page.js';
import type { SimulatorContext } from '../simulator-context.js';
import { templateFields, templateJson } from './template-json.js';
import type { Template } from './template.types.js';

/** Query parameters that narrow the list, and how. */
const FILTERS: Readonly<Record<string, (template: Template, value: string) => boolean>> = {
  name: (template, value) => template.name.includes(value.toLowerCase()),
  status: (template, value) => template.status === value.toUpperCase(),
  category: (template, value) => template.category === value.toUpperCase(),
  language: (template, value) => template.language === value,
};

/** Registers `GET /{waba_id}/message_templates`. */
export function registerTemplateListRoutes(context: SimulatorContext): void {
  context.router.graph('GET', 'waba', 'message_templates', (call) => {
    const fields = templateFields(call.query.get('fields'));
    const filters = Object.entries(FILTERS).flatMap(([name, matches]) => {
      const value = call.query.get(name);
      return value === null ? [] : [(template: Template) => matches(template, value)];
    });
    const templates = context.templates
      .ofAccount(call.nodeId)
      .filter((template) => filters.every((matches) => matches(template)));
    const page = pageOf(templates, (template) => template.id, call);
    return jsonAnswer({ ...page, data: page.data.map((template) => templateJson(template, fields)) });
  });
}
