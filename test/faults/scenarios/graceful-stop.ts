import { randomUUID } from 'node:crypto';
import type { FaultReport } from '../../support/rig/fault-result.js';
import type { HeraldProcess } from '../../support/rig/herald.js';
import { pause } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import { headerOf, HttpCaller, messageRequest, Violations } from '../http-caller.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const CLIENTS = 16;
const LANES = 10;
const RECIPIENTS = 200;
const EXIT_MS = 10_000;
/** About 300 requests a second of all clients together. */
const BETWEEN_MS = 50;
const LOOK_MS = 20;

/** SIGTERM of api and worker while both are at work. */
export const gracefulStop: Scenario = {
  name: 'graceful-stop',
  longOnly: true,
  goal: 'G27: SIGTERM under load; broken or failed requests 0, exit within 10 s, 0 to outcome_unknown, not ready before it is away',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const stops = context.quick ? 3 : 25;
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 20,
    recipients: RECIPIENTS,
    latencyMs: 40,
    settings: { SHUTDOWN_DRAIN_MS: '2000' },
  });
  const { apiKey, connections } = stage.workspace;
  const caller = new HttpCaller(scope, stage.api.url, CLIENTS);
  const violations = new Violations();
  const acknowledged: string[] = [];
  const mayEnd = new AbortController();
  const balancer = { ready: true };
  let [attempted, refused, closing] = [0, 0, 0];

  const client = async (): Promise<void> => {
    while (!mayEnd.signal.aborted) {
      // As behind a balancer: nothing new goes to a process that says that it is not ready.
      if (!balancer.ready) {
        await pause(LOOK_MS);
        continue;
      }
      const n = attempted++;
      const connection = connections[n % LANES];
      if (connection === undefined) return;
      const answer = await caller.call(messageRequest(apiKey, connection, n % RECIPIENTS, randomUUID()));
      if (answer.status === 202) {
        acknowledged.push((JSON.parse(answer.text) as { data: { id: string } }).data.id);
        if (headerOf(answer, 'connection') === 'close') closing++;
      } else if (answer.refused) refused++;
      else violations.add(answer.status === 0 ? `broke: ${answer.text}` : `answered ${answer.status}`);
      await pause(randomBetween(0, 2 * BETWEEN_MS));
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  clients.catch(() => undefined); // awaited below; until then a failure must not end the process

  let [longestMs, stoppedAt, notReady] = [0, performance.now(), 0];
  for (let stop = 1; stop <= stops; stop++) {
    await pause(randomBetween(300, 1_000));
    const before = closing;
    const [api, worker] = await Promise.all([stopped(stage.api, balancer), stopped(stage.worker)]);
    stoppedAt = performance.now();
    longestMs = Math.max(longestMs, api.ms, worker.ms);
    notReady += api.notReady;
    if (api.notReady === 0) violations.late('a stop during which readiness never failed');
    if (closing === before) violations.late('a stop during which no answer had Connection: close');
    stage.api.revive();
    stage.worker.revive();
    await Promise.all([stage.api.ready(), stage.worker.ready()]);
    balancer.ready = true;
    context.say(`stop ${stop} of ${stops}: api ${Math.round(api.ms)} ms, worker ${Math.round(worker.ms)} ms`);
  }
  mayEnd.abort();
  await clients;
  if (longestMs > EXIT_MS) violations.late(`an exit took ${Math.round(longestMs)} ms`);
  const recoveredMs = await stage.recoveredAfter(stoppedAt);
  const judgement = await stage.judge(acknowledged);
  if (judgement.unknown > 0) violations.add(`${judgement.unknown} messages ended in outcome_unknown`);
  return reportOf({
    faults: stops * 2,
    attempted,
    judgement,
    recoveredMs,
    violations: violations.list(),
    late: violations.lateOnes,
    notes: { longest_exit_ms: Math.round(longestMs), not_taken: refused, not_ready_answers: notReady },
  });
}

/** SIGTERM, and a poll of readiness until the end, as a load balancer does. */
async function stopped(
  herald: HeraldProcess,
  balancer: { ready: boolean } | null = null,
): Promise<{ ms: number; notReady: number }> {
  const startedAt = performance.now();
  const ended = herald.child.stop();
  let over = false;
  void ended.then(() => (over = true));
  let notReady = 0;
  while (!over) {
    const answer = await fetch(`${herald.url}/health/ready`, { headers: { connection: 'close' } }).catch(() => null);
    await answer?.arrayBuffer().catch(() => undefined);
    if (answer?.status === 503) notReady++;
    if (answer?.status !== 200 && balancer !== null) balancer.ready = false;
    await pause(LOOK_MS);
  }
  return { ms: performance.now() - startedAt, notReady };
}
