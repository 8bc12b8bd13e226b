import type { NextFunction, Request } from 'express';
import { GraphError } from '../graph-error.js';
import { isObject, jsonOf, type JsonObject } from './param.js';

/** Parameters whose text is JSON: in the query, in a form, or as a string within JSON. */
// prettier-ignore
const STRUCTURED = new Set([
  'text', 'image', 'video', 'audio', 'document', 'sticker', 'location', 'contacts', 'interactive', 'reaction', 'template',
  'context', 'typing_indicator', 'components', 'allow_category_change', 'message_send_ttl_seconds', 'languages',
  'library_template_button_inputs', 'library_template_body_inputs', 'hsm_ids', 'websites', 'block_users', 'session',
  'calling', 'payload_encryption', 'storage_configuration', 'user_identity_change', 'enable_welcome_message', 'prompts',
  'commands', 'webhook_configuration', 'categories', 'publish',
]);
/** They authenticate the caller, and are parameters of no call. */
const CREDENTIALS = ['access_token', 'appsecret_proof'];

export interface Parameters {
  values: JsonObject;
  /** The received JSON, if it is exactly the values; null where they came in another form. */
  sent: string | null;
  /** `access_token` in a form or in JSON. */
  token: unknown;
}

/**
 * The parameters of a call, from the query, a form, or a JSON object. The body takes precedence.
 *
 * @throws GraphError 100 for any other body
 */
export function readParameters(request: Request): Parameters {
  const { values: given, sent } = bodyOf(request);
  const query = Object.keys(request.query).map((name) => [name, queryParam(request, name)] as const);
  const merged = query.length === 0 ? given : { ...Object.fromEntries(query), ...given };
  const values = withoutText(merged);
  return { values, sent: values === given ? sent : null, token: given.access_token };
}

/** The first query parameter of this name; null where there is none. */
export function queryParam(request: Request, name: string): string | null {
  const value = request.query[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}

export function bodyText(request: Request): string {
  const { body } = request as { body: unknown };
  return typeof body === 'string' ? body : '';
}

function bodyOf(request: Request): Pick<Parameters, 'values' | 'sent'> {
  const { body } = request as { body: unknown };
  // A multipart form is parsed already.
  if (isObject(body)) return { values: body, sent: null };
  const text = bodyText(request);
  if (text.trim() === '') return { values: {}, sent: null };
  const isForm = /^application\/x-www-form-urlencoded/i.test(request.headers['content-type'] ?? '');
  if (isForm && !/^\s*[[{]/.test(text)) return { values: Object.fromEntries(new URLSearchParams(text)), sent: null };
  const values = jsonOf(text);
  if (isObject(values)) return { values, sent: text };
  throw new GraphError(100, `The request body ${values === undefined ? 'is not valid JSON' : 'must be a JSON object'}`);
}

/** Returns the same object where nothing changes, which is the usual case. */
function withoutText(values: JsonObject): JsonObject {
  let changed: JsonObject | null = null;
  for (const [name, value] of Object.entries(values)) {
    let read = value;
    if (typeof value === 'string') {
      if (CREDENTIALS.includes(name)) read = undefined;
      else if (STRUCTURED.has(name)) read = value === 'null' ? null : (jsonOf(value) ?? value);
    }
    if (name === 'template' && isObject(read) && typeof read.components === 'string') read = withoutText(read);
    if (read !== value) changed = { ...(changed ?? values), [name]: read };
  }
  return changed ?? values;
}

/** Reads a multipart form; a file as text. @throws GraphError 100 for a malformed one */
export async function readMultipart(request: Request, _reply: unknown, next: NextFunction): Promise<void> {
  const type = request.headers['content-type'] ?? '';
  if (/^multipart\/form-data/i.test(type)) request.body = await formOf(bodyText(request), type);
  next();
}

async function formOf(body: string, type: string): Promise<JsonObject> {
  const form = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => {
    throw new GraphError(100, 'The form of the request can not be read');
  });
  const parts = [...form].map(async ([name, value]) => [name, typeof value === 'string' ? value : await value.text()]);
  return Object.fromEntries((await Promise.all(parts)) as [string, string][]);
}
