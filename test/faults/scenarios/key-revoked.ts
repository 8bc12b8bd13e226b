import { randomInt } from 'node:crypto';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { Stage } from '../../support/rig/stage.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { newKey } from '../../../src/infrastructure/access/api-key-format.js';
import { forEachOf } from '../caller.js';
import { HttpCaller, Violations } from '../http-caller.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';

const PATH = '/api/v1/connections';
/** Within this time every process refuses a revoked key (docs/limits.md). */
const LIMIT_MS = 5_000;
const WATCHED_MS = 6_000;
const GIVE_UP_MS = 40_000;
const BETWEEN_MS = 30;
/** Keys are revoked while two processes are asked with them, with and without the notice that empties their caches. */
export const keyRevoked: Scenario = {
  name: 'key-revoked',
  goal: 'G21: revoked under load over 2 processes; accepted later than 5 s 0, random tokens accepted 0, reads for a bad checksum 0',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [revocations, tokens] = context.quick ? [30, 2_000] : [300, 50_000];
  const stage = await Stage.set(scope, context.postgres, 'keys', {
    settings: { AUTH_FAILURES_PER_MINUTE: '100000' },
  });
  const processes = await Promise.all([stage.herald('api'), stage.herald('api')]);
  const callers = processes.map(({ url }) => new HttpCaller(scope, url, 32));
  const violations = new Violations();
  const revoked = await revokeAll(context, stage, callers, revocations, violations);
  context.say(`${revocations} revoked; last accepted ${Math.round(revoked.longestMs)} ms after`);
  const guesses = await guess(callers, tokens, violations);
  const reads = await readsForBadChecksums(stage, callers, tokens, violations);
  return {
    faults: revocations,
    attempted: revoked.requests + guesses + tokens,
    acknowledged: revoked.accepted,
    lost: 0,
    duplicated: 0,
    unknown: 0,
    recovered_ms: revoked.longestMs,
    violations: violations.list(),
    notes: { revocations, random_tokens: guesses, tokens_with_bad_checksum: tokens, reads_for_them: reads },
  };
}

async function revokeAll(
  context: FaultContext,
  stage: Stage,
  callers: readonly HttpCaller[],
  revocations: number,
  violations: Violations,
): Promise<{ requests: number; accepted: number; longestMs: number }> {
  let [requests, accepted, longestMs] = [0, 0, 0];
  await forEachOf(revocations, context.quick ? revocations : 60, async (n) => {
    const { apiKey } = await stage.workspaces.create(0);
    const headers = { authorization: `Bearer ${apiKey}` };
    const id = apiKey.split('_')[2] ?? '';
    let revokedAt = Infinity;
    let seenAlive = 0;
    const revoke = pause(randomBetween(200, 2_000)).then(async () => {
      await waitFor('the key to be used', () => (seenAlive > callers.length ? true : null), { timeoutMs: 20_000 });
      await revokeKey(stage, id, n % 2 === 0);
      revokedAt = performance.now();
    });
    revoke.catch(() => undefined); // awaited below
    const giveUpAt = performance.now() + GIVE_UP_MS;
    for (let turn = n; performance.now() < Math.min(revokedAt + WATCHED_MS, giveUpAt); turn++) {
      const sentAt = performance.now();
      const answer = await (callers[turn % callers.length] as HttpCaller).call({ path: PATH, headers });
      requests++;
      if (answer.status === 200) {
        accepted++;
        if (sentAt < revokedAt) seenAlive++;
        else longestMs = Math.max(longestMs, sentAt - revokedAt);
        if (sentAt > revokedAt + LIMIT_MS) violations.add('a revoked key was accepted after more than 5 s');
      } else if (answer.status !== 401) violations.add(`answered ${answer.status}`);
      await pause(BETWEEN_MS);
    }
    await revoke;
  });
  return { requests, accepted, longestMs };
}

/** As the service does it; without the notice, as where the listening connection was down just then. */
async function revokeKey({ database }: Stage, id: string, notice: boolean): Promise<void> {
  await database.pool.query(
    `with revoked as (update api_key set revoked_at = clock_timestamp() where id = $1 returning id)
     select case when $2::boolean then pg_notify('herald_cache', 'api_key ' || id) end from revoked`,
    [id, notice],
  );
}

/** Well-formed tokens that were never issued. */
async function guess(callers: readonly HttpCaller[], tokens: number, violations: Violations): Promise<number> {
  await forEachOf(tokens, 32, async (n) => {
    await ask(callers, n, newKey(n % 2 === 0 ? 'live' : 'test').text, violations);
  });
  return tokens;
}

/**
 * Mistyped tokens, while the table of keys is out of reach: a query of it fails, and the answer is no 401.
 * Returns how many did.
 */
async function readsForBadChecksums(
  { database }: Stage,
  callers: readonly HttpCaller[],
  tokens: number,
  violations: Violations,
): Promise<number> {
  await database.pool.query('alter table api_key rename to api_key_away');
  const control = await statusOf(callers, 0, newKey('live').text);
  if (control < 500) violations.add(`without its table a well-formed token is answered ${control}: nothing was shown`);
  let reads = 0;
  await forEachOf(tokens, 32, async (n) => {
    if ((await statusOf(callers, n, mistyped(newKey('live').text))) !== 401) reads++;
  });
  await database.pool.query('alter table api_key_away rename to api_key');
  if (reads > 0) violations.add(`the table of keys was read for ${reads} mistyped tokens`);
  return reads;
}

async function ask(callers: readonly HttpCaller[], n: number, token: string, violations: Violations): Promise<void> {
  const status = await statusOf(callers, n, token);
  if (status !== 401) violations.add(`a token that was never given out is answered ${status}`);
}

async function statusOf(callers: readonly HttpCaller[], n: number, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await (callers[n % callers.length] as HttpCaller).call({ path: PATH, headers })).status;
}

function mistyped(token: string): string {
  const at = randomInt(token.indexOf('_', 5) + 1, token.length - 6);
  const other = token[at] === 'A' ? 'B' : 'A';
  return token[at] === '_' ? mistyped(token) : `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
}
