import { meaningOf } from '../../../infrastructure/whatsapp/graph-error.js';
import {
  EXAMPLE_CONNECTION_ID,
  EXAMPLE_CONVERSATION_ID,
  EXAMPLE_DESTINATION_ID,
  EXAMPLE_MESSAGE_ID,
} from '../../../common/example-ids.js';
import { type Described, free, is, nullable, object, oneOf, text, time, uuid } from './described.js';

const SECOND = '2026-11-21T08:00:00.000Z';
const integer = { type: 'integer' };
const OF = { connection_id: is(uuid, EXAMPLE_CONNECTION_ID), occurred_at: is(time, SECOND) };
const CONTACT = object({ phone: is(nullable(text), '15550100009'), user_id: is(nullable(text), null) });

export const PAYMENT = object({
  message_id: is(nullable(uuid), EXAMPLE_MESSAGE_ID, 'The message with the order; null: not known.'),
  conversation_id: is(nullable(uuid), EXAMPLE_CONVERSATION_ID),
  ...OF,
  contact: CONTACT,
  status: is(text, 'captured', '`new`, `pending`, `captured`, `canceled`, `failed`, or a later word.'),
  payment: is(free('As WhatsApp sends it.'), {
    reference_id: 'order-4711',
    amount: { value: 21_000, offset: 100 },
    currency: 'INR',
  }),
});

export const callOf = (status: string, seconds: number | null): Described & { example: Record<string, unknown> } =>
  object({
    ...OF,
    contact: CONTACT,
    call: object({
      id: is(nullable(text), 'wacid.HBgLMTU1NTAxMDAwMDk'),
      direction: is(oneOf(['inbound', 'outbound']), 'inbound'),
      status: is(nullable(text), status),
      started_at: is(nullable(time), seconds === null ? null : SECOND, 'Null: it was not answered.'),
      duration_seconds: is(nullable(integer), seconds),
    }),
  });

export const EVENTS_LOST = object({
  destination_id: is(uuid, EXAMPLE_DESTINATION_ID, 'Of GET /destinations.'),
  name: is(text, 'orders'),
  kind: is(text, 'nats', '`nats`, `rabbitmq` or `sqs`.'),
  events: is(integer, 12, 'How many, since it was told of the last time.'),
  lost: is(integer, 12, 'How many in all.'),
  occurred_at: is(time, SECOND, 'When the last of them was lost.'),
});

export const PLATFORM_ERROR = object({
  ...OF,
  code: is(nullable(integer), 130_429),
  summary: is(text, meaningOf('rate_limited', 130_429).summary, 'In our words.'),
});
