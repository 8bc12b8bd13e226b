import { EXAMPLE_CONNECTION_ID, EXAMPLE_MEDIA_ID, EXAMPLE_MESSAGE_ID } from '../../../common/example-ids.js';
import { FAILURE_CATEGORIES } from '../../../common/failure-category.js';
import { documentWebhook, namedSchema } from '../../../infrastructure/http/api-description.js';
import { TEST_EVENT, type EventType } from '../webhook.types.js';
import { EXAMPLE_EVENT_ID } from './webhook.response.js';

type Schema = Record<string, unknown>;

const CONVERSATION_ID = '01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f';
const ORGANIZATION_ID = '01936f6c-7d3e-7a44-8b21-9c8d7e6f5a4b';
const CONTACT_PHONE = '15550100009';
const OWN_PHONE = '15550100001';
const META_ID = 'wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA';
/** Behind an event. */
export const EXAMPLE_CURSOR = 'AX2Gw5cKHd2jAAAAAAAAA-gBk29wHD16VZ4hCxwtPk9a';
const TIME = '2026-11-21T08:00:00.125Z';

const uuid = { type: 'string', format: 'uuid' };
const time = { type: 'string', format: 'date-time' };
const text = { type: 'string' };
const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'] });
const object = (properties: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => ({
  type: 'object',
  required: Object.keys(properties),
  properties: { ...properties, ...optional },
});

const MOVED = ['accepted', 'sent', 'delivered', 'read', 'failed', 'outcome_unknown'];
const SEQUENCE = {
  type: 'integer',
  minimum: 1,
  description: 'Counts the events of this message: deliveries may overtake each other, so keep the highest.',
};

const STATUS_DATA = object({
  message_id: uuid,
  client_message_id: nullable(text),
  connection_id: uuid,
  to: { ...nullable(text), description: 'The recipient; null where it is addressed to a user id.' },
  recipient: { ...nullable(text), description: 'The user id that it is addressed to instead of a number.' },
  status: { ...text, enum: MOVED },
  previous_status: { ...text, enum: ['queued', 'processing', ...MOVED] },
  occurred_at: { ...time, description: 'When the message came to this state; the platform reports whole seconds.' },
  attempt: { type: 'integer', minimum: 0, description: 'Number of the send attempt.' },
  failure_category: { type: ['string', 'null'], enum: [...FAILURE_CATEGORIES, null] },
  error: {
    ...nullable(object({ code: text, message: text })),
    description: 'Why it failed, in the words of the platform.',
  },
  sequence: SEQUENCE,
});

const free = (description: string): Schema => ({ type: 'object', additionalProperties: true, description });

/** Fields beside the content, where WhatsApp sends them. */
const INBOUND_CONTEXT = {
  context: {
    type: 'object',
    properties: {
      forwarded: { type: 'boolean' },
      frequently_forwarded: { type: 'boolean' },
      referred_product: free('The product that the customer asks about.'),
      quoted_platform_id: { ...text, description: 'What it answers, where that is none of the messages known here.' },
    },
  },
  referral: free('The advertisement or post that led the customer here, as WhatsApp reports it.'),
  identity: free("State of the customer's keys, where the number checks for changes."),
  username: { ...text, description: "The customer's WhatsApp user name." },
  group_id: { ...text, description: 'Said in a group: it belongs to no conversation and opens no window.' },
};

const RECEIVED_DATA = object(
  {
    message: object({
      id: uuid,
      connection_id: uuid,
      conversation_id: nullable(uuid),
      direction: { const: 'inbound' },
      from: { ...nullable(text), description: "The customer's number; null where only a user id is known." },
      to: { ...nullable(text), description: "The workspace's own number." },
      type: text,
      body: nullable(text),
      status: { const: 'received' },
      failure_category: nullable(text),
      client_message_id: nullable(text),
      meta_message_id: nullable(text),
      reply_to_message_id: nullable(uuid),
      media_object_id: { ...nullable(uuid), description: 'A file that came with it: GET /media/{id}/url.' },
      created_at: { ...time, description: 'When it came to Herald.' },
      sent_at: { ...nullable(time), description: 'When the customer wrote it, in whole seconds.' },
    }),
    contact: object({ phone: nullable(text), user_id: nullable(text), name: nullable(text) }),
    content: {
      type: 'object',
      additionalProperties: true,
      description: 'What was received, by its `type`, in the terms of the platform.',
    },
    sequence: SEQUENCE,
  },
  INBOUND_CONTEXT,
);

const TEMPLATE_DATA = object({
  template_id: uuid,
  name: text,
  language: text,
  category: { ...text, enum: ['UTILITY', 'MARKETING', 'AUTHENTICATION'] },
  connection_ids: {
    type: 'array',
    items: uuid,
    description: 'The numbers of its account, all of which may send it.',
  },
  status: {
    ...text,
    enum: ['pending', 'approved', 'rejected', 'paused', 'disabled', 'in_appeal', 'pending_deletion', 'deleted'],
  },
  previous_status: { ...nullable(text), description: 'Null where the template is new here.' },
  platform_status: { ...nullable(text), description: "The platform's own word; null where it is deleted." },
  rejected_reason: { ...nullable(text), description: "The platform's word, such as INVALID_FORMAT." },
  occurred_at: { ...time, description: 'By the platform, in whole seconds, or when Herald learnt of it.' },
});

const MEDIA = {
  id: { ...uuid, description: '`media_object_id` of the message: GET /media/{id}/url.' },
  connection_id: uuid,
  type: { ...text, enum: ['image', 'video', 'audio', 'document', 'sticker'] },
  mime_type: text,
  size_bytes: nullable({ type: 'integer' }),
  sha256: nullable(text),
  filename: nullable(text),
  voice: { type: 'boolean' },
  direction: { const: 'inbound' },
  created_at: time,
};

const READY_DATA = object({ media: object({ ...MEDIA, status: { const: 'stored' } }) });

const FAILED_DATA = object({
  media: object({ ...MEDIA, status: { const: 'failed' } }),
  reason: { ...nullable(text), description: 'Why it will not come, in words.' },
});

const CONNECTION = {
  phone_number: text,
  verified_name: nullable(text),
  status: { ...text, enum: ['connected', 'pending', 'disconnected', 'restricted'] },
  status_reason: {
    type: ['string', 'null'],
    enum: ['token_refused', 'disconnected_by_operator', 'platform', null],
  },
  quality_rating: nullable(text),
  messaging_limit: nullable(text),
  throughput_per_second: { type: 'integer' },
  timezone: nullable(text),
};

const CONNECTION_DATA = object({
  connection: {
    ...object({ id: uuid, ...CONNECTION, created_at: time }),
    description: 'As GET /connections shows it.',
  },
  previous_attributes: {
    type: 'object',
    minProperties: 1,
    properties: CONNECTION,
    description: 'What changed, with the values from before.',
  },
});

const TEST_DATA = object({ note: text });

const STATUS_EXAMPLE = {
  message_id: EXAMPLE_MESSAGE_ID,
  client_message_id: 'order-4711',
  connection_id: EXAMPLE_CONNECTION_ID,
  to: CONTACT_PHONE,
  recipient: null,
  status: 'delivered',
  previous_status: 'sent',
  occurred_at: '2026-11-21T08:00:02.000Z',
  attempt: 1,
  failure_category: null,
  error: null,
  sequence: 3,
};

const FAILED_EXAMPLE = {
  ...STATUS_EXAMPLE,
  status: 'failed',
  failure_category: 'recipient_unreachable',
  error: { code: '131026', message: 'Message undeliverable' },
};

const RECEIVED_EXAMPLE = {
  message: {
    id: EXAMPLE_MESSAGE_ID,
    connection_id: EXAMPLE_CONNECTION_ID,
    conversation_id: CONVERSATION_ID,
    direction: 'inbound',
    from: CONTACT_PHONE,
    to: OWN_PHONE,
    type: 'text',
    body: 'Is my table ready?',
    status: 'received',
    failure_category: null,
    client_message_id: null,
    meta_message_id: META_ID,
    reply_to_message_id: null,
    media_object_id: null,
    created_at: TIME,
    sent_at: '2026-11-21T08:00:00.000Z',
  },
  contact: { phone: CONTACT_PHONE, user_id: null, name: 'Ana Lima' },
  content: { body: 'Is my table ready?' },
  sequence: 1,
};

const TEMPLATE_EXAMPLE = {
  template_id: '01936f71-5e6f-7b52-9c3d-7d8e9f0a1b2c',
  name: 'order_confirmation',
  language: 'en_US',
  category: 'UTILITY',
  connection_ids: [EXAMPLE_CONNECTION_ID],
  status: 'approved',
  previous_status: 'pending',
  platform_status: 'APPROVED',
  rejected_reason: null,
  occurred_at: '2026-11-21T08:00:00.000Z',
};

const MEDIA_EXAMPLE = {
  id: EXAMPLE_MEDIA_ID,
  connection_id: EXAMPLE_CONNECTION_ID,
  type: 'image',
  mime_type: 'image/jpeg',
  size_bytes: 48_213,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  filename: null,
  voice: false,
  direction: 'inbound',
  status: 'stored',
  created_at: TIME,
};

const MEDIA_FAILED_EXAMPLE = {
  media: { ...MEDIA_EXAMPLE, size_bytes: null, status: 'failed' },
  reason: 'The file was not fetched before the platform deleted it.',
};

const CONNECTION_EXAMPLE = {
  connection: {
    id: EXAMPLE_CONNECTION_ID,
    phone_number: OWN_PHONE,
    verified_name: 'Lighthouse Coffee',
    status: 'connected',
    status_reason: null,
    quality_rating: 'YELLOW',
    messaging_limit: 'TIER_2K',
    throughput_per_second: 80,
    timezone: 'Europe/Berlin',
    created_at: '2026-11-20T08:00:00.000Z',
  },
  previous_attributes: { quality_rating: 'GREEN' },
};

const TEST_EXAMPLE = { note: 'This is a test event. It reports no change.' };

/** Data of an event of each kind, for tests that a caller asks for. */
export const EXAMPLE_DATA: Readonly<Record<EventType, Record<string, unknown>>> = {
  'message.received': RECEIVED_EXAMPLE,
  'message.status.updated': STATUS_EXAMPLE,
  'template.status.updated': TEMPLATE_EXAMPLE,
  'media.ready': { media: MEDIA_EXAMPLE },
  'media.failed': MEDIA_FAILED_EXAMPLE,
  'connection.updated': CONNECTION_EXAMPLE,
  [TEST_EVENT]: TEST_EXAMPLE,
};

const HEADERS = [
  ['webhook-id', 'The id of the event, the same for all its attempts.', EXAMPLE_EVENT_ID],
  ['webhook-timestamp', 'When this attempt was made, in seconds since 1970.', '1795248001'],
  [
    'webhook-signature',
    '`v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
].map(([name, description, example]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: text,
  example,
}));

const VERIFY =
  'Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.';

const TEST_MARK = {
  const: true,
  description: 'Only where POST /webhook/test made it: an example, about nothing that exists.',
};

const envelopeOf = (type: EventType, data: unknown) => ({
  id: EXAMPLE_EVENT_ID,
  type,
  created_at: TIME,
  organization_id: ORGANIZATION_ID,
  cursor: EXAMPLE_CURSOR,
  data,
});

export const EXAMPLE_EVENT = envelopeOf('message.status.updated', STATUS_EXAMPLE);

/** The schemas of all kinds. */
export const EVENT_SCHEMAS: { $ref: string }[] = [];

interface EventDocs {
  type: EventType;
  /** Name of the schema. */
  name: string;
  summary: string;
  description: string;
  data: Schema;
  examples: Record<string, unknown>;
}

function documentEvent({ type, name, summary, description, data, examples }: EventDocs): void {
  const schema = namedSchema(name, {
    ...object({
      id: { ...uuid, description: 'The same for all attempts: a receiver that knows it has handled the event.' },
      type: { const: type },
      created_at: { ...time, description: 'When the reported change happened.' },
      organization_id: uuid,
      cursor: {
        ...text,
        description: 'Its place among all events: pass it to GET /events as `after` to read on behind it.',
      },
      data: type === TEST_EVENT ? data : { ...data, properties: { ...(data.properties as Schema), test: TEST_MARK } },
    }),
  });
  EVENT_SCHEMAS.push(schema);
  documentWebhook(type, {
    post: {
      operationId: `on_${type.replaceAll('.', '_')}`,
      tags: ['Webhook'],
      summary,
      description: `${description}\n\n${VERIFY}`,
      security: [],
      parameters: HEADERS,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema,
            examples: Object.fromEntries(
              Object.entries(examples).map(([key, value]) => [key, { value: envelopeOf(type, value) }]),
            ),
          },
        },
      },
      responses: {
        '2XX': { description: 'Taken. Answer within ten seconds; do the work afterwards.' },
        '410': { description: 'Send no more: the webhook is disabled at once.' },
        default: { description: 'Anything else, redirects too: the event comes again by the schedule.' },
      },
    },
  });
}

