import type { AppError, ErrorDetail } from './app-error.js';
import { clip } from './clip.js';
import { defineErrors, error } from './define-errors.js';

interface Violations {
  details: ErrorDetail[];
}

const violating = (what: string) => ({
  message: ({ details }: Violations): string =>
    details.length === 1 ? (details[0]?.message ?? '') : `The ${what} is invalid; see details for each invalid field.`,
  extra: ({ details }: Violations) => ({ details }),
});

/** Codes that any route may answer with. */
export const commonErrors = defineErrors('common', {
  INVALID_REQUEST: error<Violations>({
    kind: 'invalid_request',
    ...violating('request'),
    when: 'The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.',
    fix: 'Fix the fields named in `details` and send the request again.',
    sample: { details: [{ field: 'id', rule: 'format', message: 'id must be a UUID.' }] },
  }),
  VALIDATION_FAILED: error<Violations>({
    kind: 'unprocessable',
    ...violating('message'),
    when: 'The body of POST /messages fits no message variant, or more than one.',
    fix: 'Fix the fields named in `details`; the API description shows an example of each variant.',
    sample: { details: [{ field: 'text.body', rule: 'required', message: 'text.body is missing.' }] },
  }),
  ROUTE_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such route; compare the path with the API description.',
    when: 'The path names nothing that Herald serves.',
    fix: 'Compare the path with the API description: /docs of a development server, or openapi.json.',
  }),
  API_VERSION_NOT_SUPPORTED: error<{ supported: string[] }>({
    kind: 'not_found',
    message: ({ supported }) => `This API version does not exist; use ${supported.join(', ')}.`,
    when: 'The version segment of the path is not one that Herald serves.',
    fix: 'Use /api/v1.',
    extra: ({ supported }) => ({ supported_versions: supported }),
    sample: { supported: ['v1'] },
  }),
  METHOD_NOT_ALLOWED: error<{ allow: string[] }>({
    kind: 'method_not_allowed',
    message: ({ allow }) => `This path does not take that method; use ${allow.join(', ')}.`,
    when: 'The path exists, but not with this method.',
    fix: 'Use one of the methods in the `Allow` header.',
    headers: ({ allow }) => ({ Allow: allow.join(', ') }),
    sample: { allow: ['GET', 'HEAD', 'POST'] },
  }),
  PAYLOAD_TOO_LARGE: error<{ limitBytes: number }>({
    kind: 'payload_too_large',
    message: ({ limitBytes }) => `The body is too large; send at most ${limitBytes} bytes.`,
    when: 'The request body is over the limit of the route.',
    fix: 'Send a smaller body.',
    extra: ({ limitBytes }) => ({ limit_bytes: limitBytes }),
    sample: { limitBytes: 262_144 },
  }),
  UNSUPPORTED_CONTENT_TYPE: error<{
    expected: string;
    /** The unsupported Content-Encoding of the body, if that is the fault. */
    encoding?: string;
  }>({
    kind: 'unsupported_media_type',
    message: ({ expected, encoding }) =>
      encoding === undefined
        ? `Send the body as ${expected}.`
        : `Content-Encoding ${clip(encoding, 64)} is not supported; send the body uncompressed, as ${expected}.`,
    when: 'The Content-Type, charset or encoding is not the one that the route expects.',
    fix: 'Set `Content-Type: application/json` (multipart/form-data for uploads), and send no `Content-Encoding`.',
    extra: ({ expected }) => ({ expected }),
    sample: { expected: 'application/json' },
  }),
  INTERNAL_ERROR: error({
    kind: 'internal',
    message: 'Something went wrong on our side; try again, and report the request id if it stays.',
    when: 'Herald met an internal error.',
    fix: 'Try again with the same Idempotency-Key; report the request id if it stays.',
  }),
  SERVICE_UNAVAILABLE: error<{ retryAfterSeconds?: number } | undefined>({
    kind: 'unavailable',
    message: 'The service cannot take this request right now; try again shortly with the same Idempotency-Key.',
    when: 'The database is out of reach, or too many requests are waiting.',
    fix: 'Wait for `Retry-After` seconds and repeat the request with the same Idempotency-Key.',
    headers: (args) => ({ 'Retry-After': String(args?.retryAfterSeconds ?? 1) }),
  }),
  PLATFORM_UNAVAILABLE: error({
    kind: 'platform_unavailable',
    message: 'The messaging platform could not be reached; try again shortly.',
    when: 'The WhatsApp platform could not be reached or answered with an error of its own.',
    fix: 'Try again later.',
  }),
  PLATFORM_TIMEOUT: error({
    kind: 'platform_timeout',
    message: 'The messaging platform did not answer in time; try again shortly.',
    when: 'The WhatsApp platform did not answer within the time limit.',
    fix: 'Try again later.',
  }),
  PLATFORM_REJECTED: error<{ code: number | null; subcode: number | null; message: string; traceId: string | null }>({
    kind: 'invalid_request',
    message: ({ message }) => `The messaging platform refused the change: ${message}`,
    when: 'The WhatsApp platform refused a template or profile change.',
    fix: "Read `platform.message`; it is the platform's own reason.",
    extra: ({ code, subcode, message, traceId }) => ({ platform: { code, subcode, message, trace_id: traceId } }),
    sample: {
      code: 100,
      subcode: 2388024,
      message: 'There is already English (US) content for this template.',
      traceId: 'AbCdEfGhIjKlMnOpQrStUvW',
    },
  }),
});

/** INVALID_REQUEST (400) about one field; an empty field means the request or its body as a whole. */
export function invalidField(field: string, rule: string, message: string, cause?: unknown): AppError {
  return commonErrors.INVALID_REQUEST({ details: [{ field, rule, message }] }, { cause });
}

const UUID_FORM = 'a UUID, such as 0b7f5a0e-5c1d-4f39-9d8e-2a4c6b8d0e1f';

/** Errors of every route that accepts an Idempotency-Key. */
export const idempotencyErrors = defineErrors('idempotency', {
  IDEMPOTENCY_KEY_REQUIRED: error<{ form: string } | undefined>({
    kind: 'invalid_request',
    message: (args) => `Send an Idempotency-Key header, new for each logical send: ${args?.form ?? UUID_FORM}.`,
    when: 'The header Idempotency-Key is missing.',
    fix: 'Make a key for each message (a UUID) or code (8 to 128 printable ASCII characters) that you mean to send, and repeat it when you repeat the request.',
    sample: { form: UUID_FORM },
  }),
  IDEMPOTENCY_KEY_INVALID: error<{ form: string } | undefined>({
    kind: 'invalid_request',
    message: (args) => `The Idempotency-Key must be ${args?.form ?? UUID_FORM}.`,
    when: 'The header Idempotency-Key is not of the form that the endpoint takes.',
    fix: 'Use a UUID for messages; for one-time codes 8 to 128 printable ASCII characters, of which a UUID is one choice.',
  }),
  IDEMPOTENCY_KEY_REUSED: error({
    kind: 'conflict',
    message: 'This Idempotency-Key already stands for another request; use a new key for a new message.',
    when: 'The key was used before with other parameters.',
    fix: 'Make a new key for every new message or code; repeat a key only with the very same request.',
  }),
});
