import { object, string, uuid, type Shape } from '../../../common/shape.js';

/** What a valid body means: how it is stored, sent and shown. */
export interface NormalizedContent {
  type: string;
  content: Record<string, unknown>;
  /** One line for lists of messages. */
  body: string | null;
}

/** One form of POST /messages. */
export interface MessageVariant {
  /** Name of its schema in the API description. */
  name: string;
  /** The value of `type` that selects it; null: the variant has no `type`. */
  type: string | null;
  shape: Shape;
  normalize(body: Record<string, unknown>): NormalizedContent;
}

const COMMON_REQUIRED = {
  connection_id: uuid({ description: 'The sending number, from GET /connections.' }),
  to: string({
    pattern: /^\+?[0-9]{8,16}$/,
    meaning: "a phone number of 8 to 16 digits with the country code, with or without '+'",
    description: 'Recipient: 8 to 16 digits with the country code; a leading + may stand before them.',
    example: '15550100001',
  }),
};

const COMMON_OPTIONAL = {
  client_message_id: string({
    max: 200,
    description: 'Your own id; returned as it is, and a filter of GET /messages.',
  }),
  reply_to_message_id: uuid({ description: 'A message of the same conversation that this one answers.' }),
  media_object_id: uuid({
    description: 'A file of the workspace: the one to send, the one in the header of a template, or one to refer to.',
  }),
};

/** The shape of a whole body: a variant's own fields beside those that every variant takes. */
export function bodyShape(required: Record<string, Shape>, optional: Record<string, Shape> = {}): Shape {
  // A field that the variant requires is not optional as well.
  const common = Object.fromEntries(Object.entries(COMMON_OPTIONAL).filter(([key]) => !(key in required)));
  return object({
    required: { ...COMMON_REQUIRED, ...required },
    optional: { ...common, ...optional },
  });
}
