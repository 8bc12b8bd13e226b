import { defineErrors, error } from '../../common/define-errors.js';

export const conversationsErrors = defineErrors('conversations', {
  CONVERSATION_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such conversation in this workspace.',
    when: "The id names no conversation of this key's workspace, or its contact was erased.",
    fix: 'Take the id from GET /conversations, or from `conversation_id` of a message.',
  }),
  SERVICE_WINDOW_CLOSED: error<{ expiredAt: Date | null }>({
    kind: 'unprocessable',
    alsoKinds: ['conflict'],
    message: 'The 24-hour window with this contact is closed; send an approved template, or wait for their message.',
    when: 'The contact has not written to this number in the last 24 hours, and the message is no template.',
    fix: 'Send a template; the window opens when the contact writes.',
    extra: ({ expiredAt }) => ({ window_expired_at: expiredAt?.toISOString() ?? null }),
    sample: { expiredAt: new Date('2026-11-20T17:42:00.000Z') },
  }),
});
