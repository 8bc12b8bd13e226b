import {
  EXAMPLE_CONNECTION_ID,
  EXAMPLE_CONVERSATION_ID,
  EXAMPLE_MEDIA_ID,
  EXAMPLE_MESSAGE_ID,
  EXAMPLE_OPT_OUT_ID,
} from '../../../common/example-ids.js';
import { documentedWebhooks, namedParameter, namedSchema } from '../../../infrastructure/http/api-description.js';
import { FAILURE_CATEGORY, nullable as orNull } from '../../../infrastructure/http/open-words.js';
import { RECEIVED_CONTENT } from '../../../infrastructure/http/received-content.js';
import { EVENT_TYPES, TEST_EVENT, type EventType } from '../webhook.types.js';
import {
  always,
  type Described,
  flag,
  free,
  is,
  nullable,
  object,
  oneOf,
  type Schema,
  schemasOf,
  text,
  time,
  uuid,
} from './described.js';
import { LIMIT } from './limit.docs.js';
import { EXAMPLE_EVENT_ID } from './webhook.dto.js';

const ORGANIZATION_ID = '01936f6c-7d3e-7a44-8b21-9c8d7e6f5a4b';
const CONTACT_PHONE = '15550100009';
const OWN_PHONE = '15550100001';
const META_ID = 'wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA';
/** Behind an event. */
export const EXAMPLE_CURSOR = 'AX2Gw5cKHd2jAAAAAAAAA-gBk29wHD16VZ4hCxwtPk9a';
const TIME = '2026-11-21T08:00:00.125Z';
const SECOND = '2026-11-21T08:00:00.000Z';

const MOVED = ['accepted', 'sent', 'delivered', 'read', 'failed', 'outcome_unknown'];
const sequence = (example: number): Described =>
  is(
    { type: 'integer', minimum: 1 },
    example,
    'Counts the events of this message: deliveries may overtake each other, so keep the highest.',
  );

const OWN_STRINGS = { ...nullable({ type: 'object' }), additionalProperties: text };

const PRICING = object({
  billable: is(nullable(flag), true),
  category: is(nullable(text), 'utility'),
  type: is(nullable(text), 'regular', '`regular` is charged; what begins with `free_` is not.'),
  subtype: is(nullable(text), null),
  model: is(nullable(text), 'PMP'),
});

const STATUS = object({
  message_id: is(uuid, EXAMPLE_MESSAGE_ID),
  client_message_id: is(nullable(text), 'order-4711'),
  connection_id: is(uuid, EXAMPLE_CONNECTION_ID),
  conversation_id: is(nullable(uuid), EXAMPLE_CONVERSATION_ID, 'Null where the contact was erased.'),
  type: is(text, 'text'),
  tag: is(nullable(text), 'spring-sale'),
  metadata: is(OWN_STRINGS, { customer: 'c-17' }, 'Your own strings, as sent.'),
  to: is(nullable(text), CONTACT_PHONE, 'The recipient; null where it is addressed to a user id.'),
  recipient: is(nullable(text), null, 'The user id that it is addressed to instead of a number.'),
  status: is(oneOf(MOVED), 'delivered'),
  previous_status: is(oneOf(['queued', 'processing', ...MOVED]), 'sent'),
  occurred_at: is(
    time,
    '2026-11-21T08:00:02.000Z',
    'When the message came to this state; the platform reports whole seconds.',
  ),
  attempt: is({ type: 'integer', minimum: 0 }, 1, 'Number of the send attempt.'),
  failure_category: is(orNull(FAILURE_CATEGORY), null),
  error: is(
    nullable(object({ code: is(text, null), message: is(text, null) }).schema),
    null,
    'Why it failed, in the words of the platform.',
  ),
  pricing: is(nullable(PRICING.schema), PRICING.example, 'What WhatsApp charges; null until it says so.'),
  sequence: sequence(3),
});

