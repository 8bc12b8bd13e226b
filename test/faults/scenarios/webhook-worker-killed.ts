import type { FaultReport } from '../../support/rig/fault-result.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { Stage } from '../../support/rig/stage.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { Receiver } from '../webhook-receiver.js';
import { WebhookStorm, type RunStatement, type StormEndpoint } from '../webhook-storm.js';

const ENDPOINTS = 200;
const PROGRESS_MS = 90_000;
const GIVE_UP_MS = 300_000;

/** kill -9 of the worker while it delivers to endpoints that fail at random. */
export const webhookWorkerKilled: Scenario = {
  name: 'webhook-worker-killed',
  longOnly: true,
  goal: "G14: kill -9 of the webhooks' worker; 0 events lost, repeats only of what was not acknowledged",
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [kills, eachMany] = context.quick ? [5, 20] : [20, 100];
  const stage = await Stage.set(scope, context.postgres, 'webhooks', {
    settings: {
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      ...(context.redisUrl === null ? {} : { REDIS_URL: context.redisUrl, QUEUE_PREFIX: 'webhooks' }),
    },
  });
  const receiver = await Receiver.start();
  scope.defer(() => receiver.stop());
  const query: RunStatement = async <R extends Record<string, unknown>>(sql: string, params: readonly unknown[] = []) =>
    (await stage.database.pool.query<R>(sql, [...params])).rows;
  const storm = new WebhookStorm(query, receiver);

  const api = await stage.herald('api');
  const endpoints: StormEndpoint[] = [];
  for (let n = 0; n < ENDPOINTS; n++) endpoints.push(await subscribe(stage, api.url, receiver, `/endpoint/${n}`));
  await storm.emit(endpoints, eachMany);
  const events = ENDPOINTS * eachMany;
  const worker = await stage.herald('worker');
  const hurry = storm.hurry();

  const violations: string[] = [];
  const late: string[] = [];
  for (let kill = 1; kill <= kills; kill++) {
    const share = Math.floor((events * 0.7) / kills);
    const before = storm.acknowledged;
    const goesOn = () => (storm.acknowledged >= Math.min(before + share, events) ? true : null);
    await waitFor('deliveries to go out', goesOn, { timeoutMs: PROGRESS_MS, everyMs: 5 }).catch(() => {
      late.push(`nothing went out before kill ${kill}: it showed nothing`);
    });
    await pause(randomBetween(0, 50));
    await storm.kill(() => worker.child.kill());
    worker.revive();
    context.say(`kill ${kill} of ${kills}: ${storm.acknowledged} of ${events} acknowledged so far`);
  }
  const killedAt = performance.now();
  const done = async () => ((await storm.open()) === 0 ? true : null);
  await waitFor('every event to be settled', done, { timeoutMs: GIVE_UP_MS, everyMs: 200 }).catch(() => {
    violations.push('not every event was settled');
  });
  const recoveredMs = performance.now() - killedAt;
  const verdict = await storm.judge();
  await hurry;
  context.say(JSON.stringify(verdict));
  if (verdict.events !== events) violations.push(`${events} events were written as ${verdict.events}`);
  if (verdict.lost > 0) violations.push(`${verdict.lost} events were neither acknowledged nor exhausted`);
  if (verdict.untrue > 0) violations.push(`${verdict.untrue} were called delivered and never arrived`);
  if (verdict.unverifiable > 0) violations.push(`${verdict.unverifiable} deliveries could not be verified`);
  if (verdict.repeatedWithoutKill > 0) violations.push(`${verdict.repeatedWithoutKill} repeats without a reason`);
  return {
    faults: kills,
    attempted: events,
    acknowledged: verdict.acknowledged,
    lost: verdict.lost,
    // Deliveries are at least once: repeats of what a kill left unrecorded are as promised.
    duplicated: verdict.repeatedWithoutKill,
    unknown: 0,
    recovered_ms: Math.round(recoveredMs),
    violations,
    late,
  };
}

async function subscribe(stage: Stage, apiUrl: string, receiver: Receiver, path: string): Promise<StormEndpoint> {
  const { organizationId, apiKey } = await stage.workspaces.create(0);
  const response = await fetch(`${apiUrl}/api/v1/webhook`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url(path) }),
  });
  if (response.status !== 200) throw new Error(`PUT /webhook answered ${response.status}: ${await response.text()}`);
  const { data } = (await response.json()) as { data: { secret: string } };
  return { organizationId, path, secret: data.secret };
}
