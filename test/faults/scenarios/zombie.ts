import type { FaultReport } from '../../support/rig/fault-result.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import { atPhase, PHASES, type Phase } from '../phases.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 12;
const RECIPIENTS = 40;
const WORKERS = 3;
const LEASE_MS = 4_000;
const STOPPED_MS = 3 * LEASE_MS;
const REACH_MS = 60_000;

type Moment = Phase | 'anywhere' | 'after_the_answer';

/** A worker is stopped (SIGSTOP) for three leases and goes on as if nothing had happened: a zombie. */
export const zombie: Scenario = {
  name: 'zombie',
  goal: 'G5: SIGSTOP of workers for 3 leases at 5 moments; 0 sent twice, 0 stale writes accepted',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const rounds = context.quick ? 1 : 10;
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 20,
    recipients: RECIPIENTS,
    latencyMs: 80,
    workers: WORKERS,
    proxied: true,
    // Production refuses so short a lease.
    settings: { SEND_LEASE_MS: String(LEASE_MS), WHATSAPP_TIMEOUT_MS: '3000' },
  });
  const traffic = new Traffic(stage, {
    callers: 4,
    least: 300,
    most: context.quick ? 2_500 : 20_000,
    recipients: RECIPIENTS,
    betweenMs: 50,
  });
  const moments: Moment[] = [...(Object.keys(PHASES) as Phase[]), 'after_the_answer', 'anywhere'];
  let faults = 0;
  for (let round = 0; round < rounds; round++) {
    // Two at a time of three: one always goes on.
    for (let i = 0; i < moments.length; i += 2) {
      if (!(await traffic.moves())) traffic.late.push('nothing moved before a stop');
      const pair = moments.slice(i, i + 2);
      // A lane stays with its worker, so one of them may have none to be seen with: the first that gets there is stopped.
      const running = new Set(stage.workers.map((_worker, n) => (i + n + round) % WORKERS));
      await Promise.all(pair.map((moment) => stopAt(stage, running, moment, traffic.late)));
      await pause(STOPPED_MS);
      for (const worker of stage.workers) worker.child.signal('SIGCONT');
      faults += pair.length;
      context.say(`${pair.join(' and ')}: ${traffic.messageOfKey.size} acknowledged, ${await stage.taken()} taken`);
    }
  }
  const wokenAt = performance.now();
  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(wokenAt, answeredAt));
  const stale = await staleWrites(stage);
  if (stale > 0) traffic.violations.push(`${stale} attempts are open although their message has gone on`);
  return reportOf({
    faults,
    attempted: traffic.attempted,
    judgement: await stage.judge(traffic.acknowledged),
    recoveredMs,
    violations: traffic.violations,
    late: traffic.late,
    notes: { workers: WORKERS, lease_ms: LEASE_MS, stopped_ms: STOPPED_MS },
  });
}

/** Stops one of the workers that still run. */
async function stopAt(stage: FaultStage, running: Set<number>, moment: Moment, late: string[]): Promise<void> {
  const stop = (n: number) => stage.workers[n]?.child.signal('SIGSTOP');
  if (moment === 'anywhere') {
    await pause(randomBetween(0, 500));
    const [n = 0] = running;
    running.delete(n);
    stop(n);
    return;
  }
  let stopped = false;
  const phase = moment === 'after_the_answer' ? 'on_the_wire' : moment;
  const disarms = [...running].map((n) => {
    const links = stage.links[n + 1];
    if (links === undefined) throw new Error(`worker ${n} has no proxies`);
    return atPhase(phase, links, () => {
      // The other moment may have stopped it before.
      if (stopped || !running.delete(n)) return;
      stopped = true;
      // The platform takes 80 ms to answer.
      if (moment === 'after_the_answer') setTimeout(() => stop(n), 85);
      else stop(n);
    });
  });
  await waitFor(`a worker to be ${moment}`, () => (stopped ? true : null), { timeoutMs: REACH_MS, everyMs: 5 }).catch(
    () => late.push(`no worker was seen ${moment}`),
  );
  for (const disarm of disarms) disarm();
}

/** What a stale claim or outcome would leave behind: an open attempt that is not its message's current one. */
async function staleWrites(stage: FaultStage): Promise<number> {
  const { rows } = await stage.stage.database.pool.query<{ many: number }>(
    `select count(*)::integer as many from message_attempt_view a join message_view m on m.id = a.message_id
     where a.status = 'started' and (m.current_attempt_id <> a.id or m.status <> 'processing')`,
  );
  return rows[0]?.many ?? 0;
}
