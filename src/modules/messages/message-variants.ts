import { boolean, object, oneOf, string, uuid, type Shape } from '../../common/shape.js';

/** Fields that every variant takes beside its own. */
const COMMON_REQUIRED = {
  connection_id: uuid({ description: 'The sending number, from GET /connections.' }),
  to: string({
    pattern: /^\+?[0-9]{8,16}$/,
    meaning: "a phone number of 8 to 16 digits with the country code, with or without '+'",
    description: 'Recipient: 8 to 16 digits with the country code; a leading + may stand before them.',
    example: '+15550100001',
  }),
};
const COMMON_OPTIONAL = {
  client_message_id: string({ max: 200, description: 'Your own id; returned as it is and usable as a filter.' }),
  reply_to_message_id: uuid({ description: 'A message of the same conversation that this one answers.' }),
  media_object_id: uuid({ description: 'A media file of the workspace.' }),
};

/** One form of POST /messages: which `type` selects it, and its shape. */
export interface MessageVariant {
  name: string;
  /** Values of `type`; null: the variant has no `type`. */
  types: readonly string[] | null;
  shape: Shape;
  /** What is stored and sent, made from a body that passed the shape. */
  normalize(body: Record<string, unknown>): { type: string; content: Record<string, unknown>; body: string | null };
}

function variantShape(required: Record<string, Shape>, optional: Record<string, Shape> = {}): Shape {
  return object({
    required: { ...COMMON_REQUIRED, ...required },
    optional: { ...COMMON_OPTIONAL, ...optional },
  });
}

const messageText = string({ min: 1, max: 4096, description: 'The text.', example: 'Your table is ready.' });

function textOf(body: string, previewUrl: boolean) {
  return { type: 'text', content: { body, preview_url: previewUrl }, body };
}

/** Every variant that is taken; exactly one fits a valid body. */
export const MESSAGE_VARIANTS: readonly MessageVariant[] = [
  {
    name: 'text',
    types: ['text'],
    shape: variantShape({
      type: oneOf(['text']),
      text: object({
        required: { body: messageText },
        optional: { preview_url: boolean({ default: false, description: 'Show a preview of the first link.' }) },
      }),
    }),
    normalize: (body) => {
      const text = body.text as { body: string; preview_url?: boolean };
      return textOf(text.body, text.preview_url ?? false);
    },
  },
  {
    name: 'legacy text',
    types: null,
    shape: variantShape({ body: messageText }),
    normalize: (body) => textOf(body.body as string, false),
  },
];
