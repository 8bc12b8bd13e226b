import type { FaultReport } from '../../support/rig/fault-result.js';
import { percentile } from '../../support/rig/figures.js';
import type { HeraldProcess } from '../../support/rig/herald.js';
import { seedConversations, seedFailed, seedQueued } from '../../support/rig/seed-messages.js';
import { sendText } from '../../support/rig/send-text.js';
import { Stage } from '../../support/rig/stage.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import type { SeededWorkspace } from '../../support/rig/workspace.js';
import type { FaultContext, Scenario } from '../scenario.js';

/** Failed messages of the greedy workspace: of its one large tag, and of its many others together. */
const LARGE = { quick: 20_000, whole: 100_000 };
const TAGS = 1_000;
const OF_TAGS = 10_000;
const SEEDED_AT_ONCE = 20_000;
const RECIPIENTS = 1_000;
/** Messages of a tag of the other workspace. */
const SMALL = 50;
const ACTION_MS = 2_000;
/** An action that takes longer has missed; this says by how much. */
const PATIENCE_MS = 60_000;
const TIMES = 1.5;
const MORE_MS = 50;
const BETWEEN_MS = 50;
const ACTIONS = ['resume', 'cancel', 'retry'] as const;
const KINDS = ['sends', 'reads'] as const;

type Action = (typeof ACTIONS)[number];
type Kind = (typeof KINDS)[number];

