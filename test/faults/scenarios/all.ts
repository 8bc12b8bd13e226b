import type { Scenario } from '../scenario.js';
import { apiKilled } from './api-killed.js';
import { neighbours } from './neighbours.js';
import { otpWorkerKilled } from './otp-worker-killed.js';
import { postgresKilled } from './postgres-killed.js';
import { queueWiped } from './queue-wiped.js';
import { webhookWorkerKilled } from './webhook-worker-killed.js';
import { workerKilled } from './worker-killed.js';

/** All scenarios, in the order of the report. Those that take longest begin first, each half of the list by itself. */
export const SCENARIOS: readonly Scenario[] = [
  workerKilled,
  postgresKilled,
  webhookWorkerKilled,
  otpWorkerKilled,
  queueWiped,
  apiKilled,
  neighbours,
];
