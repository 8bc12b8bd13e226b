import { resolveRecipient, type Recipient } from '../recipient.js';
import type { SimulatorNumber } from '../simulator.types.js';
import type { TemplateStore } from '../templates/template-store.js';
import { invalidParam, type JsonObject, optionalString, requireObject, requireOneOf, requireString } from './checks.js';
import { CONTENT_CHECKS } from './content-checks.js';
import type { PricingCategory } from './taken-message.js';
import { checkTemplateMessage } from './template-checks.js';

/** A request that may be taken. */
export interface CheckedMessage {
  type: string;
  recipient: Recipient;
  callback: string | null;
  pricing: PricingCategory;
}

const TYPES = [...Object.keys(CONTENT_CHECKS), 'template'].sort();

/** Checks a whole send request, in the platform's order: envelope, recipient, content. @throws GraphError */
export function checkMessage(body: JsonObject, sender: SimulatorNumber, templates: TemplateStore): CheckedMessage {
  checkProduct(body);
  if (body.recipient_type !== undefined) requireOneOf(body.recipient_type, ['individual', 'group'], 'recipient_type');
  const recipient = resolveRecipient(body, sender);
  const type = requireOneOf(
    typeof body.type === 'string' ? body.type.toLowerCase() : (body.type ?? 'text'),
    TYPES,
    'type',
  );
  const callback = optionalString(body, 'biz_opaque_callback_data', 'biz_opaque_callback_data', 512) ?? null;
  if (body.context !== undefined && body.context !== null) {
    requireString(requireObject(body, 'context'), 'message_id', "context['message_id']", 512);
  }
  if (type === 'template') {
    const { category } = checkTemplateMessage(body, sender.wabaId, templates, recipient.waId === null);
    return { type, recipient, callback, pricing: category.toLowerCase() as PricingCategory };
  }
  CONTENT_CHECKS[type]?.(body);
  return { type, recipient, callback, pricing: 'service' };
}

/** @throws GraphError 100 unless `messaging_product` is `whatsapp` */
export function checkProduct(body: JsonObject): void {
  if (body.messaging_product === undefined) throw invalidParam('The parameter messaging_product is required.');
  requireOneOf(body.messaging_product, ['whatsapp'], 'messaging_product');
}
