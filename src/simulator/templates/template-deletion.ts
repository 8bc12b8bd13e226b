import { invalidParam } from '../messages/checks.js';
import { type Answer, SUCCESS } from '../http/answer.js';
import type { Call } from '../http/call.js';
import type { SimulatorContext } from '../simulator-context.js';
import { templateError } from './template-error.js';
import type { Template } from './template.types.js';

const MOST_IDS = 100;

/**
 * `DELETE /{waba_id}/message_templates`: by `name` in every language, by `name` and `hsm_id` in one, by `hsm_ids` alone up
 * to a hundred, all or none.
 * @throws GraphError 100; nothing is deleted then
 */
export function deleteTemplates(context: SimulatorContext, call: Call): Answer {
  const chosen = choose(context, call);
  const disabled = chosen.find(({ status }) => status === 'DISABLED');
  if (disabled !== undefined) {
    const rule = `${disabled.name} is disabled. A disabled message template can't be deleted.`;
    throw templateError(2388039, "Message Template Status Can't Be Changed", rule);
  }
  const now = Date.now();
  for (const template of chosen) {
    if (template.status === 'PENDING_DELETION') continue;
    const wasSendable = template.status === 'APPROVED' || template.status === 'PAUSED';
    if (wasSendable) {
      context.templateLimits.block(template, now);
      context.templateReviewer.scheduleDeletion(template, now);
    } else context.templateReviewer.remove(template);
  }
  return SUCCESS;
}

function choose({ templates }: SimulatorContext, call: Call): Template[] {
  const body = bodyOf(call);
  const read = (name: string): unknown => call.query.get(name) ?? body[name] ?? null;
  const name = read('name');
  const id = textOf(read('hsm_id'));
  const ids = idsOf(read('hsm_ids'));
  const ofAccount = templates.ofAccount(call.nodeId);
  if (ids !== null) {
    if (name !== null || id !== null) throw invalidParam('Param hsm_ids must be given alone.');
    return ids.map((one) => found(ofAccount.find((template) => template.id === one)));
  }
  if (typeof name !== 'string' || name === '') throw invalidParam('The parameter name is required.');
  const named = ofAccount.filter((template) => template.name === name);
  if (id !== null) return [found(named.find((template) => template.id === id))];
  if (named.length === 0) throw notFound();
  return named;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
}

function bodyOf(call: Call): Record<string, unknown> {
  return call.text.trim() === '' ? {} : call.jsonObject();
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
  if (!Array.isArray(list)) list = [list];
  const ids = [...new Set((list as unknown[]).map(String))];
  if (ids.length === 0 || ids.length > MOST_IDS) throw invalidParam(`Param hsm_ids must have 1 to ${MOST_IDS} ids.`);
  return ids;
}

function found(template: Template | undefined): Template {
  if (template === undefined) throw notFound();
  return template;
}

function notFound() {
  return templateError(
    2593002,
    'Message Template Not Found',
    "The message template wasn't found in this WhatsApp Business account.",
  );
}
