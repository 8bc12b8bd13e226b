import { defineErrors, error } from '../../common/define-errors.js';

export const graphErrors = defineErrors('graph', {
  GRAPH_OBJECT_NOT_FOUND: error<{ id: string }>({
    kind: 'not_found',
    message: ({ id }) =>
      `Object with ID '${id}' does not exist in this workspace, or does not support this operation; numbers and accounts have the ids that WhatsApp gave them, files those of Herald.`,
    when: "A path below /graph names no number, account or file of this key's workspace.",
    fix: 'Use the `phone_number_id` or `waba_id` of GET /connections, or the id that the upload of the file answered with.',
    sample: { id: '106540352242922' },
  }),
});
