import { EXAMPLE_CONNECTION_ID, EXAMPLE_MESSAGE_ID } from '../../../common/example-ids.js';
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
      data,
    }),
  });
  const envelope = (value: unknown) => ({
    id: EXAMPLE_EVENT_ID,
    type,
    created_at: TIME,
    organization_id: ORGANIZATION_ID,
    data: value,
  });
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
              Object.entries(examples).map(([key, value]) => [key, { value: envelope(value) }]),
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
  type: TEST_EVENT,
  name: 'WebhookTestEvent',
  summary: 'A test',
  description: 'Sent by POST /webhook/test, whatever kinds the webhook has chosen.',
  data: TEST_DATA,
  examples: { test: { note: 'This is a test event. It reports no change.' } },
});
