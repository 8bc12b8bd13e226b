import type { FaultReport } from '../../support/rig/fault-result.js';
import { CODE_SETTINGS, CodeProject } from '../../support/rig/codes.js';
import { freePort } from '../../support/rig/free-port.js';
import { recipientNumber } from '../../support/rig/recipients.js';
import { Stage } from '../../support/rig/stage.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { judgeCodes, type JudgedCode } from '../../support/rig/judge-codes.js';
import { RECOVERY_LIMIT_MS } from '../fault-stage.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';

const CODES_PER_SECOND = 40;
const EVERY_MS = 50;
const LATENCY_MS = 80;
/** A killed worker's lane is free again five seconds later, and BullMQ sees its job stalled after as long. */
const PROGRESS_MS = 90_000;
const GIVE_UP_MS = 60_000;
const NOTIFICATIONS_MS = 30_000;
/** Refused; failed later; 429 twice; cut without an answer; 500 and not taken; read without delivered. */
const SCENARIOS = ['0003', '0002', '0004', '0005', '0006', '0009'];

/** kill -9 of the worker, again and again, while codes are in flight: a code is sent once or not at all. */
export const otpWorkerKilled: Scenario = {
  name: 'otp-worker-killed',
  longOnly: true,
  goal: 'G4, one-time codes: kill -9 of the worker; 0 lost, 0 sent twice',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const kills = context.quick ? 5 : 20;
  const apiPort = await freePort();
  const stage = await Stage.set(scope, context.postgres, 'codes', {
    simulator: { statuses: 'on', webhookUrl: `http://127.0.0.1:${apiPort}/platform/whatsapp/webhook` },
    settings: {
      ...CODE_SETTINGS,
      ...(context.redisUrl === null ? {} : { REDIS_URL: context.redisUrl, QUEUE_PREFIX: `codes-${apiPort}` }),
    },
  });
  await stage.simulator.control('POST', 'faults', { latency_ms: LATENCY_MS });
  const project = await CodeProject.seed(stage.database.pool, stage.simulator, CODES_PER_SECOND);
  const api = await stage.herald('api', apiPort);
  const worker = await stage.herald('worker');

  const acknowledged: string[] = [];
  const violations: string[] = [];
  const late: string[] = [];
  let attempted = 0;
  let killing = true;
  const accepting = (async () => {
    while (killing) {
      const id = await project.send(api.url, numberOf(attempted++)).then((code) => code.id);
      acknowledged.push(id);
      await pause(EVERY_MS);
    }
  })();
  accepting.catch(() => undefined); // awaited below; until then a failure must not end the process

  for (let kill = 1; kill <= kills; kill++) {
    const before = await stage.simulator.count();
    const goesOn = async () => ((await stage.simulator.count()) >= before + 10 ? true : null);
    await waitFor('codes to go out', goesOn, { timeoutMs: PROGRESS_MS, everyMs: 10 }).catch(() => {
      late.push(`nothing went out before kill ${kill}: it showed nothing`);
    });
    // Anywhere: between claim and request, in flight, between answer and outcome.
    await pause(randomBetween(0, 200));
    await worker.child.kill();
    worker.revive();
    context.say(`kill ${kill} of ${kills}: ${await stage.simulator.count()} of ${acknowledged.length} taken so far`);
  }
  const killedAt = performance.now();
  killing = false;
  await accepting;
  const recoveredMs = await recoveredAfter(stage, killedAt);
  if (recoveredMs > RECOVERY_LIMIT_MS) late.push(`recovery took ${Math.round(recoveredMs)} ms`);

  const judgement = judgeCodes({ acknowledged, failsLater: (to) => to.endsWith('0002'), ...(await evidence(stage)) });
  context.say(`${JSON.stringify(judgement.states)}, ${judgement.givenBack} given back`);
  return {
    faults: kills,
    attempted,
    acknowledged: acknowledged.length,
    lost: judgement.lost,
    duplicated: judgement.duplicated,
    unknown: judgement.unknown,
    recovered_ms: Math.round(recoveredMs),
    violations: [...violations, ...judgement.violations],
    late,
  };
}

/** A number for each code; every eighth plays one of the simulator's scenarios. */
function numberOf(n: number): string {
  const scenario = SCENARIOS[Math.floor(n / 8) % SCENARIOS.length] ?? '';
  return n % 8 === 7 ? `4915${String(n).padStart(5, '0')}${scenario}` : recipientNumber(n);
}

async function recoveredAfter({ database }: Stage, killedAt: number): Promise<number> {
  const open = `select 1 from otp_challenge where status in ('queued', 'sending') limit 1`;
  const none = async () => ((await database.pool.query(open)).rowCount === 0 ? true : null);
  await waitFor('every code to have a final state', none, { timeoutMs: GIVE_UP_MS }).catch(() => null);
  return performance.now() - killedAt;
}

/** The state of the database and the platform once the platform has sent all notifications. */
async function evidence({ database, simulator }: Stage) {
  const allSent = async () => ((await simulator.pendingNotifications()) === 0 ? true : null);
  await waitFor('the platform to report', allSent, { timeoutMs: NOTIFICATIONS_MS }).catch(() => null);
  const { rows: codes } = await database.pool.query<JudgedCode>(
    `select id, recipient, status, attempt_id as "attemptId", released_at is not null as "givenBack" from otp_challenge`,
  );
  const { rows } = await database.pool.query<{ reserved: number; used: number }>(
    'select reserved, used from otp_package',
  );
  return { codes, counts: rows[0] ?? { reserved: 0, used: 0 }, taken: await simulator.taken() };
}
