import { defineErrors, error } from '../../common/define-errors.js';

export const optOutsErrors = defineErrors('opt-outs', {
  OPT_OUT_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such opt-out in this workspace.',
    when: "The id names no opt-out of this key's workspace, it was removed, or its contact was erased.",
    fix: 'Take the id from GET /opt-outs.',
  }),
  OPT_OUT_KEYWORDS_INVALID: error<{ reason: string }>({
    kind: 'unprocessable',
    message: ({ reason }) => reason,
    when: 'Words by which customers opt out or in cannot be set: the language is none, a word is empty or too long, or means both.',
    fix: 'Do what `message` says; nothing was changed.',
    sample: { reason: 'stop cannot opt out and in' },
  }),
  OPT_OUT_NOT_YOURS: error({
    kind: 'conflict',
    message: 'WhatsApp recorded this opt-out; only the person can take it back, in WhatsApp.',
    when: 'An opt-out with `source: platform` was to be removed.',
    fix: 'Nothing can remove it for the person; send no marketing templates until WhatsApp reports that they opted in again.',
  }),
});
