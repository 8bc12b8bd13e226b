/** An answer of the API that is no success, in its own words. */
export class ApiFault extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** What stands beside code and message in the answer. */
    readonly extra: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = 'ApiFault';
  }
}

interface FaultBody {
  error?: { code?: string; message?: string; details?: { field: string; message: string }[] } & Record<string, unknown>;
}

/** Names the faulty fields too: the API tells them apart from its message. */
export function apiFault(status: number, body: unknown): ApiFault {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as FaultBody;
  if (error?.code === undefined) {
    return new ApiFault(status, 'UNEXPECTED_ANSWER', `the answer was ${status}: is this address a Herald?`);
  }
  const { code, message = '', ...extra } = error;
  const details = (error.details ?? []).map((detail) => detail.message).join(' ');
  return new ApiFault(status, code, details === '' ? message : `${message} ${details}`, extra);
}
