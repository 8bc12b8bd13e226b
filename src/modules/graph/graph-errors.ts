import type { AppError } from '../../common/app-error.js';
import { clip } from '../../common/clip.js';
import { isObject } from '../../common/json.js';

/** WhatsApp's equivalent of one of our errors. */
export interface GraphError {
  code: number;
  status: number;
  subcode?: number;
  title: string;
  /** The same request may succeed later. */
  isTransient?: true;
}

export interface GraphErrorBody {
  error: {
    message: string;
    type: 'OAuthException';
    code: number;
    error_subcode?: number;
    is_transient?: true;
    error_data: { messaging_product: 'whatsapp'; details: string; herald_code: string };
    fbtrace_id: string;
  };
}

const INVALID: GraphError = { code: 100, status: 400, title: 'Invalid parameter' };
const MISSING: GraphError = { code: 131008, status: 400, title: 'Required parameter is missing' };
const WRONG_VALUE: GraphError = { code: 131009, status: 400, title: 'Parameter value is not valid' };
const NO_OBJECT: GraphError = { code: 100, status: 400, subcode: 33, title: 'Unsupported request' };
const NO_PATH: GraphError = { code: 2500, status: 400, title: 'Unknown path components' };
const NO_KEY: GraphError = { code: 190, status: 401, title: 'Invalid OAuth access token' };
const NO_PERMISSION: GraphError = {
  code: 10,
  status: 403,
  title: 'Application does not have permission for this action',
};
const UNPAID: GraphError = { code: 131042, status: 400, title: 'Business eligibility payment issue' };
const REQUESTS: GraphError = { code: 4, status: 429, title: 'Application request limit reached', isTransient: true };
const THROUGHPUT: GraphError = { code: 130429, status: 429, title: 'Rate limit hit', isTransient: true };
const NO_TEMPLATE: GraphError = {
  code: 132001,
  status: 404,
  title: 'Template name does not exist in the translation',
};
const UNAVAILABLE: GraphError = { code: 131016, status: 503, title: 'Service unavailable', isTransient: true };
const INTERNAL: GraphError = { code: 131000, status: 500, title: 'Something went wrong' };

/** By our code. Other codes are mapped by their kind. */
const BY_CODE: Readonly<Record<string, GraphError>> = {
  API_KEY_EXPIRED: { ...NO_KEY, subcode: 463, title: 'Error validating access token: it has expired' },
  ROUTE_NOT_FOUND: NO_PATH,
  BACKLOG_LIMIT_REACHED: THROUGHPUT,
  WORKSPACE_LIMIT_REACHED: { code: 80007, status: 429, title: 'Rate limit issues' },
  RECIPIENT_LIMIT_REACHED: {
    code: 131049,
    status: 400,
    title: 'This message was not delivered to maintain healthy ecosystem engagement.',
  },
  RECIPIENT_OPTED_OUT: {
    code: 131050,
    status: 400,
    title: 'User has stopped receiving marketing messages from this business',
  },
  RECIPIENT_NEEDS_PHONE: {
    code: 131062,
    status: 400,
    title: 'Business-scoped user id recipient is not supported for this message',
  },
  RECIPIENT_REPLACED: WRONG_VALUE,
  REPLY_TARGET_NOT_FOUND: WRONG_VALUE,
  SERVICE_WINDOW_CLOSED: { code: 131047, status: 400, title: 'Re-engagement message' },
  CONNECTION_NOT_READY: { code: 133010, status: 400, title: 'Phone number not registered' },
  TEMPLATE_NOT_FOUND: NO_TEMPLATE,
  TEMPLATE_PARAMETERS_MISMATCH: {
    code: 132000,
    status: 400,
    title: 'Number of parameters does not match the expected number of params',
  },
  MEDIA_TYPE_MISMATCH: { code: 131053, status: 400, title: 'Media upload error' },
  MEDIA_PENDING: UNAVAILABLE,
};

const OF_TEMPLATE_STATUS: Readonly<Record<string, GraphError>> = {
  paused: { code: 132015, status: 400, title: 'Template is paused' },
  disabled: { code: 132016, status: 400, title: 'Template is disabled' },
};

const BY_KIND: Readonly<Record<AppError['kind'], GraphError>> = {
  invalid_request: INVALID,
  unauthenticated: NO_KEY,
  payment_required: UNPAID,
  forbidden: NO_PERMISSION,
  not_found: NO_OBJECT,
  method_not_allowed: NO_OBJECT,
  conflict: INVALID,
  gone: NO_OBJECT,
  payload_too_large: INVALID,
  unsupported_media_type: INVALID,
  unprocessable: INVALID,
  rate_limited: REQUESTS,
  internal: INTERNAL,
  platform_unavailable: UNAVAILABLE,
  unavailable: UNAVAILABLE,
  platform_timeout: UNAVAILABLE,
};

/** WhatsApp's code and status for one of our errors. */
export function graphErrorOf(error: AppError): GraphError {
  const { code, kind, extra } = error;
  if (code === 'TEMPLATE_NOT_APPROVED') return OF_TEMPLATE_STATUS[String(extra.status)] ?? NO_TEMPLATE;
  // The file is named by the message, not by the path.
  if (code === 'MEDIA_NOT_FOUND' && kind !== 'not_found') return WRONG_VALUE;
  if (code === 'PLATFORM_REJECTED') return ofPlatform(extra.platform);
  const { details } = extra;
  if (Array.isArray(details) && details.length > 0 && details.every(({ rule }) => rule === 'required')) return MISSING;
  return BY_CODE[code] ?? BY_KIND[kind];
}

/** Errors that WhatsApp itself returned, with its own code. */
function ofPlatform(platform: unknown): GraphError {
  const { code, subcode } = isObject(platform) ? platform : {};
  if (typeof code !== 'number') return INVALID;
  return {
    ...INVALID,
    code,
    ...(typeof subcode === 'number' && { subcode }),
    title: 'The platform refused the request',
  };
}

/** The body of an error in WhatsApp's form; our text is in `details`, our code in `herald_code`. */
export function graphErrorBody(error: AppError, requestId: string): { status: number; body: GraphErrorBody } {
  const { code, status, subcode, title, isTransient } = graphErrorOf(error);
  return {
    status,
    body: {
      error: {
        message: `(#${code}) ${title}`,
        type: 'OAuthException',
        code,
        ...(subcode !== undefined && { error_subcode: subcode }),
        ...(isTransient && { is_transient: true }),
        error_data: { messaging_product: 'whatsapp', details: detailsOf(error), herald_code: error.code },
        fbtrace_id: requestId,
      },
    },
  };
}

const MAX_DETAILS_LENGTH = 1_000;

/** The sentence for the caller; for several invalid fields, those of all. */
function detailsOf({ message, extra: { details } }: AppError): string {
  const sentences =
    Array.isArray(details) && details.length > 1 ? details.map((each) => String(each.message)) : [message];
  return clip(sentences.join(' '), MAX_DETAILS_LENGTH);
}
