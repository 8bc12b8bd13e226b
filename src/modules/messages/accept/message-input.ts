import { hash } from 'node:crypto';
import type { ErrorDetail } from '../../../common/app-error.js';
import { commonErrors } from '../../../common/common.errors.js';
import { canonicalJson, isObject } from '../../../common/json.js';
import { violation } from '../../../common/shape.js';
import { bodySchema } from '../../../infrastructure/http/body-schema.js';
import { isMediaType } from '../../message-state/file-references.types.js';
import { MESSAGE_VARIANTS } from './variants/message-variants.js';
import type { MessageContent, MessageVariant } from './variants/variant.js';

/** A well-formed request to send. */
export interface MessageInput extends MessageContent {
  connectionId: string;
  /** Digits without `+`, or a user id. */
  recipient: string;
  /** Replaces `connectionId` and `recipient`, which are empty until the conversation is looked up. */
  inConversationId?: string | undefined;
  clientMessageId: string | null;
  replyToMessageId: string | null;
  /** The message's group. Absent, like `metadata`, where the request has none. */
  tag?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  /** When the message is to be sent, in UTC with milliseconds. Absent where the request has none. */
  sendAt?: string | undefined;
  /** Absent where the request has none. */
  ttlSeconds?: number | undefined;
}

const WITHOUT_TYPE = MESSAGE_VARIANTS.find(({ type }) => type === null);
const BY_TYPE = new Map(MESSAGE_VARIANTS.flatMap((one) => (one.type && !one.kind ? [[one.type, one]] : [])));
const BY_KIND = new Map(MESSAGE_VARIANTS.flatMap((one) => (one.kind ? [[one.kind, one]] : [])));

/**
 * Reads the body of POST /messages.
 *
 * @param violations violations found earlier in the same body.
 * @throws VALIDATION_FAILED (422) naming each invalid field and its rule.
 */
export function readMessageInput(body: unknown, violations: ErrorDetail[] = []): MessageInput {
  const variant = variantOf(body, violations);
  variant?.shape.check(body, '', violations);
  if (isObject(body)) explain(body, violations);
  if (variant === null || violations.length > 0) throw commonErrors.VALIDATION_FAILED({ details: violations });
  const valid = body as Record<string, string> & { ttl_seconds?: number };
  const { metadata } = body as { metadata?: Record<string, string> };
  return {
    connectionId: (valid.connection_id ?? '').toLowerCase(),
    recipient: valid.recipient ?? (valid.to ?? '').replace('+', ''),
    ...variant.normalize(valid),
    clientMessageId: valid.client_message_id ?? null,
    replyToMessageId: valid.reply_to_message_id?.toLowerCase() ?? null,
    mediaObjectId: valid.media_object_id?.toLowerCase() ?? null,
    ...(valid.conversation_id !== undefined && { inConversationId: valid.conversation_id.toLowerCase() }),
    ...(valid.tag !== undefined && { tag: valid.tag }),
    ...(metadata !== undefined && { metadata }),
    ...(valid.send_at !== undefined && { sendAt: new Date(valid.send_at).toISOString() }),
    ...(valid.ttl_seconds !== undefined && { ttlSeconds: valid.ttl_seconds }),
  };
}

const OF_MEDIA: ReadonlySet<string> = new Set(['caption', 'filename', 'voice']);

/** Improves the message of a missing or misplaced field by what the caller probably meant. */
function explain(body: Record<string, unknown>, violations: ErrorDetail[]): void {
  const isUntyped = body.type === undefined && body.body === undefined;
  const hasFile = typeof body.type === 'string' && isMediaType(body.type);
  for (const [index, { field, rule }] of violations.entries()) {
    if (isUntyped && field === 'body' && rule === 'required') {
      violations[index] = violation('type', 'required', `type is missing: ${[...BY_TYPE.keys()].join(', ')}.`);
    } else if (hasFile && rule === 'unknown_field' && OF_MEDIA.has(field)) {
      violations[index] = violation(field, rule, `${field} belongs into media: media.${field}.`);
    }
  }
}

/** The body of POST /messages, for `@Body()`. */
export const MESSAGE_BODY = bodySchema((body) => readMessageInput(body));

/**
 * SHA-256 (hexadecimal) of a request's meaning. Bodies that differ only in the order of keys, white space, defaults
 * left out or `+` mean the same.
 */
export function fingerprintOf(input: MessageInput): string {
  return hash('sha256', meaningOf(input));
}

/**
 * Equals `canonicalJson(input)` byte for byte, because stored fingerprints are compared with it. It is faster, since
 * the order of the keys and the values without escapes are known.
 */
function meaningOf(input: MessageInput): string {
  const {
    connectionId,
    inConversationId,
    mediaObjectId,
    metadata,
    recipient,
    replyToMessageId,
    sendAt,
    tag,
    ttlSeconds,
    type,
  } = input;
  const body = JSON.stringify(input.body);
  const clientMessageId = JSON.stringify(input.clientMessageId);
  const content = canonicalJson(input.content);
  return (
    `{"body":${body},"clientMessageId":${clientMessageId},"connectionId":"${connectionId}","content":${content},` +
    (inConversationId === undefined ? '' : `"inConversationId":"${inConversationId}",`) +
    `"mediaObjectId":${textOrNull(mediaObjectId)},` +
    (metadata === undefined ? '' : `"metadata":${canonicalJson(metadata)},`) +
    `"recipient":"${recipient}",` +
    `"replyToMessageId":${textOrNull(replyToMessageId)},` +
    (sendAt === undefined ? '' : `"sendAt":"${sendAt}",`) +
    (tag === undefined ? '' : `"tag":"${tag}",`) +
    (ttlSeconds === undefined ? '' : `"ttlSeconds":${ttlSeconds},`) +
    `"type":"${type}"}`
  );
}

function textOrNull(plain: string | null): string {
  return plain === null ? 'null' : `"${plain}"`;
}

function variantOf(body: unknown, violations: ErrorDetail[]): MessageVariant | null {
  if (!isObject(body)) {
    violations.push(violation('', 'type', 'The body must be a JSON object.'));
    return null;
  }
  if (body.type === undefined && WITHOUT_TYPE !== undefined) return WITHOUT_TYPE;
  const variant = typeof body.type === 'string' ? BY_TYPE.get(body.type) : undefined;
  if (variant === undefined) {
    violations.push(violation('type', 'one_of', `type must be ${[...BY_TYPE.keys()].join(', ')}.`));
    return null;
  }
  const kind = isObject(body.interactive) && variant.type === 'interactive' ? body.interactive.type : undefined;
  return (typeof kind === 'string' ? BY_KIND.get(kind) : undefined) ?? variant;
}
