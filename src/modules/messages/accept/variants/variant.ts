import { isObject } from '../../../../common/json.js';
import { isDateTime } from '../../../../common/date-time.js';
import { USER_ID } from '../../../../common/user-id.js';
import { namedSchema } from '../../../../infrastructure/http/api-description.js';
import { integer, object, refined, string, uuid, violation, type Shape } from '../../../../common/shape.js';
import { TAG, TAG_MEANING } from '../../../message-state/tag.types.js';
import type { TemplateCategory, TemplateValues } from '../../../templates/templates.types.js';
import { TTL_SECONDS } from '../schedule.js';

/** A message's content, as the caller gave it or as it is stored. */
export interface MessageContent {
  type: string;
  content: Record<string, unknown>;
  /** One line for lists of messages. */
  body: string | null;
  mediaObjectId: string | null;
  /** For a prepared template: its latest confirmed category. */
  templateCategory?: TemplateCategory | undefined;
}

/** `content` of a template message. */
export interface TemplateContent {
  name: string;
  language: { code: string };
  components?: Record<string, unknown>[];
  /** The short form, in requests only: the stored content has `components`. */
  parameters?: TemplateValues;
}

/** The meaning of a valid body: how it is stored, sent and shown. */
export type NormalizedContent = Omit<MessageContent, 'mediaObjectId' | 'templateCategory'>;

/** One form of POST /messages. */
export interface MessageVariant {
  /** Name of its schema in the API description. */
  name: string;
  /** The value of `type` that selects it; null: the variant has no `type`. */
  type: string | null;
  /**
   * Where several variants share a `type`, the value of `interactive.type` that selects this one; the first has none.
   */
  kind?: string;
  shape: Shape;
  normalize(body: Record<string, unknown>): NormalizedContent;
}

/** The extension that names fields of which an object has exactly one. */
const ONE_OF_FIELDS = 'x-exactly-one';

const CONNECTION_ID = uuid({ description: 'The sending number, from GET /connections.' });

/* Limits of the contract. */
const METADATA_KEYS = 20;
const METADATA_BYTES = 2_048;

const TAG_TEXT = string({
  max: 64,
  pattern: TAG,
  meaning: TAG_MEANING,
  description: 'A group of messages, a campaign for example, which is counted, paused and canceled as one.',
  example: 'spring-sale',
});
const tag: Shape = { ...TAG_TEXT, schema: namedSchema('MessageTag', TAG_TEXT.schema) };

/** A caller's own strings by name. */
const metadata = (description: string): Shape => ({
  check(value, field, violations) {
    if (!isObject(value)) {
      violations.push(violation(field, 'type', `${field} must be an object of strings.`));
      return;
    }
    const entries = Object.entries(value);
    if (entries.length > METADATA_KEYS) {
      violations.push(violation(field, 'length', `${field} must have at most ${METADATA_KEYS} entries.`));
      return;
    }
    const wrong = entries.find(([, text]) => typeof text !== 'string');
    if (wrong !== undefined) {
      violations.push(violation(`${field}.${wrong[0]}`, 'type', `${field}.${wrong[0]} must be a string.`));
    } else if (Buffer.byteLength(JSON.stringify(value)) > METADATA_BYTES) {
      violations.push(violation(field, 'length', `${field} must have at most ${METADATA_BYTES} bytes as JSON.`));
    }
  },
  // A named schema, or each of the many forms would repeat it.
  schema: namedSchema('MessageMetadata', {
    type: 'object',
    additionalProperties: { type: 'string' },
    maxProperties: METADATA_KEYS,
    description,
    examples: [{ customer: 'c-17' }],
  }),
});

/** Fields that a conversation's id replaces. */
const ADDRESS = ['connection_id', 'to', 'recipient'] as const;

