import type { Pool } from 'pg';
import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, forComparison, type Finding } from '../finding.js';
import { runLoad } from '../load/run-load.js';
import { freePort } from '../../test/support/rig/free-port.js';
import type { HeraldProcess } from '../../test/support/rig/herald.js';
import type { BenchPostgres } from '../../test/support/rig/postgres.js';
import { BenchRedis, hasRedis } from '../../test/support/rig/redis.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { seedConversations } from '../../test/support/rig/seed-messages.js';
import { sendText } from '../../test/support/rig/send-text.js';
import { Stage } from '../../test/support/rig/stage.js';
import { pause, waitFor } from '../../test/support/rig/wait.js';
import type { SeededWorkspace } from '../../test/support/rig/workspace.js';

const LANES = 20;
const RECIPIENTS = 200;
const PER_SECOND = 100;
/** So that pace does not bind. */
const THROUGHPUT = 10_000;
const CONNECTIONS = 64;
const WARM_UP_MS = 2_000;
const READ_MS = 180_000;
/** An idle backend reports its commits after up to ten seconds: until then those of the warm-up would count. */
const REPORTED_MS = 11_000;
const IDLE_WARM_UP_MS = 20_000;
/** What runs once a minute, once. */
const IDLE_SECONDS = 60;

interface Goals {
  deadRows: number;
  commits: number;
  walBytes: number;
}

/** What PostgreSQL has to do for a message, from its acceptance until it is `read`, and for nothing at all. */
export const writesClaim: Claim = {
  name: 'writes',
  async measure(context): Promise<Finding[]> {
    return [
      ...(await atPace(context, ['api,worker'], 'all roles in one process', {
        deadRows: 5,
        commits: 3,
        walBytes: 6_144,
      })),
      ...(await atPace(context, ['api', 'worker'], 'api and worker apart', {
        deadRows: 6,
        commits: 4,
        walBytes: 6_144,
      })),
      ...(await atFullSpeed(context, ['api,worker'], 'all roles in one process', 0.1)),
      ...(await atFullSpeed(context, ['api', 'worker'], 'api and worker apart', null)),
      ...(await withRedis(context)),
      await whileIdle(context),
    ];
  },
};

/** What Redis takes off PostgreSQL: the wakes of workers that accepted nothing themselves. */
async function withRedis(context: BenchContext): Promise<Finding[]> {
  if (!(await hasRedis())) return [];
  return context.scope.within(async (scope) => {
    const settings = { REDIS_URL: (await BenchRedis.start(scope)).url };
    const words = 'api and worker apart, with Redis';
    return [
      ...(await atPace(context, ['api', 'worker'], words, { deadRows: 6, commits: 4, walBytes: 6_144 }, settings)),
      ...(await atFullSpeed(context, ['api', 'worker'], words, null, settings)),
    ];
  });
}

interface Scene {
  stage: Stage;
  postgres: BenchPostgres;
  workspaces: SeededWorkspace[];
  processes: HeraldProcess[];
  api: HeraldProcess;
}

