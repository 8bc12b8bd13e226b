import { defineErrors, error } from '../../common/define-errors.js';

export const tagsErrors = defineErrors('tags', {
  TAG_NOT_FOUND: error({
    kind: 'not_found',
    message: 'No message of this workspace has this tag.',
    when: "No message of this key's workspace was accepted with the tag, and no PUT /tags/{tag} made it.",
    fix: 'Take the `tag` with which the messages were sent, from GET /tags for example.',
  }),
  TAG_LIMIT_REACHED: error<{ limit: number }>({
    kind: 'conflict',
    message: ({ limit }) =>
      `${limit} groups of messages of this workspace are paused, not started, or have a pace: resume or cancel some, or end their pace.`,
    when: 'PUT /tags/{tag} would pause, stage or pace one more tag than a workspace may have so.',
    fix: 'Resume or cancel tags that are not needed any more; `messages_per_minute: null` ends a pace.',
    sample: { limit: 1_000 },
  }),
  TAG_STARTED: error({
    kind: 'conflict',
    message: 'This group of messages has started: its start_at cannot be changed any more.',
    when: 'PUT /tags/{tag} has another `start_at` than the tag, which was started or has got its first message without one.',
    fix: 'Leave `start_at` out, or make another tag with PUT /tags/{tag} before its first message.',
  }),
});
