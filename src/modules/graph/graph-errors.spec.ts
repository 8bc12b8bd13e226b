import { AppError, ERROR_STATUS } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { graphErrorBody, graphErrorOf } from './graph-errors.js';

const make = (code: string, kind: AppError['kind'], extra: Record<string, unknown> = {}): AppError =>
  new AppError({ code, kind, message: 'A sentence.', extra });

const codeOf = (error: AppError): number[] => {
  const { code, status } = graphErrorOf(error);
  return [code, status];
};

describe('the code of the platform for an error', () => {
  it.each<[string, AppError['kind'], number, number]>([
    ['API_KEY_REVOKED', 'unauthenticated', 190, 401],
    ['SCOPE_REQUIRED', 'forbidden', 10, 403],
    ['SUBSCRIPTION_REQUIRED', 'payment_required', 131042, 400],
    ['SPEND_LIMIT_REACHED', 'payment_required', 131042, 400],
    ['RATE_LIMITED', 'rate_limited', 4, 429],
    ['UPLOAD_LIMIT_REACHED', 'rate_limited', 4, 429],
    ['BACKLOG_LIMIT_REACHED', 'rate_limited', 130429, 429],
    ['WORKSPACE_LIMIT_REACHED', 'rate_limited', 80007, 429],
    ['RECIPIENT_LIMIT_REACHED', 'unprocessable', 131049, 400],
    ['RECIPIENT_OPTED_OUT', 'unprocessable', 131050, 400],
    ['RECIPIENT_NEEDS_PHONE', 'unprocessable', 131062, 400],
    ['RECIPIENT_REPLACED', 'unprocessable', 131009, 400],
    ['REPLY_TARGET_NOT_FOUND', 'unprocessable', 131009, 400],
    ['SERVICE_WINDOW_CLOSED', 'unprocessable', 131047, 400],
    ['CONNECTION_NOT_READY', 'conflict', 133010, 400],
    ['TEMPLATE_NOT_FOUND', 'unprocessable', 132001, 404],
    ['TEMPLATE_PARAMETERS_MISMATCH', 'unprocessable', 132000, 400],
    ['MEDIA_NOT_FOUND', 'not_found', 100, 400],
    ['MEDIA_NOT_FOUND', 'unprocessable', 131009, 400],
    ['MEDIA_TYPE_MISMATCH', 'unprocessable', 131053, 400],
    ['MEDIA_PENDING', 'conflict', 131016, 503],
    ['IDEMPOTENCY_KEY_REUSED', 'conflict', 100, 400],
    ['PLATFORM_UNAVAILABLE', 'platform_unavailable', 131016, 503],
    ['PLATFORM_TIMEOUT', 'platform_timeout', 131016, 503],
    ['SERVICE_UNAVAILABLE', 'unavailable', 131016, 503],
    ['INTERNAL_ERROR', 'internal', 131000, 500],
  ])('%s (%s) is %i with %i', (code, kind, platform, status) => {
    expect(codeOf(make(code, kind))).toEqual([platform, status]);
  });

  it.each(Object.keys(ERROR_STATUS) as AppError['kind'][])('exists for every kind: %s', (kind) => {
    const [code, status = 0] = codeOf(make('A_NEW_CODE', kind));
    expect(code).toBeGreaterThan(0);
    expect(status).toBeGreaterThanOrEqual(400);
  });

  it.each([
    ['paused', 132015],
    ['disabled', 132016],
    ['pending', 132001],
  ])('tells a template that is %s: %i', (status, code) => {
    expect(codeOf(make('TEMPLATE_NOT_APPROVED', 'unprocessable', { status }))[0]).toBe(code);
  });

  it('is the platform’s own where the platform refused', () => {
    const refused = commonErrors.PLATFORM_REJECTED({ code: 131009, subcode: 5, message: 'no', traceId: null });
    expect(graphErrorOf(refused)).toMatchObject({ code: 131009, subcode: 5, status: 400 });
    const unknown = commonErrors.PLATFORM_REJECTED({ code: null, subcode: null, message: 'no', traceId: null });
    expect(graphErrorOf(unknown)).toMatchObject({ code: 100, status: 400 });
  });

  it('is 131008 only where nothing but missing fields is wrong', () => {
    const [missing, wrong] = ['required', 'length'].map((rule) => ({ field: 'a', rule, message: `${rule}.` }));
    const refused = (details: object[]) => make('VALIDATION_FAILED', 'unprocessable', { details });
    expect(codeOf(refused([{ ...missing }]))).toEqual([131008, 400]);
    expect(codeOf(refused([{ ...missing }, { ...wrong }]))).toEqual([100, 400]);
    const { body } = graphErrorBody(refused([{ ...missing }, { ...wrong }]), 'r');
    expect(body.error.error_data.details).toBe('required. length.');
  });
});
