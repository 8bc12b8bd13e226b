import { CodeProject, CODE_SETTINGS } from '../../support/rig/codes.js';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { percentile } from '../../support/rig/figures.js';
import { recipientNumber } from '../../support/rig/recipients.js';
import { conversationId, seedJournal, userId } from '../../support/rig/seed-journal.js';
import { seedConversations } from '../../support/rig/seed-messages.js';
import { sendText } from '../../support/rig/send-text.js';
import { Stage } from '../../support/rig/stage.js';
import { pause } from '../../support/rig/wait.js';
import type { SeededWorkspace } from '../../support/rig/workspace.js';
import type { FaultContext, Scenario } from '../scenario.js';

/** The limit of a key. */
const PER_SECOND = 50;
const BURST = 100;
const EVENTS_AT_ONCE = 20_000;
/** Of the other workspace, of each kind. */
const BETWEEN_MS = 50;
const TIMES = 2;
/** Below it others on the same machine are as likely the cause. */
const FLOOR_MS = 1_000;
const KINDS = ['accepts', 'reads', 'codes'] as const;

type Kind = (typeof KINDS)[number];

/** One workspace asks for the dearest that each route has; another goes on as usual. */
export const greedyWorkspace: Scenario = {
  name: 'greedy-workspace',
  goal: `one key asks each route for its dearest at ${PER_SECOND} a second: another workspace's accepts, reads and codes stay within twice their p99 beside its cheapest route, or ${FLOOR_MS} ms`,
  alone: true,
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run({ postgres, quick, say }: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const stage = await Stage.set(scope, postgres, 'greedy', { settings: CODE_SETTINGS });
  const { pool } = stage.database;
  const greedy = await stage.workspace();
  const other = await stage.workspace();
  const codes = await CodeProject.seed(pool, stage.simulator, 1_000);
  await seedConversations(pool, other.connections[0], 1_000);
  const messages = quick ? 60_000 : 1_000_000;
  await seedJournal(pool, greedy.connections, messages);
  await seedEvents(stage, greedy, quick ? 120_000 : 1_000_000);
  await pool.query('update organization set rate_per_second = $2, rate_burst = $3 where id = $1', [
    greedy.organizationId,
    PER_SECOND,
    BURST,
  ]);
  const [api] = await Promise.all([stage.herald('api'), stage.herald('worker')]);

  const failed: string[] = [];
  let attempted = 0;
  let recipient = 0;
  /** Milliseconds of each request until `done`, one kind beside another. */
  const measure = async (done: () => boolean): Promise<Record<Kind, number[]>> => {
    const taken: Record<Kind, number[]> = { accepts: [], reads: [], codes: [] };
    const calls: Record<Kind, () => Promise<unknown>> = {
      accepts: () => sendText(api, other, recipient++ % 1_000),
      reads: () => get(api.url, other.apiKey, '/messages?limit=50'),
      codes: () => codes.send(api.url, recipientNumber(100_000 + recipient++)),
    };
    await Promise.all(
      KINDS.map(async (kind) => {
        while (!done()) {
          const startedAt = performance.now();
          attempted += 1;
          await calls[kind]().catch((error: unknown) => void failed.push(`${kind}: ${String(error).slice(0, 200)}`));
          taken[kind].push(performance.now() - startedAt);
          await pause(BETWEEN_MS);
        }
      }),
    );
    return taken;
  };
  const forMs = (ms: number): (() => boolean) => {
    const until = performance.now() + ms;
    return () => performance.now() >= until;
  };

  await measure(forMs(2_000));
  // The machine serves as many requests in both cases; what differs is what they cost.
  const cheap = forMs(quick ? 10_000 : 30_000);
  const cheapCalls = atRate(cheap, async () => {
    await statusOf(fetch(`${api.url}/api/v1/connections`, { headers: { authorization: `Bearer ${greedy.apiKey}` } }));
  });
  const usual = await measure(cheap);
  await cheapCalls;
  const late: string[] = [];
  const notes: Record<string, number> = {};
  const routes = await dearest(stage, greedy);
  const eachMs = quick ? 4_000 : 15_000;
  for (const [name, call] of routes) {
    const statuses = new Map<number, number>();
    const done = forMs(eachMs);
    const calls = atRate(done, async () => {
      const status = await call(api.url);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
    const taken = await measure(done);
    await calls;
    for (const kind of KINDS) {
      const limit = Math.max(FLOOR_MS, TIMES * percentile(usual[kind], 0.99));
      const p99 = Math.round(percentile(taken[kind], 0.99));
      notes[`${kind}_p99_ms`] = Math.max(notes[`${kind}_p99_ms`] ?? 0, p99);
      if (p99 > limit) late.push(`${kind} beside ${name}: p99 ${p99} ms, more than ${Math.round(limit)} ms`);
    }
    const answers = [...statuses].map(([status, count]) => `${status}: ${count}`).join(', ');
    say(
      `${name} (${answers}): ${KINDS.map((kind) => `${kind} ${Math.round(percentile(taken[kind], 0.99))} ms`).join(', ')}`,
    );
  }
  for (const kind of KINDS) notes[`usual_${kind}_p99_ms`] = Math.round(percentile(usual[kind], 0.99));
  return {
    faults: routes.length,
    attempted,
    acknowledged: attempted - failed.length,
    lost: 0,
    duplicated: 0,
    unknown: 0,
    recovered_ms: null,
    violations: failed.length === 0 ? [] : [`${failed.length} requests failed, such as ${failed[0]}`],
    late,
    notes,
  };
}

/** A key's whole burst, then its rate; requests do not wait for one another. */
async function atRate(done: () => boolean, call: () => Promise<void>): Promise<void> {
  const calls = Array.from({ length: BURST }, call);
  while (!done()) {
    calls.push(call());
    await pause(1_000 / PER_SECOND);
  }
  await Promise.all(calls);
}

type Dear = [name: string, call: (url: string) => Promise<number>];

async function dearest({ database }: Stage, { apiKey, connections }: SeededWorkspace): Promise<Dear[]> {
  const [connection] = connections;
  const { rows } = await database.pool.query<{ id: string }>(
    `select message_id as id from message_state where connection_id = $1 order by created_at desc limit 1`,
    [connection.id],
  );
  const read = (path: string): Dear => [
    `GET ${path}`,
    (url) => statusOf(fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${apiKey}` } })),
  ];
  const post = (path: string, body: object): Dear => [
    `POST ${path}`,
    (url) =>
      statusOf(
        fetch(`${url}/api/v1${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
  ];
  const text = { body: 'Hello' };
  return [
    post('/webhook/replay', { since: new Date(Date.now() - 86_400_000).toISOString() }),
    read(`/messages/${rows[0]?.id}/timeline`),
    read('/messages?client_message_id=order-1&status=outcome_unknown&limit=100'),
    read(`/messages?to=${recipientNumber(1)}&status=outcome_unknown&limit=100`),
    read(`/messages?conversation_id=${conversationId(1)}&status=read&to=4915999999999&limit=100`),
    read(`/messages?recipient=${userId(1)}&limit=100`),
    read('/messages?limit=100'),
    read('/conversations?limit=100'),
    read('/events?limit=100&types=message.received'),
    read('/webhook/deliveries?limit=100'),
    read('/connections'),
    read('/media?limit=100'),
    read(`/connections/${connection.id}/templates`),
    read(`/connections/${connection.id}/profile`),
    post('/messages/check', { connection_id: connection.id, to: `+${recipientNumber(1)}`, type: 'text', text }),
  ];
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer.catch(() => null);
  await response?.arrayBuffer().catch(() => undefined);
  return response?.status ?? 0;
}

async function get(url: string, apiKey: string, path: string): Promise<void> {
  const status = await statusOf(fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${apiKey}` } }));
  if (status !== 200) throw new Error(`Herald answered ${status}`);
}

/** Events of the last hour, each with one attempt that failed: more than a replay may have. */
async function seedEvents({ database }: Stage, workspace: SeededWorkspace, count: number): Promise<void> {
  const { pool } = database;
  const { rows } = await pool.query<{ id: string }>(
    `insert into webhook_endpoint (id, organization_id, url, events, active, inactive_since)
     values (gen_random_uuid(), $1, 'https://example.com/', '{message.received,message.status.updated}', false, now())
     returning id`,
    [workspace.organizationId],
  );
  for (let made = 0; made < count; made += EVENTS_AT_ONCE) {
    await pool.query(
      `with made as (
         insert into webhook_event (organization_id, endpoint_id, type, data, occurred_at)
         select $1, $2, 'message.status.updated', '{"message_id":"none"}', clock_timestamp()
         from generate_series(1, $3::integer) returning id
       )
       insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, http_status,
         duration_ms, created_at)
       select uuid_v7(), $1, $2, id, 'message.status.updated', 1, 'failed', 500, 5, clock_timestamp() from made`,
      [workspace.organizationId, rows[0]?.id, EVENTS_AT_ONCE],
    );
  }
  await pool.query('vacuum analyze webhook_event, webhook_delivery');
}
