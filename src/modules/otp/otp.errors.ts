import { defineErrors, error } from '../../common/define-errors.js';
import { idempotencyErrors } from '../../common/common.errors.js';
import { FAILURE_BUDGET, type SendHold } from './otp.repository.js';
import { MAX_ATTEMPTS } from './otp.types.js';

const HOLDS: Readonly<Record<SendHold, string>> = {
  resend_interval: 'This number was sent a code just now',
  too_many_codes: 'This number was sent too many codes in a short time',
  too_many_wrong_codes: `${FAILURE_BUDGET} wrong codes were given for this number within 24 hours`,
};
const holdText = ({ hold, retryAfterSeconds }: { hold: SendHold; retryAfterSeconds: number }): string =>
  `${HOLDS[hold]}; ask again in ${retryAfterSeconds} s.`;

const EXHAUSTED = {
  too_many_attempts: `${MAX_ATTEMPTS} codes were tried for this id, so it is over: even the right one is no longer taken. Send a new code.`,
  too_many_wrong_codes: `${FAILURE_BUDGET} wrong codes were given for this number within 24 hours: no code of it is taken until they are over. Offer another way to log in.`,
} as const;

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
  OTP_RESEND_TOO_SOON: error<{ hold: SendHold; retryAfterSeconds: number }>({
    kind: 'rate_limited',
    message: holdText,
    when: 'The `rule` in `details` says why: `resend_interval`, less than 60 seconds since the last code to this number; `too_many_codes`, five codes and then one in two minutes; `too_many_wrong_codes`, twenty wrong ones within 24 hours.',
    fix: 'Wait for `Retry-After` seconds. A repeat with the same Idempotency-Key answers at once.',
    extra: (args) => ({
      retry_after_seconds: args.retryAfterSeconds,
      details: [{ field: 'to', rule: args.hold, message: holdText(args) }],
    }),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
    sample: { hold: 'resend_interval', retryAfterSeconds: 42 },
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
    fix: 'Ask the user to type the code again; `attempts_remaining` of GET /otp/{id} says how often.',
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
  OTP_ATTEMPTS_EXHAUSTED: error<{ rule: 'too_many_attempts' | 'too_many_wrong_codes' }>({
    kind: 'invalid_request',
    message: ({ rule }) => EXHAUSTED[rule],
    when: `The \`rule\` in \`details\` says why: \`too_many_attempts\`, ${MAX_ATTEMPTS} codes were tried for this id; \`too_many_wrong_codes\`, ${FAILURE_BUDGET} wrong ones for its number within 24 hours.`,
    fix: 'After `too_many_attempts` ask with POST /otp/send for a new code, once 60 seconds have passed since the last one. After `too_many_wrong_codes` let the user log in another way: POST /otp/send says in `Retry-After` how long the number waits.',
    extra: ({ rule }) => ({ details: [{ field: 'code', rule, message: EXHAUSTED[rule] }] }),
    sample: { rule: 'too_many_attempts' },
  }),
  OTP_PROJECT_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such OTP project in this workspace; list its projects to find the id.',
    when: 'The id is none of an OTP project of the workspace.',
    fix: 'Take the id from the list of OTP projects of the workspace.',
  }),
  OTP_PACKAGE_NOT_POSSIBLE: error<{ reason: string }>({
    kind: 'conflict',
    message: ({ reason }) => reason,
    when: 'A package was set for a sandbox, which sends nothing, or for a country to which the project sends no codes.',
    fix: 'Name a live project, and one of its `allowed_countries`.',
    sample: { reason: 'the project sends no codes to FR: it was made for DE,US' },
  }),
  OTP_SENDER_NOT_SET: error({
    kind: 'not_found',
    message: 'No number is set that sends codes: herald otp-sender set, or PUT /api/admin/v1/otp-sender.',
    when: 'The service has no number of its own that sends the codes.',
    fix: 'Set one. Sandbox projects need none.',
  }),
  OTP_SENDER_REFUSED: error<{ reason: string }>({
    kind: 'unprocessable',
    message: ({ reason }) => reason,
    when: 'The number is one of a workspace, or its template is missing, not approved, or not of the category AUTHENTICATION.',
    fix: 'Do what `message` says, then send the request again: nothing was stored.',
    sample: { reason: 'the template login_code is not approved yet; wait for its review' },
  }),
  OTP_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such code in this project.',
    when: "The id names no challenge of this key's project.",
    fix: 'Take the id from the answer of POST /otp/send.',
  }),
});

export const otpErrors = { ...idempotencyErrors, ...ownErrors };
