import { defineErrors, error } from '../../common/define-errors.js';

export const tagsErrors = defineErrors('tags', {
  TAG_NOT_FOUND: error({
    kind: 'not_found',
    message: 'No message of this workspace has this tag.',
    when: "No message of this key's workspace was accepted with the tag.",
    fix: 'Take the `tag` with which the messages were sent, from GET /messages for example.',
  }),
});
