import { array, object, oneOf, string } from '../../../../common/shape.js';
import { bodyShape, type MessageVariant } from './variant.js';

/** An approved template; the only form that needs no open window. */
export const templateVariant: MessageVariant = {
  name: 'SendTemplate',
  type: 'template',
  shape: bodyShape({
    type: oneOf(['template']),
    template: object({
      required: {
        name: string({ min: 1, max: 512, description: 'Name of an approved template.', example: 'order_update' }),
        language: object({
          required: { code: string({ min: 1, max: 20, description: 'Language of the template.', example: 'en_US' }) },
          open: true,
        }),
      },
      optional: {
        components: array(
          object({
            required: { type: string({ description: 'header, body, button, carousel ...' }) },
            open: true,
          }),
          { max: 20, description: "Values of the template's variables, as the platform takes them." },
        ),
      },
      open: true,
    }),
  }),
  normalize: (body) => ({ type: 'template', content: body.template as Record<string, unknown>, body: null }),
};
