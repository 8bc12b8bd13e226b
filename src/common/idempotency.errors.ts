import { defineErrors, error } from './define-errors.js';

const UUID_FORM = 'a UUID, such as 0b7f5a0e-5c1d-4f39-9d8e-2a4c6b8d0e1f';

/** Of every route that takes an Idempotency-Key. */
export const idempotencyErrors = defineErrors('idempotency', {
  IDEMPOTENCY_KEY_REQUIRED: error({
    kind: 'invalid_request',
    message: 'Send an Idempotency-Key header with a new UUID for each logical send.',
    when: 'The header Idempotency-Key is missing.',
    fix: 'Make a UUID for each message or code that you mean to send, and repeat it when you repeat the request.',
  }),
  IDEMPOTENCY_KEY_INVALID: error<{ form: string } | undefined>({
    kind: 'invalid_request',
    message: (args) => `The Idempotency-Key must be ${args?.form ?? UUID_FORM}.`,
    when: 'The header Idempotency-Key is not of the form that the endpoint takes.',
    fix: 'Use a UUID for messages; for one-time codes 8 to 128 visible ASCII characters, of which a UUID is one choice.',
  }),
  IDEMPOTENCY_KEY_REUSED: error({
    kind: 'conflict',
    message: 'This Idempotency-Key already stands for another request; use a new key for a new message.',
    when: 'The key was used before with other parameters.',
    fix: 'Make a new key for every new message or code; repeat a key only with the very same request.',
  }),
});
