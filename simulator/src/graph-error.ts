/** HTTP status and title of each error code the simulator answers with or reports. */
export const ERROR_TITLES: Readonly<Record<number, { httpStatus: number; title: string }>> = {
  0: { httpStatus: 401, title: 'We were unable to authenticate the app user' },
  1: { httpStatus: 500, title: 'An unknown error occurred' },
  2: { httpStatus: 503, title: 'Service temporarily unavailable' },
  4: { httpStatus: 429, title: 'Application request limit reached' },
  10: { httpStatus: 403, title: 'Application does not have permission for this action' },
  33: { httpStatus: 400, title: 'Parameter value is not valid' },
  100: { httpStatus: 400, title: 'Invalid parameter' },
  101: { httpStatus: 400, title: 'Error validating application. Invalid application ID.' },
  190: { httpStatus: 401, title: 'Invalid OAuth access token' },
  200: { httpStatus: 403, title: 'Permissions error' },
  368: { httpStatus: 403, title: 'Temporarily blocked for policies violations' },
  2500: { httpStatus: 400, title: 'Unknown path components' },
  130403: { httpStatus: 400, title: 'Recipient is blocked by the business' },
  130429: { httpStatus: 429, title: 'Rate limit hit' },
  80007: { httpStatus: 429, title: 'Rate limit issues' },
  131000: { httpStatus: 500, title: 'Something went wrong' },
  131008: { httpStatus: 400, title: 'Required parameter is missing' },
  131009: { httpStatus: 400, title: 'Parameter value is not valid' },
  131005: { httpStatus: 403, title: 'Access denied' },
  131016: { httpStatus: 503, title: 'Service unavailable' },
  131021: { httpStatus: 400, title: 'Recipient cannot be sender' },
  131026: { httpStatus: 400, title: 'Message undeliverable' },
  130472: { httpStatus: 400, title: "User's number is part of an experiment" },
  131030: { httpStatus: 400, title: 'Recipient phone number not in allowed list' },
  131031: { httpStatus: 403, title: 'Business Account locked' },
  131042: { httpStatus: 400, title: 'Business eligibility payment issue' },
  131045: { httpStatus: 500, title: 'Incorrect certificate' },
  131049: {
    httpStatus: 400,
    title: 'This message was not delivered to maintain healthy ecosystem engagement.',
  },
  131057: { httpStatus: 500, title: 'Account in maintenance mode' },
  131048: { httpStatus: 429, title: 'Spam rate limit hit' },
  131050: { httpStatus: 400, title: 'User has stopped receiving marketing messages from this business' },
  131070: { httpStatus: 400, title: 'The conversation is owned by another app' },
  131061: { httpStatus: 400, title: 'The template needs the Marketing Messages API' },
  131063: { httpStatus: 400, title: 'Marketing templates are disabled on the Cloud API' },
  134101: { httpStatus: 400, title: 'The template is still being synced' },
  131041: { httpStatus: 400, title: 'Unknown group' },
  131047: { httpStatus: 400, title: 'Re-engagement message' },
  131051: { httpStatus: 400, title: 'Unsupported message type' },
  131053: { httpStatus: 400, title: 'Media upload error' },
  131055: { httpStatus: 400, title: 'Method not allowed' },
  131056: { httpStatus: 429, title: '(Business Account, Consumer Account) pair rate limit hit' },
  131062: { httpStatus: 400, title: 'Business-scoped user id recipient is not supported for this message' },
  132000: { httpStatus: 400, title: 'Number of parameters does not match the expected number of params' },
  132001: { httpStatus: 404, title: 'Template name does not exist in the translation' },
  132005: { httpStatus: 400, title: 'Translated text too long' },
  132012: { httpStatus: 400, title: 'Parameter format does not match format in the created template' },
  132015: { httpStatus: 400, title: 'Template is paused' },
  132016: { httpStatus: 400, title: 'Template is disabled' },
  132018: { httpStatus: 400, title: 'Template parameters are not valid' },
  133004: { httpStatus: 503, title: 'Server Temporarily Unavailable' },
  133005: { httpStatus: 400, title: 'Two step verification PIN Mismatch' },
  133006: { httpStatus: 400, title: 'Phone number re-verification needed' },
  133010: { httpStatus: 400, title: 'Phone number not registered' },
  133016: { httpStatus: 400, title: 'Registration or Deregistration failed because there were too many attempts' },
  136024: { httpStatus: 400, title: 'Request code error' },
  136025: { httpStatus: 400, title: 'Verify code error' },
  138000: { httpStatus: 400, title: 'Calling not enabled' },
  138006: { httpStatus: 400, title: 'No approved call permission from the recipient' },
  139001: { httpStatus: 400, title: "Flow can't be updated" },
  139002: { httpStatus: 400, title: 'Publishing Flow failed' },
  139003: { httpStatus: 400, title: 'Deprecating Flow failed' },
  139004: { httpStatus: 400, title: 'Deleting Flow failed' },
  139100: { httpStatus: 400, title: 'Failed to block/unblock users' },
  2494191: { httpStatus: 400, title: 'Only the escalation partner can take control of a thread' },
};

interface GraphErrorExtras {
  /** `error_data.details`: the particular, where the message is the same for a whole family. */
  details?: string;
  subcode?: number;
  type?: 'OAuthException' | 'GraphMethodException';
  /** Instead of `(#code) title`. */
  message?: string;
  isTransient?: boolean;
  userTitle?: string;
  userMessage?: string;
  httpStatus?: number;
  /** What stands in the answer beside `error`, where some of a request went well. */
  beside?: object;
}

/** An answer outside the Graph API's shape: `{error: {message}}`, or no body where the message is empty. */
export class PlainError extends Error {
  constructor(
    readonly httpStatus: number,
    message = '',
  ) {
    super(message);
  }
}

/** A refusal of the Graph API: handlers throw it, the server writes it out. */
export class GraphError extends Error {
  readonly httpStatus: number;
  private readonly extras: GraphErrorExtras;

  /** @param given the details alone, or more */
  constructor(
    readonly code: number,
    given: string | GraphErrorExtras = {},
  ) {
    const extras = typeof given === 'string' ? { details: given } : given;
    super(extras.message ?? `(#${code}) ${ERROR_TITLES[code]?.title ?? 'Unknown error'}`);
    this.extras = extras;
    this.httpStatus = extras.httpStatus ?? ERROR_TITLES[code]?.httpStatus ?? 400;
  }

  /** The answer's JSON, with the platform's field names. */
  body(traceId: string): string {
    const { details, subcode, type = 'OAuthException', isTransient, userTitle, userMessage } = this.extras;
    return JSON.stringify({
      ...this.extras.beside,
      error: {
        message: this.message,
        type,
        code: this.code,
        error_data: details === undefined ? undefined : { messaging_product: 'whatsapp', details },
        error_subcode: subcode,
        is_transient: isTransient,
        error_user_title: userTitle,
        error_user_msg: userMessage,
        fbtrace_id: traceId,
      },
    });
  }
}

/** 100 whose message names the parameter. */
export function invalidParam(message: string): GraphError {
  return new GraphError(100, { message: `(#100) ${message}` });
}

/** No such object, or none that this token may see. */
export function unknownObject(method: string, id: string): GraphError {
  return new GraphError(100, {
    subcode: 33,
    type: 'GraphMethodException',
    message:
      `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to ` +
      'missing permissions, or does not support this operation. Please read the Graph API documentation at ' +
      'https://developers.facebook.com/docs/graph-api',
  });
}
