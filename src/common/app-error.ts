/** The kind of an error, independent of transport. Only the HTTP filter turns kinds into statuses. */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthenticated: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  internal: 500,
  platform_unavailable: 502,
  unavailable: 503,
  platform_timeout: 504,
} as const;

export type ErrorKind = keyof typeof ERROR_STATUS;

/** One violation in a request. `field` is a path such as `text.body`; `rule` is the constraint's name. */
export interface ErrorDetail {
  field: string;
  rule: string;
  message: string;
}

/** Limit of violations in an answer: more help no caller, and a hostile body has thousands. */
export const MAX_DETAILS = 20;
/** Limit of a path in an answer, in characters: its keys come from the caller and may have any length. */
export const MAX_FIELD_LENGTH = 200;

/** The path of a field, or of an item of a list. */
export function fieldPath(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

export interface AppErrorInit {
  kind: ErrorKind;
  code: string;
  /** One sentence for the caller that says what to do. */
  message: string;
  /** For the log only; never leaves the process. */
  internal?: string;
  /** Extra public fields that are beside code and message. */
  extra?: Record<string, unknown>;
  /** Response headers that belong to the error, such as `Retry-After`. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error that a caller may see. Text for the log (`internal`, `cause`) and text for the caller are separate. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly internal: string | undefined;
  readonly extra: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(init: AppErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'AppError';
    this.kind = init.kind;
    this.code = init.code;
    this.internal = init.internal;
    this.extra = init.extra ?? {};
    this.headers = init.headers ?? {};
  }

  get status(): number {
    return ERROR_STATUS[this.kind];
  }

  /** The same error under another status: a retry answers 409 where a create answers 422. */
  withKind(kind: ErrorKind): AppError {
    return new AppError({ ...this, message: this.message, cause: this.cause, kind });
  }
}
