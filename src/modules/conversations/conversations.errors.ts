import { defineErrors, error } from '../../common/define-errors.js';

export const conversationsErrors = defineErrors('conversations', {
  CONVERSATION_NOT_FOUND: error({
    kind: 'not_found',
    alsoKinds: ['unprocessable'],
    message: 'There is no such conversation in this workspace.',
    when: "The id names no conversation of this key's workspace, or its contact was erased.",
    fix: 'Take the id from GET /conversations, or from `conversation_id` of a message.',
  }),
  ASSIGNEE_NOT_MEMBER: error({
    kind: 'unprocessable',
    message: 'assignee_id names no member of this workspace; GET /members lists them.',
    when: 'A conversation was to be assigned to a person who is no member of the workspace, or to an unknown id.',
    fix: 'Take the id from GET /members, or give a text as `assignee`.',
  }),
  CONTROL_NOT_ALLOWED: error<{ code: number | null; subcode: number | null; message: string; traceId: string | null }>({
    kind: 'conflict',
    message: 'WhatsApp does not let this app change who owns the conversation.',
    when: 'This app does not own the conversation that it passes or releases, or takes one without being the escalation partner; `platform` has the words of WhatsApp.',
    fix: 'Pass and release only conversations whose `owner` is `you`; the business sets in WhatsApp Manager which app is the escalation partner.',
    extra: ({ code, subcode, message, traceId }) => ({ platform: { code, subcode, message, trace_id: traceId } }),
    sample: {
      code: 2494191,
      subcode: null,
      message: 'Only the escalation partner can take control.',
      traceId: 'A1b2C3',
    },
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
