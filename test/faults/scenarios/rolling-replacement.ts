import { randomUUID } from 'node:crypto';
import { startCaddy } from '../../support/rig/caddy.js';
import { LeftOut, type FaultReport } from '../../support/rig/fault-result.js';
import { freePort } from '../../support/rig/free-port.js';
import type { HeraldProcess } from '../../support/rig/herald.js';
import { hasPgBouncer, PgBouncer } from '../../support/rig/pgbouncer.js';
import { hasRedis, startRedis } from '../../support/rig/redis.js';
import { pause } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import { HttpCaller, messageRequest, Violations, type HttpAnswer } from '../http-caller.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const CLIENTS = 12;
const LANES = 10;
const RECIPIENTS = 200;
/** Mean pause of a client: about 240 requests a second of all together. */
const BETWEEN_MS = 50;
/** Of each phase before the first and after the last replacement, and of the time between two. */
const CALM_MS = 1_000;
const EXIT_MS = 10_000;
const ADDRESSES = ['127.0.0.2', '127.0.0.3'] as const;

/**
 * What compose.yaml runs, as plain processes: two api, two workers, Caddy with deploy/Caddyfile, PgBouncer, Redis, PostgreSQL. Each
 * of the four Herald processes is replaced in turn, workers first, while clients call through Caddy and the platform reports
 * through it. A client does not repeat what failed.
 */
export const rollingReplacement: Scenario = {
  name: 'rolling-replacement',
  goal: 'two api and two workers behind Caddy and PgBouncer replaced one by one under load; 0 failed requests, 0 lost, 0 sent twice, 0 to outcome_unknown',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

interface Phase {
  name: string;
  requests: number;
  failed: number;
  slowestMs: number;
}

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  if (!(await hasPgBouncer())) throw new LeftOut('pgbouncer is not installed');
  if (context.redisUrl === null && !(await hasRedis())) throw new LeftOut('redis-server is not installed');
  const apiPort = await freePort();
  const { url: site } = await startCaddy(scope, ADDRESSES, apiPort);
  const redisUrl = context.redisUrl ?? (await startRedis(scope));
  let via: { databaseUrl: string; settings: Record<string, string> } | undefined;
  const stage = await FaultStage.set({ ...context, redisUrl }, scope, {
    apiPort,
    lanes: LANES,
    messagesPerSecond: 40,
    recipients: RECIPIENTS,
    latencyMs: 30,
    workers: 2,
    databaseVia: async (url) => {
      const pooler = await PgBouncer.ofDeploy(scope, url);
      via = { databaseUrl: pooler.through(url), settings: { DATABASE_DIRECT_URL: url } };
      return via;
    },
    notifyVia: () => `${site}/platform/whatsapp/webhook`,
    settings: { HOST: ADDRESSES[0], TRUST_PROXY: '1', SHUTDOWN_DRAIN_MS: '2000' },
  });
  const secondApi = await stage.stage.herald('api', {
    port: apiPort,
    ...via,
    settings: { HOST: ADDRESSES[1], ...via?.settings },
  });

  const { apiKey, connections } = stage.workspace;
  const caller = new HttpCaller(scope, site, CLIENTS);
  const violations = new Violations();
  const acknowledged: string[] = [];
  const phases: Phase[] = [];
  let attempted = 0;
  const begin = (name: string): void => void phases.push({ name, requests: 0, failed: 0, slowestMs: 0 });
  const note = (answer: HttpAnswer, wanted: number): boolean => {
    const phase = phases.at(-1);
    if (phase === undefined) return false;
    phase.requests++;
    phase.slowestMs = Math.max(phase.slowestMs, Math.round(answer.ms));
    if (answer.status === wanted) return true;
    phase.failed++;
    violations.add(
      `during "${phase.name}" a request ${answer.status === 0 ? `broke: ${answer.text}` : `got ${answer.status}: ${answer.text.replace(/"request_id":"[^"]*"/, '').slice(0, 120)}`}`,
    );
    return false;
  };
  const mayEnd = new AbortController();
  const client = async (): Promise<void> => {
    while (!mayEnd.signal.aborted) {
      const n = attempted++;
      const connection = connections[n % LANES];
      if (connection === undefined) return;
      const answer = await caller.call(messageRequest(apiKey, connection, n % RECIPIENTS, randomUUID()));
      if (note(answer, 202)) {
        const { id } = (JSON.parse(answer.text) as { data: { id: string } }).data;
        acknowledged.push(id);
        // By either api: it reads what the other may have written.
        const headers = { authorization: `Bearer ${apiKey}` };
        note(await caller.call({ path: `/api/v1/messages/${id}`, headers }), 200);
      }
      await pause(randomBetween(0, 2 * BETWEEN_MS));
    }
  };
  begin('before');
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  clients.catch(() => undefined); // awaited below; until then a failure must not end the process

  let longestMs = 0;
  const [firstWorker, secondWorker] = stage.workers;
  const turns: [string, HeraldProcess | undefined][] = [
    ['worker 1', firstWorker],
    ['worker 2', secondWorker],
    ['api 1', stage.api],
    ['api 2', secondApi],
  ];
  const rounds = context.quick ? 1 : 5;
  for (let round = 0; round < rounds; round++) {
    for (const [name, herald] of turns) {
      if (herald === undefined) throw new Error(`there is no ${name}`);
      await pause(CALM_MS);
      begin(name);
      const stoppedAt = performance.now();
      await herald.child.stop();
      longestMs = Math.max(longestMs, performance.now() - stoppedAt);
      herald.revive();
      await herald.ready();
    }
    begin('after');
  }
  await pause(CALM_MS);
  mayEnd.abort();
  await clients;
  const stoppedAt = performance.now();
  for (const { name, requests, failed, slowestMs } of phases) {
    context.say(`${name}: ${requests} requests, ${failed} failed, the slowest ${slowestMs} ms`);
    if (requests === 0) violations.add(`no request during "${name}"`);
  }
  if (longestMs > EXIT_MS) violations.add(`an exit took ${Math.round(longestMs)} ms`);
  const recoveredMs = await stage.recoveredAfter(stoppedAt);
  const judgement = await stage.judge(acknowledged);
  if (judgement.unknown > 0) violations.add(`${judgement.unknown} messages ended in outcome_unknown`);
  return reportOf({
    faults: rounds * turns.length,
    attempted,
    judgement,
    recoveredMs,
    violations: violations.list(),
    notes: {
      requests: phases.reduce((sum, { requests }) => sum + requests, 0),
      failed: phases.reduce((sum, { failed }) => sum + failed, 0),
      slowest_ms: Math.max(...phases.map(({ slowestMs }) => slowestMs)),
      longest_exit_ms: Math.round(longestMs),
    },
  });
}
