import type { Claim } from '../bench-context.js';
import { acceptKindsClaim } from './accept-kinds.js';
import { acceptClaim } from './accept.js';
import { batchClaim } from './batch.js';
import { codesClaim } from './codes.js';
import { coldStartClaim } from './cold-start.js';
import { endToEndClaim } from './end-to-end.js';
import { eventsWaitClaim } from './events-wait.js';
import { growthClaim } from './growth.js';
import { journalClaim } from './journal.js';
import { memoryClaim } from './memory.js';
import { pausedTagClaim } from './paused-tag.js';
import { pressureClaim } from './pressure.js';
import { quietWorkspaceClaim } from './quiet-workspace.js';
import { routeCostsClaim } from './route-costs.js';
import { scheduledClaim } from './scheduled.js';
import { statusesClaim } from './statuses.js';
import { steadyClaim } from './steady.js';
import { uploadsClaim } from './uploads.js';
import { usageClaim } from './usage.js';
import { webhooksClaim } from './webhooks.js';
import { writesClaim } from './writes.js';

/** Every claim, in the order of the table. */
export const CLAIMS: readonly Claim[] = [
  acceptClaim,
  acceptKindsClaim,
  batchClaim,
  endToEndClaim,
  steadyClaim,
  quietWorkspaceClaim,
  codesClaim,
  webhooksClaim,
  eventsWaitClaim,
  statusesClaim,
  journalClaim,
  usageClaim,
  routeCostsClaim,
  scheduledClaim,
  pausedTagClaim,
  memoryClaim,
  uploadsClaim,
  coldStartClaim,
  writesClaim,
  pressureClaim,
  growthClaim,
];
