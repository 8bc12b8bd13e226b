import {
  documentedWebhooks,
  namedParameter,
  namedResponse,
  namedSchema,
} from '../../../infrastructure/http/api-description.js';
import { EVENT_TYPES, TEST_EVENT, type EventType } from '../webhook.types.js';
import { always, type Described, is, nullable, object, type Schema, text, time, uuid } from './described.js';
import {
  BROUGHT,
  CONNECTION,
  CONTROL,
  media,
  OPT_OUT,
  ORGANIZATION_ID,
  RECEIVED,
  SENT_ELSEWHERE,
  STATUS,
  TEMPLATE,
  TEMPLATE_CATEGORY,
  TIME,
  UPDATED,
} from './event-data.docs.js';
import { LIMIT } from './limit.docs.js';
import { callOf, EVENTS_LOST, PAYMENT, PLATFORM_ERROR } from './news.docs.js';
import { EXAMPLE_EVENT_ID } from './webhook.dto.js';

/** Behind an event. */
export const EXAMPLE_CURSOR = 'AX2Gw5cKHd2jAAAAAAAAA-gBk29wHD16VZ4hCxwtPk9a';

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
  'message.sent_elsewhere': {
    summary: 'The business wrote in the WhatsApp Business app',
    description:
      'Sent for each message that the business sends in the app, or on a device linked to it, from a number that is in the app and here. No `message.status.updated` follows for it; GET /messages/{id} has its status.',
    data: SENT_ELSEWHERE,
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
  'conversation.updated': {
    summary: 'A conversation was closed, opened or assigned',
    description:
      'Sent where `closed`, `assignee` or `assignee_id` of a conversation changes: by PATCH /conversations/{id}, or because the customer of a closed one wrote.',
    data: UPDATED,
    as: 'closed',
    further: {
      reopened: { ...UPDATED.example, closed: false, previous_closed: true, cause: 'message' },
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
    data: object({ media: media('stored', 48_213), ...BROUGHT }),
    as: 'ready',
  },
  'media.failed': {
    summary: "A customer's file will not come",
    description: 'Sent once Herald has given up fetching it; until then it tries for seven days.',
    data: object({
      media: media('failed', null),
      ...BROUGHT,
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
  'payment.updated': {
    summary: 'A payment came to another state',
    description: 'Sent for payments of orders that a message of yours has.',
    data: PAYMENT,
    as: 'captured',
  },
  'call.missed': {
    summary: 'A call of a customer was not answered',
    description: 'Sent when a call of a customer ends that was not answered.',
    data: callOf('failed', null),
    as: 'missed',
  },
  'call.ended': {
    summary: 'A call ended',
    description: 'Sent for calls that were answered, and for those of the business.',
    data: callOf('completed', 120),
    as: 'answered',
  },
  'platform.error': {
    summary: 'WhatsApp reported trouble that belongs to no message',
    description: 'Sent as it comes; WhatsApp may repeat it.',
    data: PLATFORM_ERROR,
    as: 'limited',
  },
  'destination.events_lost': {
    summary: 'An event destination lost events',
    description:
      'Sent where events were not written to a destination before their time was over, or are too large for it; for each destination once an hour at the most.',
    data: EVENTS_LOST,
    as: 'lost',
  },
  [TEST_EVENT]: {
    summary: 'A test',
    description: 'Sent by POST /webhook/test, whatever kinds the webhook has chosen.',
    data: object({ note: is(text, 'This is a test event. It reports no change.') }),
    as: 'test',
  },
};

/** Data of an example event of each kind, for tests that a caller requests. */
export function exampleOf(type: EventType): Record<string, unknown> {
  return EVENTS[type].data.example;
}

const HEADERS = [
  ['webhook-id', 'The id of the event, the same for all its attempts.', EXAMPLE_EVENT_ID],
  ['webhook-timestamp', 'When this attempt was made, in seconds since 1970.', '1795248001'],
  [
    'webhook-signature',
    '`v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
].map(([name = '', description, example]) =>
  namedParameter({ name, in: 'header', required: true, description, schema: text, example }),
);

const ANSWERS = {
  '2XX': namedResponse('EventTaken', 'Taken. Answer within ten seconds; do the work afterwards.'),
  '410': namedResponse('EventsUnwanted', 'Send no more: the webhook is disabled at once.'),
  default: namedResponse('EventRefused', 'Anything else, redirects too: the event comes again by the schedule.'),
};

const TEST_MARK = {
  const: true,
  description: 'Only where POST /webhook/test or /webhook/verify made it: an example.',
};

function envelopeOf(type: EventType) {
  const { schema, example } = EVENTS[type].data;
  const marked = { ...schema, properties: { ...(schema.properties as Schema), test: TEST_MARK } };
  return object({
    id: is(uuid, EXAMPLE_EVENT_ID, 'The same for all attempts.'),
    type: always(type),
    created_at: is(time, TIME, 'When the reported change happened.'),
    organization_id: is(uuid, ORGANIZATION_ID),
    cursor: is(text, EXAMPLE_CURSOR, 'For `after` of GET /events.'),
    data: is(type === TEST_EVENT ? schema : marked, example),
  });
}

/** Of `message.received`: MessageReceivedEvent. */
function schemaNameOf(type: EventType): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}

/** As in a webhook delivery. */
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
      description,
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
      responses: ANSWERS,
    },
  };
}