/** One workspace retries very many messages of very many tags; another goes on as usual. */
export const greedyCampaign: Scenario = {
  name: 'greedy-campaign',
  goal: `one workspace retries a tag of ${LARGE.whole.toLocaleString('en')} (quick: ${LARGE.quick.toLocaleString('en')}) and ${TAGS} more; another's resume, cancel and retry of ${SMALL} take at most ${ACTION_MS / 1_000} s each, or ${TIMES} of idle, and the p99 of its sends and reads at most ${TIMES} of idle and ${MORE_MS} ms`,
  alone: true,
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run({ postgres, quick, say }: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const stage = await Stage.set(scope, postgres, 'campaign');
  const { pool } = stage.database;
  const [greedy, other] = [await stage.workspace(), await stage.workspace()];
  for (const { connections } of [greedy, other]) await seedConversations(pool, connections[0], RECIPIENTS);
  const large = quick ? LARGE.quick : LARGE.whole;
  for (let made = 0; made < large; made += SEEDED_AT_ONCE) {
    await seedFailed(pool, greedy.connections[0], { count: SEEDED_AT_ONCE, recipients: RECIPIENTS, tag: 'large' });
  }
  await seedFailed(pool, greedy.connections[0], { count: OF_TAGS, recipients: RECIPIENTS, tag: 'small', tags: TAGS });
  await pool.query('vacuum analyze');
  const apis = [await stage.herald('api,worker'), await stage.herald('api,worker')] as const;

  const failed: string[] = [];
  let attempted = 0;
  let turn = 0;
  const nextApi = (): HeraldProcess => apis[turn++ % 2 === 0 ? 0 : 1];
  /** Milliseconds of each request until `done`, one kind beside another. */
  const measure = async (done: () => boolean): Promise<Record<Kind, number[]>> => {
    const taken: Record<Kind, number[]> = { sends: [], reads: [] };
    const calls: Record<Kind, () => Promise<unknown>> = {
      sends: () => sendText(nextApi(), other, turn % RECIPIENTS),
      reads: () => ask(nextApi(), other, 'GET', '/messages?limit=50'),
    };
    const repeat = async (kind: Kind): Promise<void> => {
      while (!done()) {
        const startedAt = performance.now();
        attempted += 1;
        await calls[kind]().catch((error: unknown) => void failed.push(`${kind}: ${String(error).slice(0, 200)}`));
        taken[kind].push(performance.now() - startedAt);
        await pause(BETWEEN_MS);
      }
    };
    await Promise.all(KINDS.map(repeat));
    return taken;
  };
  /** Measures while the other workspace acts on its tags, for some seconds at the least. */
  const beside = async (name: string) => {
    const until = performance.now() + (quick ? 15_000 : 60_000);
    let isOver = false;
    const measured = measure(() => isOver);
    const actions: Record<Action, number> = { resume: 0, cancel: 0, retry: 0 };
    for (let round = 0; performance.now() < until; round++) {
      for (const action of ACTIONS) {
        const ms = await act(stage, nextApi(), other, { action, tag: `${name}-${action}-${round}` });
        actions[action] = Math.max(actions[action], ms);
      }
    }
    isOver = true;
    return { actions, taken: await measured };
  };

  const warm = performance.now() + 2_000;
  await measure(() => performance.now() >= warm);
  const idle = await beside('idle');
  await pool.query(
    `insert into message_tag (organization_id, tag, retry_before, acted_at)
     select $1, 'small' || n, clock_timestamp(), clock_timestamp() - interval '1 minute' from generate_series(0, $2::integer - 1) as n
     on conflict (organization_id, tag) do update set retry_before = excluded.retry_before, acted_at = excluded.acted_at`,
    [greedy.organizationId, TAGS],
  );
  await ask(apis[0], greedy, 'POST', '/tags/large/retry');
  const open = `select count(*)::integer as count from message_state where organization_id = $1 and status = 'failed'
    and failure_category = 'expired'`;
  const left = async (): Promise<number> => (await pool.query(open, [greedy.organizationId])).rows[0].count;
  const before = await left();
  await waitFor('the retry to begin', async () => ((await left()) < before ? true : null), { timeoutMs: PATIENCE_MS });
  const busy = await beside('busy');
  const retried = before - (await left());

  const violations = failed.length === 0 ? [] : [`${failed.length} requests failed, such as ${failed[0]}`];
  if (retried >= before) violations.push('the greedy workspace had nothing left to do');
  const late: string[] = [];
  const notes: Record<string, number> = { retried };
  for (const action of ACTIONS) {
    const ms = Math.round(busy.actions[action]);
    notes[`idle_${action}_ms`] = Math.round(idle.actions[action]);
    notes[`${action}_ms`] = ms;
    // Where a machine takes that long when idle, others on it are the cause.
    const limit = Math.max(ACTION_MS, TIMES * idle.actions[action] + MORE_MS);
    if (ms > limit) late.push(`${action} of ${SMALL} messages took ${ms} ms, more than ${Math.round(limit)} ms`);
  }
  for (const kind of KINDS) {
    const [usual, p99] = [percentile(idle.taken[kind], 0.99), percentile(busy.taken[kind], 0.99)].map(Math.round);
    notes[`idle_${kind}_p99_ms`] = usual ?? 0;
    notes[`${kind}_p99_ms`] = p99 ?? 0;
    const limit = TIMES * (usual ?? 0) + MORE_MS;
    if (!((p99 ?? Infinity) <= limit)) late.push(`${kind}: p99 ${p99} ms, more than ${Math.round(limit)} ms`);
  }
  say(JSON.stringify(notes));
  return {
    faults: 1 + TAGS,
    attempted,
    acknowledged: attempted - failed.length,
    lost: 0,
    duplicated: 0,
    unknown: 0,
    recovered_ms: null,
    violations,
    late,
    notes,
  };
}

/** Milliseconds until an action on a new tag of some messages is done. */
async function act(
  { database: { pool } }: Stage,
  api: HeraldProcess,
  workspace: SeededWorkspace,
  { action, tag }: { action: Action; tag: string },
): Promise<number> {
  const [connection] = workspace.connections;
  if (action === 'retry') await seedFailed(pool, connection, { count: SMALL, tag });
  else {
    // Held before they are there, so that none of them goes.
    await pool.query(
      `insert into message_tag (organization_id, tag, paused, acted_at) values ($1, $2, true, clock_timestamp())
       on conflict (organization_id, tag) do update set paused = true`,
      [connection.organizationId, tag],
    );
    await seedQueued(pool, connection, { count: SMALL, tag });
    const held = `select from message_queue where organization_id = $1 and tag = $2 and held_until = 'infinity'`;
    const isHeld = async (): Promise<true | null> =>
      (await pool.query(held, [connection.organizationId, tag])).rowCount === SMALL ? true : null;
    await waitFor(`${tag} to be held`, isHeld, { timeoutMs: PATIENCE_MS, everyMs: 20 });
  }
  const startedAt = performance.now();
  await ask(api, workspace, 'POST', `/tags/${tag}/${action}`);
  const isDone = async (): Promise<true | null> =>
    (await ask(api, workspace, 'GET', `/tags/${tag}`)).status === 'active' ? true : null;
  await waitFor(`the ${action} of ${tag}`, isDone, { timeoutMs: PATIENCE_MS, everyMs: 20 });
  return performance.now() - startedAt;
}

async function ask(
  { url }: HeraldProcess,
  { apiKey }: SeededWorkspace,
  method: 'GET' | 'POST',
  path: string,
): Promise<{ status?: string }> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/v1${path}`, { method, headers, signal: AbortSignal.timeout(PATIENCE_MS) });
  const text = await response.text();
  if (!response.ok) throw new Error(`Herald answered ${response.status}: ${text.slice(0, 200)}`);
  return (JSON.parse(text) as { data: { status?: string } }).data;
}