documentEvent({
  type: 'message.received',
  name: 'MessageReceivedEvent',
  summary: 'A customer wrote',
  description: 'Sent for each inbound message, once it stands in the journal.',
  data: RECEIVED_DATA,
  examples: { text: RECEIVED_EXAMPLE },
});

documentEvent({
  type: 'message.status.updated',
  name: 'MessageStatusUpdatedEvent',
  summary: 'A sent message came to another state',
  description: 'Sent for accepted, sent, delivered, read, failed and outcome_unknown.',
  data: STATUS_DATA,
  examples: { delivered: STATUS_EXAMPLE, failed: FAILED_EXAMPLE },
});

documentEvent({
  type: 'template.status.updated',
  name: 'TemplateStatusUpdatedEvent',
  summary: 'A template came to another status',
  description:
    'Sent for each language of a template whose status becomes another one: by the review of the platform, by a change of yours, or because it is new or deleted. Herald reports what it learns from notifications at once, and what it learns from its hourly look at the list then.',
  data: TEMPLATE_DATA,
  examples: { approved: TEMPLATE_EXAMPLE },
});

documentEvent({
  type: 'media.ready',
  name: 'MediaReadyEvent',
  summary: "A customer's file can be downloaded",
  description: 'Sent for each file that came with a message, once Herald has fetched it from WhatsApp.',
  data: READY_DATA,
  examples: { ready: { media: MEDIA_EXAMPLE } },
});

documentEvent({
  type: 'media.failed',
  name: 'MediaFailedEvent',
  summary: "A customer's file will not come",
  description: 'Sent once Herald has given up fetching it; until then it tries for seven days.',
  data: FAILED_DATA,
  examples: { failed: MEDIA_FAILED_EXAMPLE },
});

documentEvent({
  type: 'connection.updated',
  name: 'ConnectionUpdatedEvent',
  summary: 'A number changed',
  description: 'Sent where anything changes of what GET /connections shows of it: status, quality, limits, name.',
  data: CONNECTION_DATA,
  examples: { quality: CONNECTION_EXAMPLE },
});

documentEvent({
  type: TEST_EVENT,
  name: 'WebhookTestEvent',
  summary: 'A test',
  description: 'Sent by POST /webhook/test, whatever kinds the webhook has chosen.',
  data: TEST_DATA,
  examples: { test: TEST_EXAMPLE },
});
