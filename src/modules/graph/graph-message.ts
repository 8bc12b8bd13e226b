import { AppError, type ErrorDetail } from '../../common/app-error.js';
import { invalidField } from '../../common/common.errors.js';
import { isObject } from '../../common/json.js';
import { readJson } from '../../infrastructure/http/read-json.js';
import { MEDIA_TYPES } from '../media/media.types.js';

type Given = Readonly<Record<string, unknown>>;

/** The key in `metadata` for the caller's callback data, which events and GET /messages/{id} return. */
export const CALLBACK_DATA = 'biz_opaque_callback_data';
/** WhatsApp's limit, in characters. */
const MAX_CALLBACK_DATA = 512;

/**
 * Fields that change what WhatsApp sends and that Herald cannot pass on: ignoring them silently would send another
 * message.
 */
const NOT_PASSED_ON = [
  'recipient_identity_key_hash',
  'message_activity_sharing',
  'direct_send_config',
  'product_policy',
  'bid_spec',
];

const isMedia = (type: string): boolean => (MEDIA_TYPES as readonly string[]).includes(type);

/** The parameters of a body. @throws INVALID_REQUEST (400) where it is not an object, or not for WhatsApp. */
export function readBody(body: unknown): Given {
  if (!isObject(body)) throw invalidField('', 'type', 'The body must be a JSON object.');
  if (body.messaging_product === undefined) {
    throw invalidField('messaging_product', 'required', 'messaging_product is missing: whatsapp.');
  }
  if (body.messaging_product !== 'whatsapp') {
    throw invalidField('messaging_product', 'one_of', 'messaging_product must be whatsapp.');
  }
  // Clients in languages without undefined write null for absent fields.
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** WhatsApp also accepts JSON text for an object or a list, and `whatsapp-api-js` sends contacts that way. */
function unwrapped(content: unknown): unknown {
  if (typeof content !== 'string' || !/^\s*[[{]/.test(content)) return content;
  try {
    const { value, violations } = readJson(Buffer.from(content));
    return violations.length === 0 ? value : content;
  } catch {
    // Not JSON: the text itself is refused.
    return content;
  }
}

/** The message that this one replies or reacts to, as the caller named it; undefined: none. */
export function answeredBy(given: Given): { field: string; name: string } | undefined {
  const type = typeOf(given);
  const [field, from] =
    type === 'reaction'
      ? ['reaction.message_id', unwrapped(given.reaction)]
      : ['context.message_id', unwrapped(given.context)];
  if (from === undefined && type !== 'reaction') return undefined;
  const name = isObject(from) ? from.message_id : undefined;
  if (name === undefined) throw invalidField(field, 'required', `${field} is missing.`);
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME || name.includes('\u0000')) {
    throw invalidField(field, 'type', `${field} must be the id of a message.`);
  }
  return { field, name };
}

/** WhatsApp's ids have some sixty characters. */
const MAX_NAME = 512;

/** The recipient as given, and without the characters that WhatsApp ignores in a phone number. */
export function recipientOf(given: Given): { input: string; to?: string; recipient?: string } {
  const { to, recipient } = given;
  // If both are given, WhatsApp uses the number.
  if (to === undefined && typeof recipient === 'string') return { input: recipient, recipient };
  if (to === undefined) throw invalidField('to', 'required', 'to is missing: the number of the recipient.');
  if (typeof to !== 'string' && typeof to !== 'number') throw invalidField('to', 'type', 'to must be a phone number.');
  return { input: String(to), to: String(to).replaceAll(/[\s()-]/g, '') };
}

function typeOf({ type = 'text' }: Given): string {
  if (typeof type !== 'string') throw invalidField('type', 'type', 'type must be a string.');
  return type;
}

/**
 * The equivalent body of POST /messages. Unknown fields are ignored, as WhatsApp does; those inside a message are
 * checked as POST /messages checks them.
 *
 * @param replyTo Herald's id of the message that it replies to.
 * @throws INVALID_REQUEST (400) for what Herald can't pass on.
 */
export function bodyOf(given: Given, connectionId: string, replyTo: string | undefined): Given {
  const type = typeOf(given);
  for (const field of NOT_PASSED_ON) {
    if (given[field] === undefined) continue;
    throw invalidField(field, 'not_supported', `Herald does not pass on ${field}; leave it out.`);
  }
  if (given.recipient_type !== undefined && given.recipient_type !== 'individual') {
    const message = 'recipient_type must be individual: Herald does not send to groups.';
    throw invalidField('recipient_type', 'one_of', message);
  }
  const { input: _input, ...recipient } = recipientOf(given);
  return {
    connection_id: connectionId,
    ...recipient,
    type,
    ...contentOf(type, unwrapped(given[type])),
    ...(replyTo !== undefined && { reply_to_message_id: replyTo }),
    ...metadataOf(given[CALLBACK_DATA]),
  };
}

function contentOf(type: string, content: unknown): Given {
  if (content === undefined) throw invalidField(type, 'required', `${type} is missing.`);
  if (isMedia(type)) return { media: content };
  if (type !== 'reaction') return { [type]: content };
  const { message_id: _answered, ...reaction } = isObject(content) ? content : {};
  return { reaction };
}

function metadataOf(data: unknown): Given {
  if (data === undefined) return {};
  if (typeof data !== 'string') throw invalidField(CALLBACK_DATA, 'type', `${CALLBACK_DATA} must be a string.`);
  if ([...data].length > MAX_CALLBACK_DATA) {
    const message = `${CALLBACK_DATA} must have at most ${MAX_CALLBACK_DATA} characters.`;
    throw invalidField(CALLBACK_DATA, 'length', message);
  }
  return { metadata: { [CALLBACK_DATA]: data } };
}

/**
 * Translates a refusal of POST /messages to the caller's field names: `media.link` of an image is `image.link` there.
 */
export function inWordsOf(given: Given, error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const type = typeOf(given);
  const answered = type === 'reaction' ? 'reaction.message_id' : 'context.message_id';
  const said = (text: string): string =>
    [
      ...(isMedia(type) ? [[/\bmedia(?=[. ]|$)/g, type] as const] : []),
      [/\breply_to_message_id\b/g, answered] as const,
      [/\bmetadata(\.biz_opaque_callback_data)?(?=[. ]|$)/g, CALLBACK_DATA] as const,
    ].reduce((all, [ours, theirs]) => all.replace(ours, theirs), text);
  const { details } = error.extra as { details?: readonly ErrorDetail[] };
  const extra = details && {
    details: details.map((each) => ({ ...each, field: said(each.field), message: said(each.message) })),
  };
  const isOfBody = details !== undefined || error.code === 'REPLY_TARGET_NOT_FOUND';
  if (!isOfBody) return error;
  return new AppError({
    ...error,
    message: said(error.message),
    extra: { ...error.extra, ...extra },
    cause: error.cause,
  });
}
