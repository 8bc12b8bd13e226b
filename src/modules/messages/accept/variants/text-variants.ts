import { boolean, object, oneOf, string } from '../../../../common/shape.js';
import { bodyShape, type MessageVariant, type NormalizedContent } from './variant.js';

const messageText = string({ min: 1, max: 4096, description: 'The text.', example: 'Your table is ready.' });

export const textVariant: MessageVariant = {
  name: 'SendText',
  type: 'text',
  shape: bodyShape({
    type: oneOf(['text']),
    text: object({
      required: { body: messageText },
      optional: { preview_url: boolean({ default: false, description: 'Show a preview of the first link.' }) },
    }),
  }),
  normalize: (body) => {
    const text = body.text as { body: string; preview_url?: boolean };
    return textContent(text.body, text.preview_url ?? false);
  },
};

/** The older form: a `body` and no `type`. It means the same as a text without a preview. */
export const legacyTextVariant: MessageVariant = {
  name: 'SendLegacyText',
  type: null,
  shape: bodyShape({ body: messageText }),
  normalize: (body) => textContent(body.body as string, false),
};

function textContent(body: string, previewUrl: boolean): NormalizedContent {
  return { type: 'text', content: { body, preview_url: previewUrl }, body };
}
