import type { FaultReport } from '../../support/rig/fault-result.js';
import { Stage } from '../../support/rig/stage.js';
import { pause } from '../../support/rig/wait.js';
import { headerOf, HttpCaller, Violations, type HttpAnswer } from '../http-caller.js';
import type { FaultContext, Scenario } from '../scenario.js';

const PROCESSES = 4;
const CONNECTIONS = 50;
/**
 * What a process holds of a bucket it lets go of after five seconds, later where it stands still; a wave begins with
 * all of it in one place.
 */
const SETTLE_MS = 7_000;
const TOKEN = 'rate-limits';
const POLICY = /^"default";q=(\d+);w=(\d+)$/;
const STATE = /^"default";r=(\d+);t=(\d+)$/;

interface Limits {
  rate: number;
  burst: number;
}

/** One key, asked for at once in four processes. */
export const rateLimits: Scenario = {
  name: 'rate-limits',
  goal: 'G24: one limit over 4 processes; allowed within limit + rate × time + 1 and limit - 1, Retry-After never too early',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [policies, requests] = context.quick ? [POLICIES.slice(0, 3), 800] : [POLICIES, 5_000];
  const stage = await Stage.set(scope, context.postgres, 'rates', { settings: { METRICS_TOKEN: TOKEN } });
  const processes = await Promise.all(Array.from({ length: PROCESSES }, () => stage.herald('api')));
  const callers = processes.map(({ url }) => new HttpCaller(scope, url, CONNECTIONS));
  const violations = new Violations();
  let [attempted, allowedInAll, aloneInAll] = [0, 0, 0];
  for (const limits of policies) {
    const apiKey = await keyWith(stage, limits);
    // Fresh, then after two seconds of rest: the first wave finds no bucket, the second one that processes held parts of.
    for (const wave of ['first', 'second']) {
      const before = await countedAlone(callers);
      const { allowed, seconds } = await strike(callers, apiKey, requests, limits, violations);
      attempted += requests;
      allowedInAll += allowed;
      // On a machine too slow for an exchange within a second a process continues alone, with a burst of its own.
      const alone = (await countedAlone(callers)) - before;
      aloneInAll += alone;
      const most = limits.burst * (1 + alone) + limits.rate * seconds + 1;
      const least = Math.min(requests, limits.burst - 1);
      const words = `${limits.rate}/s, burst ${limits.burst}, ${wave} wave: ${allowed} of ${requests} in ${seconds.toFixed(2)} s`;
      context.say(words);
      if (allowed > most) violations.add(`${words}, more than ${most.toFixed(1)}`);
      if (allowed < least) violations.late(`${words}, less than ${least}`);
      if (wave === 'first') await pause(SETTLE_MS + (limits.burst / limits.rate) * 1_000);
    }
  }
  return {
    faults: 0,
    attempted,
    acknowledged: allowedInAll,
    lost: 0,
    duplicated: 0,
    unknown: 0,
    recovered_ms: null,
    violations: violations.list(),
    late: violations.lateOnes,
    notes: { processes: PROCESSES, policies: policies.length, counted_alone: aloneInAll },
  };
}

const POLICIES: readonly Limits[] = [
  { rate: 20, burst: 40 },
  { rate: 50, burst: 100 },
  { rate: 200, burst: 300 },
  ...[1, 5, 10, 100, 1_000].flatMap((rate) => [
    { rate: rate * 2, burst: rate * 2 },
    { rate: rate * 2, burst: rate * 4 },
    { rate: rate * 3, burst: rate * 9 },
  ]),
];

async function keyWith(stage: Stage, { rate, burst }: Limits): Promise<string> {
  const { organizationId, apiKey } = await stage.workspaces.create(0);
  await stage.database.pool.query('update organization set rate_per_second = $2, rate_burst = $3 where id = $1', [
    organizationId,
    rate,
    burst,
  ]);
  return apiKey;
}

async function strike(
  callers: readonly HttpCaller[],
  apiKey: string,
  requests: number,
  limits: Limits,
  violations: Violations,
): Promise<{ allowed: number; seconds: number }> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const startedAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: requests }, (_, i) =>
      (callers[i % callers.length] as HttpCaller).call({ path: '/api/v1/connections', headers }),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const answer of answers) {
    if (answer.status === 0) violations.add(`no answer: ${answer.text}`);
    else if (answer.status === 200 || answer.status === 429) checkHeaders(answer, limits, violations);
    else violations.add(`answered ${answer.status}: ${answer.text.slice(0, 120)}`);
  }
  return { allowed: answers.filter(({ status }) => status === 200).length, seconds };
}

function checkHeaders(answer: HttpAnswer, { rate, burst }: Limits, violations: Violations): void {
  const policy = POLICY.exec(headerOf(answer, 'ratelimit-policy') ?? '');
  const state = STATE.exec(headerOf(answer, 'ratelimit') ?? '');
  if (policy === null || state === null) {
    violations.add(`headers that do not parse: ${headerOf(answer, 'ratelimit')}`);
    return;
  }
  const [quota, window, left, reset] = [policy[1], policy[2], state[1], state[2]].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  if (quota !== burst || window !== Math.max(1, Math.ceil(burst / rate))) violations.add(`policy ${policy[0]}`);
  if (left > quota) violations.add(`r=${left} of q=${quota}`);
  if (answer.status === 200) return;
  const retryAfter = Number(headerOf(answer, 'retry-after') ?? Number.NaN);
  if (!(retryAfter >= reset)) violations.add(`Retry-After ${retryAfter} is before t=${reset}`);
  if (left !== 0) violations.add(`a 429 with r=${left}`);
}

/** How often a process could not reach the shared buckets in time and went on by itself. */
async function countedAlone(callers: readonly HttpCaller[]): Promise<number> {
  const texts = await Promise.all(
    callers.map((caller) => caller.call({ path: '/metrics', headers: { authorization: `Bearer ${TOKEN}` } })),
  );
  return texts
    .map((answer) => (answer.status === 200 ? /^herald_rate_limit_alone_total (\d+)$/m.exec(answer.text)?.[1] : '0'))
    .reduce((sum, count) => sum + Number(count ?? 0), 0);
}