/** Fields beside the content, where WhatsApp sends them. */
const INBOUND_CONTEXT = {
  context: {
    type: 'object',
    properties: {
      forwarded: flag,
      frequently_forwarded: flag,
      referred_product: free('The product that the customer asks about.'),
      quoted_platform_id: { ...text, description: 'What it answers, where that is none of the messages known here.' },
    },
  },
  referral: free('The advertisement or post that led the customer here, as WhatsApp reports it.'),
  identity: free("State of the customer's keys, where the number checks for changes."),
  username: { ...text, description: "The customer's WhatsApp user name." },
  group_id: { ...text, description: 'Said in a group: it belongs to no conversation and opens no window.' },
};

const OWNERS = ['you', 'other', 'unknown'];
const OWNER_ROLE =
  'Of another app: customer_service, marketing, utility, ctwa, ai_agent, escalation, or a later one; null where it is not known.';

const CONTACT = object({
  phone: is(nullable(text), CONTACT_PHONE),
  user_id: is(nullable(text), null),
  name: is(nullable(text), 'Ana Lima'),
});

const RECEIVED = object(
  {
    message: object({
      id: is(uuid, EXAMPLE_MESSAGE_ID),
      connection_id: is(uuid, EXAMPLE_CONNECTION_ID),
      conversation_id: is(nullable(uuid), EXAMPLE_CONVERSATION_ID),
      direction: always('inbound'),
      from: is(nullable(text), CONTACT_PHONE, "The customer's number; null where only a user id is known."),
      to: is(nullable(text), OWN_PHONE, "The workspace's own number."),
      type: is(text, 'text'),
      body: is(nullable(text), 'Is my table ready?'),
      status: always('received'),
      failure_category: is(nullable(text), null),
      client_message_id: is(nullable(text), null),
      tag: is(nullable(text), null),
      metadata: is(OWN_STRINGS, null),
      meta_message_id: is(nullable(text), META_ID),
      reply_to_message_id: is(nullable(uuid), null),
      media_object_id: is(nullable(uuid), null, 'A file that came with it: GET /media/{id}/url.'),
      created_at: is(time, TIME, 'When it came to Herald.'),
      sent_at: is(nullable(time), SECOND, 'When the customer wrote it, in whole seconds.'),
      standby: is(flag, false, 'Written to another app, which owned the conversation: do not answer it.'),
    }),
    owner: is(oneOf(OWNERS), 'you', 'Who may send ordinary messages in the conversation.'),
    owner_role: is(nullable(text), null, OWNER_ROLE),
    contact: CONTACT,
    content: is(RECEIVED_CONTENT, { body: 'Is my table ready?' }),
    sequence: sequence(1),
  },
  INBOUND_CONTEXT,
);

const CONTROL = object({
  conversation_id: is(uuid, EXAMPLE_CONVERSATION_ID),
  connection_id: is(uuid, EXAMPLE_CONNECTION_ID),
  contact: CONTACT,
  owner: is(oneOf(OWNERS), 'other', 'Who may send ordinary messages from now on.'),
  owner_role: is(nullable(text), 'ai_agent', OWNER_ROLE),
  previous_owner: is(oneOf(OWNERS), 'you'),
  previous_owner_role: is(nullable(text), null),
  note: is(nullable(text), null, 'What the former owner wrote to the new one.'),
  context: is(
    { ...nullable({ type: 'object' }), additionalProperties: true },
    null,
    'A summary of the conversation, or its last messages, in the terms of WhatsApp.',
  ),
  occurred_at: is(
    time,
    SECOND,
    'By WhatsApp, in whole seconds: of several events of a conversation the latest counts.',
  ),
});

