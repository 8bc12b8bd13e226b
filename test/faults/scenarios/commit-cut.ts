import type { FaultReport } from '../../support/rig/fault-result.js';
import { waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 8;
const RECIPIENTS = 50;
const CALLERS = 12;
/** The statement that accepts messages, by its name; it is its own transaction, so its answer is the COMMIT's. */
const ACCEPT = 'message_accept';
/** Of the statements that might be hit, so many are. */
const SHARE = 0.2;

/** The connection breaks while the database commits: the api cannot know, says 503, and the caller repeats its key. */
export const commitCut: Scenario = {
  name: 'commit-cut',
  goal: 'G2: connections cut during COMMIT, clients repeat their Idempotency-Key; one key makes one message, 0 missing',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const cuts = context.quick ? 20 : 100;
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 1_000,
    recipients: RECIPIENTS,
    latencyMs: 0,
    proxied: true,
  });
  const hits = { cut: 0, lose_answer: 0 };
  const database = stage.links[0]?.database;
  if (database === undefined) throw new Error('the api has no proxy');
  database.inspect = (bytes) => {
    if (hits.cut + hits.lose_answer >= cuts || !bytes.includes(ACCEPT) || Math.random() > SHARE) return 'pass';
    // In turn: the commit definitely did not happen, and it definitely did; the api sees the same.
    const verdict = hits.cut > hits.lose_answer ? 'lose_answer' : 'cut';
    hits[verdict]++;
    return verdict;
  };
  const traffic = new Traffic(stage, {
    callers: CALLERS,
    least: context.quick ? 300 : 2_000,
    most: 20_000,
    recipients: RECIPIENTS,
    betweenMs: 20,
    twice: true,
  });
  await waitFor('all connections to be cut', () => (hits.cut + hits.lose_answer >= cuts ? true : null), {
    timeoutMs: 120_000,
  }).catch(() => traffic.late.push(`only ${hits.cut + hits.lose_answer} of ${cuts} cuts fell into a commit`));
  const cutAt = performance.now();
  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(cutAt, answeredAt));
  await traffic.checkKeys();
  if (traffic.repeated === 0) traffic.late.push('no cut fell into a request: nothing was shown');
  return reportOf({
    faults: hits.cut + hits.lose_answer,
    attempted: traffic.attempted,
    judgement: await stage.judge(traffic.acknowledged),
    recoveredMs,
    violations: traffic.violations,
    late: traffic.late,
    notes: {
      before_the_commit: hits.cut,
      after_the_commit: hits.lose_answer,
      answered_after_repeats: traffic.repeated,
    },
  });
}
