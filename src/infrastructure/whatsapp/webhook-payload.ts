import { isObject, type JsonObject } from '../../common/json.js';
import { own, ownId, ownList, ownObject, ownText, parseJson, storableJson, storableText } from './json-access.js';
import {
  quote,
  readCall,
  readDigits,
  readInbound,
  readStatus,
  readTime,
  type WebhookPayload,
} from './webhook-records.js';

export type * from './webhook-records.js';

const OBJECT = 'whatsapp_business_account';

/** Fields other than `messages` that the platform is known to send. */
const MANAGEMENT_FIELDS: ReadonlySet<string> = new Set([
  'account_alerts',
  'account_review_update',
  'account_update',
  'automatic_events',
  'business_capability_update',
  'business_username_update',
  'calls',
  'flows',
  'group_lifecycle_update',
  'group_participants_update',
  'group_settings_update',
  'history',
  'message_template_components_update',
  'message_template_quality_update',
  'message_template_status_update',
  'partner_solutions',
  'payment_configuration_update',
  'phone_number_name_update',
  'phone_number_quality_update',
  'security',
  'smb_app_state_sync',
  'smb_message_echoes',
  'template_category_update',
  'template_correct_category_detection',
  'tracking_events',
  'user_id_update',
  'user_preferences',
]);

interface Place {
  readonly wabaId: string | null;
  readonly occurredAt: Date | null;
}

/** Reads a notification's bytes. What is no JSON at all gives one `unknown`; see `parseWebhookPayload`. */
export function parseWebhookBody(rawBody: Buffer | string): WebhookPayload {
  const payload = parseJson(typeof rawBody === 'string' ? rawBody : rawBody.toString('utf8'));
  if (payload === undefined) {
    return { ...nothing(), unknown: [{ field: 'body', reason: 'the body is not JSON' }] };
  }
  return parseWebhookPayload(payload);
}

/**
 * Reads every entry, change, message and status of a parsed notification. Never throws: what can't be read is named in
 * `unknown` and costs its neighbours nothing. All text can be stored (no U+0000, no lone surrogate).
 */
export function parseWebhookPayload(received: unknown): WebhookPayload {
  const result = nothing();
  const payload = storableJson(received);
  if (!isObject(payload)) {
    result.unknown.push({ field: 'body', reason: `the body is not an object but ${kindOf(payload)}` });
    return result;
  }
  const object = own(payload, 'object');
  if (object !== undefined && object !== OBJECT) {
    result.unknown.push({ field: 'object', reason: `the object ${quote(object)} is not known` });
    return result;
  }
  if (own(payload, 'entry') === undefined) {
    result.unknown.push({ field: 'entry', reason: 'there is no entry' });
  }
  for (const entry of objectsIn(payload, 'entry', 'entry', result)) {
    const place = { wabaId: ownId(entry, 'id'), occurredAt: readTime(entry, 'time') };
    for (const change of objectsIn(entry, 'changes', 'changes', result)) {
      readChange(change, place, result);
    }
  }
  return result;
}

function readChange(change: JsonObject, place: Place, result: WebhookPayload): void {
  const field = ownText(change, 'field') ?? '';
  const value = ownObject(change, 'value');
  if (value === null) {
    result.unknown.push({
      field: nameOf(field),
      reason: `the value is not an object but ${kindOf(own(change, 'value'))}`,
    });
  } else if (field === 'messages') {
    readMessages(value, place, result);
  } else if (MANAGEMENT_FIELDS.has(field)) {
    if (field === 'calls') readCalls(value, place, result);
    result.management.push({ field, ...place, phoneNumberId: phoneNumberIdOf(value), value });
  } else {
    result.unknown.push({ field: nameOf(field), reason: `the field ${quote(field)} is not known` });
  }
}

/** One change of the field `messages`: messages, statuses and errors may be beside each other. */
function readMessages(value: JsonObject, { wabaId, occurredAt }: Place, result: WebhookPayload): void {
  const origin = { phoneNumberId: phoneNumberIdOf(value), wabaId };
  const contacts = ownList(value, 'contacts').filter(isObject);
  for (const raw of objectsIn(value, 'messages', 'messages.messages', result)) {
    keep(readInbound(raw, contacts, origin), result.inbound, 'messages.messages', result);
  }
  for (const raw of objectsIn(value, 'statuses', 'messages.statuses', result)) {
    keep(readStatus(raw, origin), result.statuses, 'messages.statuses', result);
  }
  for (const error of objectsIn(value, 'errors', 'messages.errors', result)) {
    result.management.push({ field: 'messages.errors', ...origin, occurredAt, value: error });
  }
}

function readCalls(value: JsonObject, { wabaId }: Place, result: WebhookPayload): void {
  const contacts = ownList(value, 'contacts').filter(isObject);
  const origin = { phoneNumberId: phoneNumberIdOf(value), wabaId };
  const ownNumber = readDigits(ownObject(value, 'metadata'), 'display_phone_number');
  for (const raw of objectsIn(value, 'calls', 'calls.calls', result)) {
    const call = readCall(raw, contacts, origin, ownNumber);
    if (call !== null) result.calls.push(call);
  }
}

function keep<T>(read: T | string, into: T[], field: string, result: WebhookPayload): void {
  if (typeof read === 'string') {
    result.unknown.push({ field, reason: read });
  } else {
    into.push(read);
  }
}

/** The objects in a list; whatever else is there is named in `unknown`. */
function* objectsIn(parent: JsonObject, key: string, field: string, result: WebhookPayload): Generator<JsonObject> {
  const value = own(parent, key);
  if (value !== undefined && value !== null && typeof value !== 'object') {
    result.unknown.push({ field, reason: `the list is not an array but ${kindOf(value)}` });
  }
  for (const item of ownList(parent, key)) {
    if (isObject(item)) {
      yield item;
    } else {
      result.unknown.push({ field, reason: `an item is not an object but ${kindOf(item)}` });
    }
  }
}

function phoneNumberIdOf(value: JsonObject): string | null {
  return ownId(ownObject(value, 'metadata'), 'phone_number_id') ?? ownId(value, 'phone_number_id');
}

function nameOf(field: string): string {
  return field === '' ? 'changes' : storableText(field.slice(0, 64));
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function nothing(): WebhookPayload {
  return { statuses: [], inbound: [], calls: [], management: [], unknown: [] };
}