const COMMON_OPTIONAL = {
  conversation_id: uuid({
    description:
      'In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact.',
  }),
  to: string({
    // No country code begins with two zeros. Written without look-ahead, which some client generators do not know.
    pattern: /^\+?(?:[1-9][0-9]|0[1-9])[0-9]{6,14}$/,
    meaning:
      "a phone number of 8 to 16 digits that begin with the country code, with or without '+', never with 00, and without spaces or dashes",
    description:
      'Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them.',
    example: '15550100001',
  }),
  recipient: string({
    pattern: USER_ID,
    meaning: "a WhatsApp user id such as DE.1795248001: two capital letters, '.', and up to 128 letters and digits",
    description: 'Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`.',
    example: 'DE.17952480013491208655',
  }),
  client_message_id: string({
    max: 200,
    description: 'Your own id; returned as it is, and a filter of GET /messages.',
  }),
  tag,
  metadata: metadata('Your own strings, returned as they are: up to 20, and 2048 bytes as JSON.'),
  reply_to_message_id: uuid({ description: 'A message of the same conversation that this one answers.' }),
  media_object_id: uuid({
    description: 'A file of the workspace: the one to send, the one in the header of a template, or one to refer to.',
  }),
  send_at: refined(
    string({
      description:
        'When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message.',
      format: 'date-time',
      example: '2026-11-24T09:00:00.000Z',
    }),
    (value: string, field, violations) => {
      if (isDateTime(value)) return;
      const like = '2026-11-24T09:00:00.000Z or 2026-11-24T10:00:00+01:00';
      const message = `${field} must be an ISO 8601 date-time with its zone, such as ${like}.`;
      violations.push(violation(field, 'format', message));
    },
  ),
  ttl_seconds: integer({
    ...TTL_SECONDS,
    description: 'Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`.',
    example: 3_600,
  }),
};

/** The shape of a whole body: a variant's own fields, and those that every variant accepts. */
export function bodyShape(required: Record<string, Shape>): Shape {
  // Without fields that the variant requires.
  const optional = Object.fromEntries(Object.entries(COMMON_OPTIONAL).filter(([key]) => !(key in required)));
  const fields = object({ required: { connection_id: CONNECTION_ID, ...required }, optional });
  const inConversation = object({ required, optional: { connection_id: CONNECTION_ID, ...optional } });
  return {
    check(body, field, violations) {
      if (isObject(body) && body.conversation_id !== undefined) {
        inConversation.check(body, field, violations);
        for (const beside of ADDRESS) {
          if (body[beside] === undefined || violations.some((one) => one.field === beside)) continue;
          violations.push(violation(beside, 'excluded', `Leave ${beside} out: conversation_id stands in its place.`));
        }
        return;
      }
      fields.check(body, field, violations);
      if (!isObject(body) || (body.to === undefined) !== (body.recipient === undefined)) return;
      const [empty, other] = body.to === null ? ['to', 'recipient'] : ['recipient', 'to'];
      // Some programs write null for a field that they leave out; a message about its type would not help them.
      const wrong = violations.find((one) => one.field === empty);
      if (body[empty] === null && wrong !== undefined) {
        wrong.message = `${empty} must not be null: leave it out where ${other} is given.`;
        return;
      }
      const message = 'Give exactly one of to (a phone number) and recipient (a user id).';
      violations.push(violation('to', 'exactly_one', message));
    },
    // Open for the `idempotency_key` of a batch's message; where used alone, unknown fields are refused.
    schema: { allOf: [EVERY_MESSAGE, open(object({ required }).schema)] },
  };
}

function open({ additionalProperties: _closed, ...schema }: Shape['schema']): Shape['schema'] {
  return schema;
}

/**
 * The rule that an object has exactly one of two fields: in words, and as an extension for programs. As alternatives
 * (`oneOf` of `required`) it would give generated clients types without fields.
 */
export function exactlyOne(first: string, second: string): Shape['schema'] {
  return { description: `Exactly one of \`${first}\` and \`${second}\` is given.`, [ONE_OF_FIELDS]: [first, second] };
}

/** Fields of all variants, described once. */
const EVERY_MESSAGE = namedSchema('EveryMessage', {
  ...open(object({ optional: { connection_id: CONNECTION_ID, ...COMMON_OPTIONAL } }).schema),
  description:
    'Exactly one of `to`, `recipient` and `conversation_id` is given; with `to` and `recipient` also `connection_id`, with `conversation_id` never.',
  [ONE_OF_FIELDS]: ['to', 'recipient', 'conversation_id'],
  dependentRequired: { to: ['connection_id'], recipient: ['connection_id'] },
});

/** One of two shapes: the second where the test on the value holds. */
export function either(first: Shape, second: Shape, isSecond: (value: unknown) => boolean): Shape {
  return {
    check: (value, field, violations) => (isSecond(value) ? second : first).check(value, field, violations),
    schema: { anyOf: [first.schema, second.schema] },
  };
}

/** What names a file: exactly one of the two. */
export const fileSource = {
  id: string({ min: 1, description: 'Id of a file: ours from POST /media, or one of the platform.' }),
  link: string({
    pattern: /^https:\/\/[^\s/?#]+\S*$/,
    meaning: 'an https:// address',
    format: 'uri',
    description: 'Address of the file for the platform; starts with https://.',
    example: 'https://example.com/menu.pdf',
  }),
};
