import type { Scenario } from '../scenario.js';
import { apiKilled } from './api-killed.js';
import { behindPgBouncer } from './behind-pgbouncer.js';
import { brokenAnswers } from './broken-answers.js';
import { clockSkew } from './clock-skew.js';
import { clockStepsBack } from './clock-steps-back.js';
import { commitCut } from './commit-cut.js';
import { crowdedLanes } from './crowded-lanes.js';
import { databaseDiskFull } from './database-disk-full.js';
import { eventsRead } from './events-read.js';

import { gracefulStop } from './graceful-stop.js';
import { greedyCampaign } from './greedy-campaign.js';
import { greedyWorkspace } from './greedy-workspace.js';
import { mediaDiskFull } from './media-disk-full.js';
import { mixedFaults } from './mixed.js';
import { notificationsStormed } from './notifications-stormed.js';
import { openTransaction } from './open-transaction.js';
import { otpWorkerKilled } from './otp-worker-killed.js';
import { overload } from './overload.js';
import { postgresKilled } from './postgres-killed.js';
import { primaryDemoted } from './primary-demoted.js';
import { queueAway } from './queue-away.js';
import { queueWiped } from './queue-wiped.js';
import { readOnlyDatabase } from './read-only-database.js';
import { restart } from './restart.js';
import { rollingReplacement } from './rolling-replacement.js';
import { slowClients } from './slow-clients.js';
import { soak } from './soak.js';
import { takeover } from './takeover.js';
import { upgradeThereAndBack } from './upgrade-there-and-back.js';
import { webhookWorkerKilled } from './webhook-worker-killed.js';
import { workerKilled } from './worker-killed.js';
import { wrongHostClock } from './wrong-host-clock.js';
import { zombie } from './zombie.js';

/** All scenarios, in the order of the report. They begin in it too: the longest come first. */
export const SCENARIOS: readonly Scenario[] = [
  mixedFaults,
  takeover,
  zombie,
  workerKilled,
  postgresKilled,
  eventsRead,
  clockSkew,
  queueAway,
  restart,
  wrongHostClock,
  webhookWorkerKilled,
  otpWorkerKilled,
  brokenAnswers,
  databaseDiskFull,
  readOnlyDatabase,
  upgradeThereAndBack,
  queueWiped,
  clockStepsBack,
  apiKilled,
  commitCut,
  primaryDemoted,
  behindPgBouncer,
  rollingReplacement,
  mediaDiskFull,
  soak,
  gracefulStop,
  notificationsStormed,
  crowdedLanes,
  greedyWorkspace,
  greedyCampaign,
  openTransaction,
  overload,
  slowClients,
];
