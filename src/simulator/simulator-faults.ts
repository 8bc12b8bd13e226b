import type { Faults } from './simulator.types.js';

/** How it is before any control call, and after a reset. */
export const NO_FAULTS: Readonly<Faults> = {
  dropAnswers: 0,
  brokenAnswers: 0,
  latencyMs: 0,
  errorRate: 0,
  statuses: 'on',
  down: false,
  refusals: 0,
  refusalCode: 80007,
  downloadFailures: 0,
  downloadFailure: 'not_found',
  downloadWrongBytes: 0,
  downloadLatencyMs: 0,
  downloadBytesPerSecond: 0,
  uploadFailures: 0,
};
