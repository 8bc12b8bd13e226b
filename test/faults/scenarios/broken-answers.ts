import type { FaultReport } from '../../support/rig/fault-result.js';
import { waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import { NotificationShuffler } from '../notification-shuffler.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 12;
const RECIPIENTS = 40;
const SHARE = 0.2;
/** How often each status comes; with so many copies at random times some are before the answer, the rest anywhere. */
const COPIES = 3;
const LATEST_MS = 1_500;
/** Longer than the first status takes: some come before the answer. */
const LATENCY_MS = 250;
const SETTLE_MS = 60_000;

/** A fifth of the platform's answers are broken, in eight ways; its statuses come late, thrice and out of order. */
export const brokenAnswers: Scenario = {
  name: 'broken-answers',
  goal: 'G7: 20 % of answers broken in 8 ways, statuses late, thrice, shuffled; 0 sent twice, 0 wrongly failed, every taken one confirmed, every other outcome_unknown',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const messages = context.quick ? 800 : 10_000;
  const shuffler = await NotificationShuffler.start(scope, { times: COPIES, latestMs: LATEST_MS });
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 40,
    recipients: RECIPIENTS,
    latencyMs: LATENCY_MS,
    workers: 2,
    settings: { WHATSAPP_TIMEOUT_MS: '3000' },
    notifyVia: (address) => shuffler.before(address),
  });
  const { simulator, database } = stage.stage;
  await simulator.control('POST', 'faults', { broken_answers: SHARE });
  const traffic = new Traffic(stage, {
    callers: 6,
    least: messages,
    most: messages,
    recipients: RECIPIENTS,
    betweenMs: 10,
  });
  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(answeredAt);
  await waitFor(
    'every notification to arrive',
    async () => ((await simulator.pendingNotifications()) === 0 && shuffler.pending === 0 ? true : null),
    { timeoutMs: SETTLE_MS },
  ).catch(() => traffic.late.push(`${shuffler.pending} notifications did not arrive`));
  const { broken } = (await simulator.control('GET', 'count')) as { broken: { taken: number; not_taken: number } };
  const judgement = await stage.judge(traffic.acknowledged);
  if (broken.taken === 0 || broken.not_taken === 0) traffic.late.push('too few answers were broken');
  if (judgement.unknown !== broken.not_taken) {
    traffic.violations.push(
      `${judgement.unknown} are outcome_unknown, and the platform did not take ${broken.not_taken}`,
    );
  }
  const { rows } = await database.pool.query<{ unread: number }>(
    `select count(*)::integer as unread from message_view
     where direction = 'outbound' and status not in ('read', 'outcome_unknown')`,
  );
  if (rows[0]?.unread !== 0) traffic.violations.push(`${rows[0]?.unread} are not read although the platform said so`);
  return reportOf({
    faults: broken.taken + broken.not_taken,
    attempted: traffic.attempted,
    judgement,
    recoveredMs,
    violations: traffic.violations,
    late: traffic.late,
    notes: {
      broken_after_taking: broken.taken,
      broken_before_taking: broken.not_taken,
      notifications_passed: shuffler.passed,
    },
  });
}