const TEMPLATE = object({
  template_id: is(uuid, '01936f71-5e6f-7b52-9c3d-7d8e9f0a1b2c'),
  name: is(text, 'order_confirmation'),
  language: is(text, 'en_US'),
  category: is(oneOf(['UTILITY', 'MARKETING', 'AUTHENTICATION']), 'UTILITY'),
  connection_ids: is(
    { type: 'array', items: uuid },
    [EXAMPLE_CONNECTION_ID],
    'The numbers of its account, all of which may send it.',
  ),
  status: is(
    oneOf(['pending', 'approved', 'rejected', 'paused', 'disabled', 'in_appeal', 'pending_deletion', 'deleted']),
    'approved',
  ),
  previous_status: is(nullable(text), 'pending', 'Null where the template is new here.'),
  platform_status: is(nullable(text), 'APPROVED', "The platform's own word; null where it is deleted."),
  rejected_reason: is(nullable(text), null, "The platform's word, such as INVALID_FORMAT."),
  occurred_at: is(time, SECOND, 'By the platform, in whole seconds, or when Herald learnt of it.'),
});

const CATEGORIES = ['UTILITY', 'MARKETING', 'AUTHENTICATION'];

const TEMPLATE_CATEGORY = object({
  template_id: is(uuid, '01936f71-5e6f-7b52-9c3d-7d8e9f0a1b2c'),
  name: is(text, 'order_confirmation'),
  language: is(text, 'en_US'),
  connection_ids: is(
    { type: 'array', items: uuid },
    [EXAMPLE_CONNECTION_ID],
    'The numbers of its account, all of which may send it.',
  ),
  category: is(oneOf(CATEGORIES), 'UTILITY', 'The present one.'),
  previous_category: is(nullable(text), null, 'Null where the category has not changed yet.'),
  announced_category: is(nullable(text), 'MARKETING', 'What it is going to be; null where nothing is announced.'),
  announced_for: is(nullable(time), '2026-11-22T08:00:00.000Z', 'When it changes, where the platform said so.'),
  occurred_at: is(time, SECOND, 'By the platform, in whole seconds, or when Herald learnt of it.'),
});

