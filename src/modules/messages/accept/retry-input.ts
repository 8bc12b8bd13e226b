import type { ErrorDetail } from '../../../common/app-error.js';
import { commonErrors } from '../../../common/common.errors.js';
import { boolean, object } from '../../../common/shape.js';

/** Body of POST /messages/{id}/retry; it may be left out. */
export const RETRY_SHAPE = object({
  optional: {
    confirm_outcome_unknown: boolean({
      default: false,
      description: 'Send again although the message may have been sent already.',
    }),
  },
});

/** @throws INVALID_REQUEST (400) naming each faulty field. */
export function readRetryInput(body: unknown): { confirmOutcomeUnknown: boolean } {
  if (body === undefined) return { confirmOutcomeUnknown: false };
  const faults: ErrorDetail[] = [];
  RETRY_SHAPE.check(body, '', faults);
  if (faults.length > 0) throw commonErrors.INVALID_REQUEST({ details: faults });
  return { confirmOutcomeUnknown: (body as { confirm_outcome_unknown?: boolean }).confirm_outcome_unknown ?? false };
}
