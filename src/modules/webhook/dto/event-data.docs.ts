import {
  EXAMPLE_CONNECTION_ID,
  EXAMPLE_CONVERSATION_ID,
  EXAMPLE_MEDIA_ID,
  EXAMPLE_MESSAGE_ID,
  EXAMPLE_OPT_OUT_ID,
} from '../../../common/example-ids.js';
import { FAILURE_CATEGORY, nullable as orNull } from '../../../infrastructure/http/open-words.js';
import { RECEIVED_CONTENT } from '../../../infrastructure/http/received-content.js';
import {
  always,
  type Described,
  flag,
  free,
  is,
  nullable,
  object,
  oneOf,
  schemasOf,
  text,
  time,
  uuid,
} from './described.js';

export const ORGANIZATION_ID = '01936f6c-7d3e-7a44-8b21-9c8d7e6f5a4b';
const CONTACT_PHONE = '15550100009';
const OWN_PHONE = '15550100001';
const META_ID = 'wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA';
export const TIME = '2026-11-21T08:00:00.125Z';
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

export const STATUS = object({
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

/** Of an edit or a revoke, and of a message that one of them has overtaken. */
const CHANGES = {
  edits_message_id: {
    ...nullable(uuid),
    description:
      'Only of type `edit`: what it corrects. Null where that is not known; `content.original_message_id` is its `meta_message_id`.',
  },
  revokes_message_id: {
    ...nullable(uuid),
    description: 'Only of type `revoke`: what it withdraws, as `edits_message_id`.',
  },
  edited_at: { ...nullable(time), description: 'Only where an edit or a revoke came before the message.' },
  revoked_at: nullable(time),
  current: {
    ...nullable({ type: 'object' }),
    required: ['body', 'content'],
    properties: { body: nullable(text), content: RECEIVED_CONTENT },
    description: 'What it says by now; null where it was revoked.',
  },
};

/** A message as an event has it. */
const messageWith = (own: Record<string, Described>): Described =>
  object(
    {
      id: is(uuid, EXAMPLE_MESSAGE_ID),
      connection_id: is(uuid, EXAMPLE_CONNECTION_ID),
      conversation_id: is(nullable(uuid), EXAMPLE_CONVERSATION_ID),
      type: is(text, 'text'),
      failure_category: is(nullable(text), null),
      client_message_id: is(nullable(text), null),
      tag: is(nullable(text), null),
      metadata: is(OWN_STRINGS, null),
      meta_message_id: is(nullable(text), META_ID),
      reply_to_message_id: is(nullable(uuid), null),
      media_object_id: is(nullable(uuid), null, 'A file that came with it: GET /media/{id}/url.'),
      ...own,
    },
    CHANGES,
  );

const IN_CONVERSATION = is(
  nullable(uuid),
  EXAMPLE_CONVERSATION_ID,
  'As in `message`; null of what was said in a group.',
);

const OWNER = {
  owner: is(oneOf(OWNERS), 'you', 'Who may send ordinary messages in the conversation.'),
  owner_role: is(nullable(text), null, OWNER_ROLE),
};

export const RECEIVED = object(
  {
    conversation_id: IN_CONVERSATION,
    message: messageWith({
      direction: always('inbound'),
      source: always('customer'),
      from: is(nullable(text), CONTACT_PHONE, "The customer's number; null where only a user id is known."),
      to: is(nullable(text), OWN_PHONE, "The workspace's own number."),
      body: is(nullable(text), 'Is my table ready?'),
      status: always('received'),
      created_at: is(time, TIME, 'When it came to Herald.'),
      sent_at: is(nullable(time), SECOND, 'When the customer wrote it, in whole seconds.'),
      standby: is(flag, false, 'Written to another app, which owned the conversation: do not answer it.'),
    }),
    ...OWNER,
    contact: CONTACT,
    content: is(RECEIVED_CONTENT, { body: 'Is my table ready?' }),
    sequence: sequence(1),
  },
  INBOUND_CONTEXT,
);

export const SENT_ELSEWHERE = object({
  conversation_id: IN_CONVERSATION,
  message: messageWith({
    direction: always('outbound'),
    source: always('app'),
    from: is(nullable(text), OWN_PHONE, "The workspace's own number."),
    to: is(nullable(text), CONTACT_PHONE, "The customer's number; null where only a user id is known."),
    type: is(text, 'text', 'As of received messages; also `edit` and `revoke`, about an earlier one.'),
    body: is(nullable(text), 'Your table is ready.'),
    status: always('sent'),
    created_at: is(time, TIME, 'When WhatsApp told Herald of it.'),
    sent_at: is(nullable(time), SECOND, 'When it was sent, in whole seconds.'),
    standby: is(flag, false),
  }),
  ...OWNER,
  contact: CONTACT,
  content: is(RECEIVED_CONTENT, { body: 'Your table is ready.' }),
  sequence: sequence(1),
});

export const CONTROL = object({
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

export const UPDATED = object(
  {
    conversation_id: is(uuid, EXAMPLE_CONVERSATION_ID),
    connection_id: is(uuid, EXAMPLE_CONNECTION_ID),
    contact: CONTACT,
    closed: is(flag, true),
    assignee: is(nullable(text), 'ana@example.com'),
    previous_closed: is(flag, false),
    previous_assignee: is(nullable(text), 'ana@example.com'),
    cause: is(oneOf(['request', 'message']), 'request', 'A request, or a message of the customer.'),
    occurred_at: is(time, TIME, 'When it changed here.'),
  },
  {
    assignee_id: { ...nullable(uuid), description: 'The person, where one was chosen by `assignee_id`.' },
    previous_assignee_id: nullable(uuid),
  },
);

export const TEMPLATE = object({
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

export const TEMPLATE_CATEGORY = object({
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

/** Of a file that came with a message. */
export const BROUGHT = {
  message_id: is(nullable(uuid), EXAMPLE_MESSAGE_ID, 'The message that brought it; null where that is not known.'),
  conversation_id: is(nullable(uuid), EXAMPLE_CONVERSATION_ID, 'Of that message.'),
};

export const media = (status: string, sizeBytes: number | null): Described =>
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

export const CONNECTION = object({
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

export const OPT_OUT = object({
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