/** Twenty numbers of one workspace each, and a platform that reports `sent`, `delivered` and `read`. */
async function setScene(
  context: BenchContext,
  scope: Scope,
  roles: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Scene> {
  const postgres = await context.postgres();
  const port = await freePort();
  const webhookUrl = `http://127.0.0.1:${port}/platform/whatsapp/webhook`;
  const stage = await Stage.set(scope, postgres, 'writes', { simulator: { statuses: 'on', webhookUrl } });
  const workspaces: SeededWorkspace[] = [];
  for (let i = 0; i < LANES; i++) {
    const workspace = await stage.workspace(1, THROUGHPUT);
    await seedConversations(stage.database.pool, workspace.connections[0], RECIPIENTS);
    workspaces.push(workspace);
  }
  const processes = await Promise.all(
    roles.map((role, i) => stage.herald(role, { settings, ...(i === 0 && { port }) })),
  );
  const [api] = processes;
  if (api === undefined) throw new Error('a scene needs a process');
  return { stage, postgres, workspaces, processes, api };
}

function atPace(
  context: BenchContext,
  roles: readonly string[],
  words: string,
  goals: Goals,
  settings?: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  return context.scope.within(async (scope) => {
    const scene = await setScene(context, scope, roles, settings);
    const send = async (count: number): Promise<void> => {
      const startedAt = performance.now();
      const sends: Promise<unknown>[] = [];
      for (let n = 0; n < count; n++) {
        await pause(Math.max(0, startedAt + (n * 1_000) / PER_SECOND - performance.now()));
        const workspace = scene.workspaces[n % LANES] as SeededWorkspace;
        sends.push(sendText(scene.api, workspace, Math.floor(n / LANES) % RECIPIENTS));
      }
      await Promise.all(sends);
    };
    const count = context.quick ? 1_500 : 6_000;
    const used = await meter(
      scene,
      () => send((WARM_UP_MS * PER_SECOND) / 1_000),
      () => send(count),
    );
    context.say(`${words}, ${PER_SECOND}/s: ${textOf(used)}`);
    const suffix = `a message at ${PER_SECOND}/s on ${LANES} numbers, accepted to read; ${words}`;
    const notes = { messages: used.messages };
    return [
      atMost(goals.deadRows, { claim: `dead rows ${suffix}`, value: used.deadRows, unit: 'rows', notes }),
      atMost(goals.commits, { claim: `commits ${suffix}`, value: used.commits, unit: 'commits', notes }),
      atMost(goals.walBytes, { claim: `WAL ${suffix}`, value: used.walBytes, unit: 'bytes', notes }),
      processorTime(`PostgreSQL's processor time ${suffix}`, used),
    ];
  });
}

/** @param commits a message at most; null: shown only. */
function atFullSpeed(
  context: BenchContext,
  roles: readonly string[],
  words: string,
  commits: number | null,
  settings?: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  return context.scope.within(async (scope) => {
    const scene = await setScene(context, scope, roles, settings);
    await withoutAutovacuum(scope, scene.stage.database.pool);
    const load = (ms: number): Promise<unknown> =>
      Promise.all(
        scene.workspaces.slice(0, 4).map((workspace) =>
          runLoad(scope, {
            url: `${scene.api.url}/api/v1/messages`,
            headers: { Authorization: `Bearer ${workspace.apiKey}` },
            bodies: Array.from({ length: RECIPIENTS }, (_, n) =>
              JSON.stringify({
                connection_id: workspace.connections[0].id,
                to: `+${recipientNumber(n)}`,
                type: 'text',
                text: { body: 'Hello, your order 4711 is on its way.' },
              }),
            ),
            connections: CONNECTIONS / 4,
            warmUpMs: 0,
            durationMs: ms,
          }),
        ),
      );
    const used = await meter(
      scene,
      () => load(3_000),
      () => load(context.quick ? 5_000 : 20_000),
    );
    context.say(`${words}, full speed: ${textOf(used)}`);
    const suffix = `a message at full speed, accepted to read; ${words}`;
    const notes = { messages: used.messages };
    return [
      ...(commits === null
        ? []
        : [atMost(commits, { claim: `commits ${suffix}`, value: used.commits, unit: 'commits', notes })]),
      processorTime(`PostgreSQL's processor time ${suffix}`, used),
    ];
  });
}

function whileIdle(context: BenchContext): Promise<Finding> {
  return context.scope.within(async (scope) => {
    const { stage } = await setScene(context, scope, ['api,worker']);
    const { pool } = stage.database;
    await withoutAutovacuum(scope, pool);
    await pause(IDLE_WARM_UP_MS);
    const before = await commitsOf(pool);
    await pause(IDLE_SECONDS * 1_000);
    const value = ((await commitsOf(pool)) - before) / IDLE_SECONDS;
    context.say(`idle: ${value.toFixed(1)} commits/s`);
    return atMost(2, { claim: 'commits of one idle process with all roles', value, unit: '/s' });
  });
}

/** Its workers commit too, most of all on new tables; they are the server's and not the process's. */
async function withoutAutovacuum(scope: Scope, pool: Pool): Promise<void> {
  await setAutovacuum(pool, 'off');
  scope.defer(() => setAutovacuum(pool, 'on'));
}

async function setAutovacuum(pool: Pool, state: 'on' | 'off'): Promise<void> {
  await pool.query(`alter system set autovacuum = ${state}`);
  await pool.query('select pg_reload_conf()');
}

interface Usage {
  messages: number;
  deadRows: number;
  commits: number;
  walBytes: number;
  postgresUs: number;
}

/** Figures a message of what `work` sends, until all of it is read and the processes have ended. */
async function meter(scene: Scene, warmUp: () => Promise<unknown>, work: () => Promise<unknown>): Promise<Usage> {
  const { stage, postgres, processes } = scene;
  const { pool } = stage.database;
  await warmUp();
  const warm = await untilRead(pool);
  await pause(REPORTED_MS);
  const before = { ...(await counters(pool)), ms: postgres.processorMs() };
  await work();
  const messages = (await untilRead(pool)) - warm;
  const ms = postgres.processorMs() - before.ms;
  // A backend reports what it did at its end at the latest.
  for (const { child } of processes) await child.stop();
  const after = await counters(pool);
  return {
    messages,
    deadRows: (after.dead - before.dead) / messages,
    commits: (after.commits - before.commits) / messages,
    walBytes: (after.wal - before.wal) / messages,
    postgresUs: (ms * 1_000) / messages,
  };
}

/** Waits until every message is `read`; returns how many there are. */
async function untilRead(pool: Pool): Promise<number> {
  const count = async (where: string): Promise<number> => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::integer as count from message_view ${where}`,
    );
    return rows[0]?.count ?? 0;
  };
  await waitFor('all messages to be read', async () => ((await count(`where status <> 'read'`)) === 0 ? true : null), {
    timeoutMs: READ_MS,
    everyMs: 1_000,
  });
  return count('');
}

async function counters(pool: Pool): Promise<{ dead: number; commits: number; wal: number }> {
  const { rows } = await pool.query<{ dead: number; wal: number }>(
    `select (select sum(n_tup_upd + n_tup_del)::double precision from pg_stat_user_tables) as dead,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::double precision as wal`,
  );
  return { dead: rows[0]?.dead ?? 0, wal: rows[0]?.wal ?? 0, commits: await commitsOf(pool) };
}

async function commitsOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ commits: number }>(
    `select xact_commit::double precision as commits from pg_stat_database where datname = current_database()`,
  );
  return rows[0]?.commits ?? 0;
}

function processorTime(claim: string, { postgresUs, messages }: Usage): Finding {
  return forComparison(
    { claim, value: postgresUs, unit: 'µs', notes: { messages } },
    { name: 'one second', value: 1_000_000 },
  );
}

function textOf({ messages, deadRows, commits, walBytes, postgresUs }: Usage): string {
  return (
    `${messages} messages; each ${deadRows.toFixed(1)} dead rows, ${commits.toFixed(2)} commits, ` +
    `${Math.round(walBytes)} bytes of WAL, ${Math.round(postgresUs)} µs of PostgreSQL`
  );
}
