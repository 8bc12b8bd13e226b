import { defineErrors, error } from '../../common/define-errors.js';
import { idempotencyErrors } from '../../common/idempotency.errors.js';

const ownErrors = defineErrors('otp', {
  OTP_PROJECT_REQUIRED: error({
    kind: 'forbidden',
    message: 'One-time codes need a key of an OTP project; this key belongs to none.',
    when: 'The key has a scope of OTP, but belongs to no OTP project.',
    fix: 'Make a key of the project: `herald key create --otp-project <id>`.',
  }),
  OTP_RECIPIENT_INVALID: error<{ reason: string }>({
    kind: 'invalid_request',
    message: ({ reason }) => `No code can be sent to this number: ${reason}.`,
    when: 'The number is impossible, of a kind that has no WhatsApp, or of a country that the project does not allow.',
    fix: 'Send the whole number with its country code, such as +491751234567.',
    sample: { reason: 'it is not a possible phone number with its country code' },
  }),
  OTP_RESEND_TOO_SOON: error<{ retryAfterSeconds: number }>({
    kind: 'rate_limited',
    message: ({ retryAfterSeconds }) => `This number was sent a code just now; ask again in ${retryAfterSeconds} s.`,
    when: 'Less than 60 seconds have passed since the last code to this number, or too many wrong codes were given for it.',
    fix: 'Wait for `Retry-After` seconds. A repeat with the same Idempotency-Key answers at once.',
    extra: ({ retryAfterSeconds }) => ({ retry_after_seconds: retryAfterSeconds }),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
    sample: { retryAfterSeconds: 42 },
  }),
  OTP_SENDER_NOT_READY: error({
    kind: 'conflict',
    message: 'The service has no connected number to send codes from; have it set up, then repeat the request.',
    when: "The service's own number is not set, or the platform refuses its token.",
    fix: 'Set it: `herald otp-sender set`. Sandbox projects need none.',
  }),
  OTP_CODE_INCORRECT: error({
    kind: 'invalid_request',
    message: 'This code is not right for this id; check both.',
    when: 'The code is wrong, or the id names no challenge of this project.',
    fix: 'Ask the user to type the code again; `attempts_remaining` of GET /otp/{id} tells how often.',
  }),
  OTP_CODE_EXPIRED: error({
    kind: 'invalid_request',
    message: 'This code is no longer valid; send a new one.',
    when: 'The time of the code is over, a newer code was sent to the number, or it could not be sent.',
    fix: 'Send a new code.',
  }),
  OTP_CODE_ALREADY_USED: error({
    kind: 'invalid_request',
    message: 'This code was verified before; a code works once.',
    when: 'The code was verified before.',
    fix: 'Send a new code for a new login.',
  }),
  OTP_ATTEMPTS_EXHAUSTED: error({
    kind: 'invalid_request',
    message: 'Too many wrong codes were given; send a new one later.',
    when: 'Five codes were tried for this id, or twenty wrong ones for its number within 24 hours.',
    fix: 'Send a new code; after twenty wrong ones the number has to wait for a day.',
  }),
  OTP_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such code in this project.',
    when: "The id names no challenge of this key's project.",
    fix: 'Take the id from the answer of POST /otp/send.',
  }),
});

export const otpErrors = { ...idempotencyErrors, ...ownErrors };
