import { object, oneOf, string, uuid } from '../../../../common/shape.js';
import { bodyShape, type MessageVariant } from './variant.js';

/** An emoji on an earlier message of the conversation; an empty one takes the reaction back. */
export const reactionVariant: MessageVariant = {
  name: 'SendReaction',
  type: 'reaction',
  shape: bodyShape({
    type: oneOf(['reaction']),
    reply_to_message_id: uuid({ description: 'The message to react to.' }),
    reaction: object({
      required: { emoji: string({ description: 'One emoji; empty takes the reaction back.', example: '👍' }) },
    }),
  }),
  normalize: (body) => {
    const { emoji } = body.reaction as { emoji: string };
    return { type: 'reaction', content: { emoji }, body: emoji };
  },
};
