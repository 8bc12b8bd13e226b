import { percentile } from '../../support/rig/figures.js';
import type { FaultReport } from '../../support/rig/fault-result.js';
import type { HeraldProcess } from '../../support/rig/herald.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import { atPhase, PHASES, type Phase } from '../phases.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const EACH = 6;
/** Between the stop at the moment of a phase and the kill: what was written until then has arrived and taken effect. */
const STOPPED_MS = 300;
const REACH_MS = 60_000;
const SETTLE_MS = 90_000;
/**
 * Until the other one works on what the dead worker had not claimed: its hold on the lane lasts 5 s, BullMQ looks for
 * stalled jobs as often, and the sweep forces a lane that has been due for 5 s.
 */
const NEXT_OWNER_MS = { quick: 30_000, long: 15_000 };
/** What it had claimed may be in flight: the lease of 20 s, and the sweep a second later. */
const CLAIMED_MS = 40_000;

/** kill -9 of the worker that holds a message, in each phase, and the time until the other one has it. */
export const takeover: Scenario = {
  name: 'takeover',
  goal: 'G9: kill -9 of the worker in each phase; next owner of what it had not claimed after 15 s (quick: 30 s), of what it had 40 s (lease 20 s)',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const rounds = context.quick ? 1 : 25;
  const phases = Object.keys(PHASES) as Phase[];
  const stage = await FaultStage.set(context, scope, {
    lanes: phases.length * rounds,
    messagesPerSecond: 50,
    recipients: EACH,
    latencyMs: 200,
    workers: 2,
    proxied: true,
  });
  const late: string[] = [];
  const acknowledged: string[] = [];
  const unclaimedMs: number[] = [];
  const claimedMs: number[] = [];
  let killedAt = performance.now();
  for (const [n, connection] of stage.workspace.connections.entries()) {
    const phase = phases[n % phases.length] ?? 'claiming';
    const trap = setTrap(stage, phase);
    const ids: string[] = [];
    for (let i = 0; i < EACH; i++) ids.push((await stage.caller.send(connection, i)).messageId);
    acknowledged.push(...ids);
    const died = await waitFor(`a worker to be ${phase}`, trap.killed, { timeoutMs: REACH_MS, everyMs: 5 }).catch(
      () => null,
    );
    if (died === null) {
      late.push(`no worker was seen ${phase}`);
      trap.disarm();
      continue;
    }
    killedAt = performance.now();
    const { unclaimed, claimed } = await settledAfter(stage, ids, died);
    unclaimedMs.push(...unclaimed);
    claimedMs.push(...claimed);
    context.say(`${phase}: next owner after ${worst(unclaimed)} ms, claimed ones settled after ${worst(claimed)} ms`);
    died.worker.revive();
    await died.worker.ready();
  }
  const recoveredMs = await stage.recoveredAfter(killedAt);
  const limitMs = context.quick ? NEXT_OWNER_MS.quick : NEXT_OWNER_MS.long;
  // None: the other worker had already claimed them all before the kill.
  const [nextOwner, settled] = [unclaimedMs, claimedMs].map((all) =>
    all.length === 0 ? 0 : percentile(all, 0.99),
  ) as [number, number];
  if (nextOwner > limitMs) late.push(`the next owner came after ${nextOwner} ms, more than ${limitMs}`);
  if (settled > CLAIMED_MS) late.push(`claimed messages were settled after ${settled} ms`);
  const report = reportOf({
    faults: phases.length * rounds,
    attempted: acknowledged.length,
    judgement: await stage.judge(acknowledged),
    recoveredMs,
    late,
    notes: {
      unclaimed: unclaimedMs.length,
      next_owner_p99_ms: nextOwner,
      claimed_settled_p99_ms: settled,
      kills: phases.length * rounds,
    },
  });
  return { ...report, recovered_ms: Math.max(nextOwner, settled) };
}

interface Death {
  worker: HeraldProcess;
  /** From here on it did nothing any more. */
  stoppedAt: Date;
  /** By then what it had written has taken effect. */
  killedAt: Date;
}

/** The first worker that gets there dies; the other one lives. */
function setTrap(stage: FaultStage, phase: Phase) {
  let died: Death | null = null;
  let caught = false;
  const disarms = stage.workers.map((worker, n) => {
    const links = stage.links[n + 1];
    if (links === undefined) throw new Error(`worker ${n} has no proxies`);
    return atPhase(phase, links, () => {
      if (caught) return;
      caught = true;
      // Stopped first, so that it reads no answer and comes no further.
      worker.child.signal('SIGSTOP');
      const stoppedAt = new Date();
      setTimeout(() => {
        died = { worker, stoppedAt, killedAt: new Date() };
        worker.child.signal('SIGKILL');
      }, STOPPED_MS);
    });
  });
  const disarm = () => disarms.forEach((one) => one());
  return {
    killed: () => {
      if (died !== null) disarm();
      return died;
    },
    disarm,
  };
}

/** Milliseconds from the stop until each message's next attempt began, or where the dead worker had claimed it, until it was settled. */
async function settledAfter(
  stage: FaultStage,
  ids: readonly string[],
  { stoppedAt, killedAt }: Death,
): Promise<{ unclaimed: number[]; claimed: number[] }> {
  const { pool } = stage.stage.database;
  const read = async () => {
    const { rows } = await pool.query<{ open: boolean; claimed: boolean; ms: number | null }>(
      `select m.status in ('queued', 'processing') as open, coalesce(a.started_at <= $2, false) as claimed,
         (extract(epoch from (case when a.started_at <= $2 then a.finished_at else a.started_at end) - $3) * 1000)::float8 as ms
       from message_view m left join message_attempt_view a on a.message_id = m.id and a.number = 1 where m.id = any($1)`,
      [ids, killedAt, stoppedAt],
    );
    return rows;
  };
  await waitFor(
    'all messages of a lane to be settled',
    async () => ((await read()).every((row) => !row.open) ? true : null),
    { timeoutMs: SETTLE_MS },
  ).catch(() => undefined);
  await pause(100);
  const rows = await read();
  const of = (claimed: boolean) =>
    rows.filter((row) => row.claimed === claimed).map((row) => Math.round(row.ms ?? SETTLE_MS));
  return { unclaimed: of(false), claimed: of(true) };
}

function worst(values: readonly number[]): string {
  return values.length === 0 ? 'no' : String(Math.max(...values));
}