const media = (status: string, sizeBytes: number | null): Described =>
  object({
    id: is(uuid, EXAMPLE_MEDIA_ID, '`media_object_id` of the message: GET /media/{id}/url.'),
    connection_id: is(uuid, EXAMPLE_CONNECTION_ID),
    type: is(oneOf(['image', 'video', 'audio', 'document', 'sticker']), 'image'),
    mime_type: is(text, 'image/jpeg'),
    size_bytes: is(nullable({ type: 'integer' }), sizeBytes),
    sha256: is(nullable(text), '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
    filename: is(nullable(text), null),
    voice: is(flag, false),
    direction: always('inbound'),
    status: always(status),
    created_at: is(time, TIME),
  });

const ATTRIBUTES = {
  phone_number: is(text, OWN_PHONE),
  verified_name: is(nullable(text), 'Lighthouse Coffee'),
  status: is(oneOf(['connected', 'pending', 'disconnected', 'restricted']), 'connected'),
  status_reason: is(
    nullable(
      oneOf(['token_refused', 'disconnected_by_operator', 'platform', 'account_removed', 'payment_missing', null]),
    ),
    null,
  ),
  quality_rating: is(nullable(text), 'YELLOW'),
  messaging_limit: is(nullable(text), 'TIER_2K'),
  throughput_per_second: is({ type: 'integer' }, 80),
  marketing_route: is(oneOf(['auto', 'messages']), 'auto'),
  marketing_status: is(nullable(text), 'ONBOARDED'),
  service_charged_since: is(nullable(time), null, 'When the free service messages of a month were used up last.'),
  timezone: is(nullable(text), 'Europe/Berlin'),
};

const CONNECTION = object({
  connection: object(
    { id: is(uuid, EXAMPLE_CONNECTION_ID), ...ATTRIBUTES, created_at: is(time, '2026-11-20T08:00:00.000Z') },
    {},
    'As GET /connections shows it.',
  ),
  previous_attributes: is(
    { type: 'object', minProperties: 1, properties: schemasOf(ATTRIBUTES) },
    { quality_rating: 'GREEN' },
    'What changed, with the values from before.',
  ),
});

const OPT_OUT = object({
  opt_out_id: is(uuid, EXAMPLE_OPT_OUT_ID, 'Of GET /opt-outs.'),
  connection_id: is(
    nullable(uuid),
    EXAMPLE_CONNECTION_ID,
    'The number that it is about; null: all numbers of the workspace, as with its own entries.',
  ),
  contact: object({ phone: is(nullable(text), CONTACT_PHONE), user_id: is(nullable(text), null) }),
  source: is(oneOf(['own', 'platform']), 'platform', 'Recorded by the workspace, or reported by WhatsApp.'),
  category: is(oneOf(['marketing', 'all']), 'marketing', 'Marketing templates, or every message.'),
  opted_out: is(flag, true, 'False: the entry has ended; another one may still hold.'),
  reason: is(nullable(text), 'User requested to stop marketing messages'),
  occurred_at: is(time, SECOND, 'By the platform, in whole seconds, or when Herald recorded it.'),
});

interface EventDocs {
  summary: string;
  description: string;
  data: Described & { example: Record<string, unknown> };
  /** Name of the example. */
  as: string;
  further?: Record<string, unknown>;
}

const EVENTS: Readonly<Record<EventType, EventDocs>> = {
  'message.received': {
    summary: 'A customer wrote',
    description: 'Sent for each inbound message, once it stands in the journal.',
    data: RECEIVED,
    as: 'text',
  },
  'message.status.updated': {
    summary: 'A sent message came to another state',
    description: 'Sent for accepted, sent, delivered, read, failed and outcome_unknown.',
    data: STATUS,
    as: 'delivered',
    further: {
      failed: {
        ...STATUS.example,
        status: 'failed',
        failure_category: 'recipient_unreachable',
        error: { code: '131026', message: 'Message undeliverable' },
      },
    },
  },
  'message.standby.received': {
    summary: 'A customer wrote to another app',
    description:
      'Sent instead of `message.received` where another app owns the conversation and WhatsApp shows its messages to you as an observer. An answer of yours would fail.',
    data: {
      ...RECEIVED,
      example: {
        ...RECEIVED.example,
        message: { ...(RECEIVED.example.message as object), standby: true },
        owner: 'other',
        owner_role: 'ai_agent',
      },
    },
    as: 'text',
  },
  'conversation.control.updated': {
    summary: 'A conversation has another owner',
    description:
      'Sent on each change of who may send ordinary messages: control was passed, taken or released, or a message shows it. The first message of a contact to you makes none; `message.received` says `owner`.',
    data: CONTROL,
    as: 'passed',
    further: {
      received: {
        ...CONTROL.example,
        owner: 'you',
        owner_role: null,
        previous_owner: 'other',
        previous_owner_role: 'ai_agent',
        note: 'Wants to speak to a person.',
        context: { type: 'summary', summary: { text: 'Asked for a refund of order 4711.' } },
      },
    },
  },
  'template.status.updated': {
    summary: 'A template came to another status',
    description:
      'Sent for each language of a template whose status becomes another one: by the review of the platform, by a change of yours, or because it is new or deleted. Herald reports what it learns from notifications at once, and what it learns from its hourly look at the list then.',
    data: TEMPLATE,
    as: 'approved',
  },
  'template.category.updated': {
    summary: 'A template came to another category, or will',
    description:
      'Sent for each language of a template when the platform announces another category, some 24 hours ahead, and when the category has changed. It decides what a message costs, and whether a person may have opted out of it.',
    data: TEMPLATE_CATEGORY,
    as: 'announced',
    further: {
      changed: {
        ...TEMPLATE_CATEGORY.example,
        category: 'MARKETING',
        previous_category: 'UTILITY',
        announced_category: null,
        announced_for: null,
      },
    },
  },
  'media.ready': {
    summary: "A customer's file can be downloaded",
    description: 'Sent for each file that came with a message, once Herald has fetched it from WhatsApp.',
    data: object({ media: media('stored', 48_213) }),
    as: 'ready',
  },
  'media.failed': {
    summary: "A customer's file will not come",
    description: 'Sent once Herald has given up fetching it; until then it tries for seven days.',
    data: object({
      media: media('failed', null),
      reason: is(
        nullable(text),
        'The file was not fetched before the platform deleted it.',
        'Why it will not come, in words.',
      ),
    }),
    as: 'failed',
  },
  'connection.updated': {
    summary: 'A number changed',
    description: 'Sent where anything changes of what GET /connections shows of it: status, quality, limits, name.',
    data: CONNECTION,
    as: 'quality',
  },
  'contact.opt_out.updated': {
    summary: 'A person opted out, or in again',
    description:
      'Sent where an opt-out begins or ends: by what the person chose in WhatsApp, by a message that WhatsApp refused for it, by a keyword, and by PUT and DELETE /opt-outs.',
    data: OPT_OUT,
    as: 'opted_out',
    further: { opted_in: { ...OPT_OUT.example, opted_out: false, reason: null } },
  },
  'workspace.limit.reached': {
    summary: 'A limit of the workspace is nearly, or wholly, reached',
    description:
      'Sent once in each period at 80 and once at 100 per cent; beyond it POST /messages answers 429, or 402 where it is about money.',
    data: LIMIT,
    as: 'eighty_percent',
    further: { reached: { ...LIMIT.example, percent: 100, used: 1_000, remaining: 0 } },
  },
  [TEST_EVENT]: {
    summary: 'A test',
    description: 'Sent by POST /webhook/test, whatever kinds the webhook has chosen.',
    data: object({ note: is(text, 'This is a test event. It reports no change.') }),
    as: 'test',
  },
};

/** Data of an event of each kind, for tests that a caller asks for. */
export function exampleOf(type: EventType): Record<string, unknown> {
  return EVENTS[type].data.example;
}

const HEADERS = [
  ['webhook-id', 'The id of the event, the same for all its attempts.', EXAMPLE_EVENT_ID],
  ['webhook-timestamp', 'When this attempt was made, in seconds since 1970.', '1795248001'],
  [
    'webhook-signature',
    '`v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
].map(([name = '', description, example]) =>
  namedParameter({ name, in: 'header', required: true, description, schema: text, example }),
);

const VERIFY =
  'Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.';

const TEST_MARK = {
  const: true,
  description: 'Only where POST /webhook/test made it: an example, about nothing that exists.',
};

function envelopeOf(type: EventType) {
  const { schema, example } = EVENTS[type].data;
  const marked = { ...schema, properties: { ...(schema.properties as Schema), test: TEST_MARK } };
  return object({
    id: is(uuid, EXAMPLE_EVENT_ID, 'The same for all attempts: a receiver that knows it has handled the event.'),
    type: always(type),
    created_at: is(time, TIME, 'When the reported change happened.'),
    organization_id: is(uuid, ORGANIZATION_ID),
    cursor: is(
      text,
      EXAMPLE_CURSOR,
      'Its place among all events: pass it to GET /events as `after` to read on behind it.',
    ),
    data: is(type === TEST_EVENT ? schema : marked, example),
  });
}

/** Of `message.received`: MessageReceivedEvent. */
function schemaNameOf(type: EventType): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}

/** As a webhook delivery brings it. */
export const EXAMPLE_EVENT = envelopeOf('message.status.updated').example;

/** The schemas of all kinds. */
export const EVENT_SCHEMAS: { $ref: string }[] = [];

for (const type of EVENT_TYPES) {
  const { summary, description, data, as, further } = EVENTS[type];
  const envelope = envelopeOf(type);
  const examples = Object.entries({ [as]: data.example, ...further });
  const schema = namedSchema(schemaNameOf(type), envelope.schema);
  EVENT_SCHEMAS.push(schema);
  documentedWebhooks[type] = {
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
              examples.map(([key, value]) => [key, { value: { ...envelope.example, data: value } }]),
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
  };
}
