import { defineErrors, error } from '../../common/define-errors.js';

export const messagesErrors = defineErrors('messages', {
  IDEMPOTENCY_KEY_REQUIRED: error({
    kind: 'invalid_request',
    message: 'Send an Idempotency-Key header with a new UUID for each logical send.',
    when: 'The header Idempotency-Key is missing.',
    fix: 'Make a UUID for each message that you mean to send, and repeat it when you repeat the request.',
  }),
  IDEMPOTENCY_KEY_INVALID: error({
    kind: 'invalid_request',
    message: 'The Idempotency-Key must be a UUID, such as 0b7f5a0e-5c1d-4f39-9d8e-2a4c6b8d0e1f.',
    when: 'The header Idempotency-Key is not of the form that the endpoint takes.',
    fix: 'Use a UUID for messages.',
  }),
  IDEMPOTENCY_KEY_REUSED: error({
    kind: 'conflict',
    message: 'This Idempotency-Key already stands for another request; use a new key for a new message.',
    when: 'The key was used before with other parameters.',
    fix: 'Make a new key for every new message; repeat a key only with the very same request.',
  }),
  MESSAGE_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such message in this workspace.',
    when: "The id names no message of this key's workspace.",
    fix: 'Take the id from the answer of POST /messages or from GET /messages.',
  }),
  MESSAGE_NOT_RETRYABLE: error<{ status: string }>({
    kind: 'conflict',
    message: ({ status }) => `A message that is ${status} cannot be retried; only failed ones can.`,
    when: 'A retry was asked for a message that has not failed.',
    fix: 'Wait for its outcome; retry it when it is failed.',
    extra: ({ status }) => ({ status }),
  }),
  OUTCOME_UNKNOWN_NOT_CONFIRMED: error<{ status: string }>({
    kind: 'conflict',
    message:
      'Nobody knows whether this message was sent; send confirm_outcome_unknown: true to send it again, maybe twice.',
    when: 'A retry was asked for a message whose outcome is unknown, without the confirmation.',
    fix: 'Wait for a notification to settle it, or confirm that a second copy is acceptable.',
    extra: ({ status }) => ({ status }),
  }),
  SERVICE_WINDOW_CLOSED: error<{ expiredAt: Date | null }>({
    kind: 'unprocessable',
    alsoKinds: ['conflict'],
    message: 'The 24-hour window with this contact is closed; send an approved template, or wait for their message.',
    when: 'The contact has not written to this number in the last 24 hours, and the message is no template.',
    fix: 'Send a template; the window opens when the contact writes.',
    extra: ({ expiredAt }) => ({ window_expired_at: expiredAt?.toISOString() ?? null }),
  }),
  REPLY_TARGET_NOT_FOUND: error({
    kind: 'unprocessable',
    message: 'reply_to_message_id names no message of this conversation that can be answered.',
    when: 'The message to answer is unknown, failed, or belongs to another conversation.',
    fix: 'Take the id of a message of the same conversation.',
  }),
  MEDIA_NOT_FOUND: error({
    kind: 'not_found',
    alsoKinds: ['unprocessable'],
    message: 'There is no such media file in this workspace.',
    when: "The id names no media file of this key's workspace.",
    fix: 'Upload the file with POST /media and use its id.',
  }),
  BACKLOG_LIMIT_REACHED: error<{ retryAfterSeconds: number }>({
    kind: 'rate_limited',
    message: 'Too many messages of this workspace are queued; wait until some have gone out.',
    when: 'The workspace has as many queued messages as it may have.',
    fix: 'Wait for `Retry-After` seconds; the limit is the setting BACKLOG_LIMIT.',
    extra: ({ retryAfterSeconds }) => ({ retry_after_seconds: retryAfterSeconds }),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
  }),
});
