import type { Audit } from '../../src/modules/audit/audit.service.js';

/** For tests of parts whose audit events `test/operations/audit.slow.e2e-spec.ts` looks at. */
export const NO_AUDIT = {
  record: () => Promise.resolve(),
  secondsUntilNext: () => Promise.resolve(0),
} as unknown as Audit;
