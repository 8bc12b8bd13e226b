import type { AppError } from '../../common/app-error.js';

export interface ErrorBody {
  error: { code: string; message: string; request_id: string; doc_url: string } & Record<string, unknown>;
}

/** The body of every error answer. */
export function errorBody(error: AppError, requestId: string, publicUrl: string): ErrorBody {
  return {
    error: {
      code: error.code,
      message: error.message,
      request_id: requestId,
      ...error.extra,
      doc_url: docUrl(publicUrl, error.code),
    },
  };
}

export function docUrl(publicUrl: string, code: string): string {
  return `${publicUrl}/docs/errors#${code}`;
}
