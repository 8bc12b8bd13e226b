import { namedSchema } from '../../../infrastructure/http/api-description.js';
import { MESSAGE_VARIANTS } from '../accept/variants/message-variants.js';

/** Every form of a message to send. */
export const SEND_MESSAGE = namedSchema('SendMessage', {
  description: 'One of the forms below; `type` and, of interactive messages, `interactive.type` say which.',
  anyOf: MESSAGE_VARIANTS.map((variant) => namedSchema(variant.name, variant.shape.schema)),
});
