import { namedSchema } from './api-description.js';

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const number = { type: 'number' };
const flag = { type: 'boolean' };
const free = { type: 'object', additionalProperties: true };
const list = (items: Schema): Schema => ({ type: 'array', items });

/** Further fields are allowed, since WhatsApp adds some without notice. */
const open = (required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
  additionalProperties: true,
});

const choice = open({ id: text, title: text }, { description: text });

const file = open(
  { id: text },
  { mime_type: text, sha256: text, sha256_hex: text, caption: text, filename: text, voice: flag, animated: flag },
);

const FORMS: readonly (readonly [types: string, name: string, schema: Schema])[] = [
  ['text', 'ReceivedText', open({ body: text })],
  ['image, video, audio, document, sticker', 'ReceivedFile', file],
  [
    'location',
    'ReceivedLocation',
    open({ latitude: number, longitude: number }, { name: text, address: text, url: text }),
  ],
  ['contacts', 'ReceivedContacts', open({ contacts: list(open({}, { name: open({}, { formatted_name: text }) })) })],
  ['button', 'ReceivedButton', open({ text }, { payload: text })],
  [
    'interactive',
    'ReceivedInteractive',
    open(
      { type: { ...text, examples: ['button_reply', 'list_reply', 'nfm_reply'] } },
      {
        button_reply: choice,
        list_reply: choice,
        nfm_reply: open({ response_json: text }, { name: text, body: text }),
      },
    ),
  ],
  ['reaction', 'ReceivedReaction', open({ message_id: text }, { emoji: text })],
  [
    'order',
    'ReceivedOrder',
    open(
      {
        product_items: list(
          open({ product_retailer_id: text }, { quantity: number, item_price: number, currency: text }),
        ),
      },
      { catalog_id: text, text },
    ),
  ],
  ['system', 'ReceivedSystem', open({ body: text }, { type: text, wa_id: text, user_id: text })],
  [
    'edit',
    'ReceivedEdit',
    open({ original_message_id: text }, { message: { ...free, description: 'What it says now, with its `type`.' } }),
  ],
  ['revoke', 'ReceivedRevoke', open({ original_message_id: text })],
  [
    'unsupported',
    'ReceivedUnsupported',
    open({ errors: list(open({}, { code: number, title: text, message: text })) }),
  ],
];

const LAST = namedSchema('ReceivedOther', {
  type: 'object',
  additionalProperties: true,
  description: 'What has no form of its own, and kinds that WhatsApp adds later.',
});

/**
 * `content` of a message, by the `type` beside it. The last form accepts everything, so a new kind breaks no client.
 */
export const RECEIVED_CONTENT = namedSchema('ReceivedContent', {
  description:
    'By the `type` of the message; of a sent one the object that was sent. Later versions may have more forms.',
  anyOf: [
    ...FORMS.map(([types, name, schema]) =>
      namedSchema(name, { ...schema, description: `\`content\` of \`type\`: ${types}.` }),
    ),
    LAST,
  ],
});
