import type { FaultReport } from '../../support/rig/fault-result.js';
import { CODE_SETTINGS, CodeProject } from '../../support/rig/codes.js';
import { BenchPostgres } from '../../support/rig/postgres.js';
import { recipientNumber } from '../../support/rig/recipients.js';
import { waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 8;
const RECIPIENTS = 50;
const CALLERS = 8;
/** Messages that were refused before, and are sent again by hand after it. */
const RETRIES = 10;
/** After this long everything goes on: the pools need one statement that fails, the listeners a new connection. */
const GOES_ON_MS = 10_000;

/**
 * A failover after which the old primary stays up: its connections live, answer reads and refuse writes (25006), and only
 * new ones reach the new primary. Played with one server: its open sessions become read-only, and new ones are not, for the
 * setting of the database overrides that of the server when a session begins.
 */
export const primaryDemoted: Scenario = {
  name: 'primary-demoted',
  goal: 'a demoted primary keeps its connections and refuses writes; messages, reports, codes and retries go on within 10 s, 0 lost, 0 sent twice',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const postgres = await BenchPostgres.start(scope);
  const stage = await FaultStage.set({ ...context, postgres }, scope, {
    lanes: LANES,
    messagesPerSecond: 50,
    recipients: RECIPIENTS,
    latencyMs: 30,
    settings: CODE_SETTINGS,
  });
  const { pool } = stage.stage.database;
  const project = await CodeProject.seed(pool, stage.stage.simulator, 40);
  const refused = await refusedMessages(stage);
  const traffic = new Traffic(stage, {
    callers: CALLERS,
    least: context.quick ? 400 : 2_000,
    most: 20_000,
    recipients: RECIPIENTS,
    betweenMs: 20,
  });
  if (!(await traffic.moves())) traffic.late.push('nothing was accepted and sent before the demotion');

  const demoted = await demote(pool);
  const demotedAt = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - demotedAt);
  const notes: Record<string, number> = {};
  const within = async (what: string, happens: () => Promise<boolean>): Promise<void> => {
    const done = async () => ((await happens().catch(() => false)) ? true : null);
    await waitFor(what, done, { timeoutMs: GOES_ON_MS, everyMs: 20 }).catch(() =>
      traffic.late.push(`${what}: not within ${GOES_ON_MS} ms`),
    );
    notes[`${what}_ms`] = elapsedMs();
  };
  let codes = 0;
  await Promise.all([
    within('messages', () => traffic.moves(GOES_ON_MS)),
    within('codes', async () => (await project.send(stage.api.url, recipientNumber(1_000_000 + codes++))).id !== ''),
    within('retries', async () => (await retried(stage, refused)) === refused.length),
  ]);
  // What the platform reported meanwhile was stored or refused, and it reports again what was refused.
  await within('reports', async () => {
    const { rows } = await pool.query(
      `select 1 from message_state where status = 'read' and accepted_at > $1 limit 1`,
      [demoted],
    );
    return rows.length > 0;
  });
  // A pool learns of it by its first write; a connection that only listens may stay until then.
  notes.old_connections = (await pool.query(OLD_CONNECTIONS, [demoted])).rows.length;
  context.say(`all goes on: ${JSON.stringify(notes)}`);

  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(demotedAt, answeredAt));
  await allReported(stage).catch(() => traffic.late.push('some reports were not applied within 60 s'));
  // The simulator refuses these each time: they have failed as they should.
  for (const table of ['message_state', 'message_queue', 'message_attempt']) {
    await pool.query(`delete from ${table} where message_id = any($1)`, [refused]);
  }
  await pool.query('delete from message where id = any($1)', [refused]);
  const judgement = await stage.judge(traffic.acknowledged);
  await pool.query('alter system reset default_transaction_read_only');
  await pool.query('select pg_reload_conf()');
  return reportOf({
    faults: 1,
    attempted: traffic.attempted,
    judgement,
    recoveredMs,
    violations: traffic.violations,
    late: traffic.late,
    notes,
  });
}

/** Those of Herald, which name themselves; so do this program's own, which nothing closes. */
const OLD_CONNECTIONS = `select 1 from pg_stat_activity
  where datname = current_database() and application_name not in ('', 'herald-bench') and backend_start < $1`;

/** Messages that the simulator refuses at once, each time. */
async function refusedMessages(stage: FaultStage): Promise<string[]> {
  const [connection] = stage.workspace.connections;
  const ids: string[] = [];
  for (let n = 0; n < RETRIES; n++) {
    const phone = `49160${String(n).padStart(4, '0')}0003`;
    await stage.stage.database.pool.query(
      `insert into conversation (id, organization_id, connection_id, phone, last_inbound_at)
       values (gen_random_uuid(), $1, $2, $3, now())`,
      [connection.organizationId, connection.id, phone],
    );
    ids.push((await stage.caller.send(connection, phone)).messageId);
  }
  await waitFor('messages to be refused', async () => ((await failed(stage, ids)) === ids.length ? true : null), {
    timeoutMs: 30_000,
  });
  return ids;
}

async function failed({ stage }: FaultStage, ids: readonly string[], attempts = 1): Promise<number> {
  const { rows } = await stage.database.pool.query(
    `select 1 from message_view where id = any($1) and status = 'failed' and attempt_count >= $2`,
    [ids, attempts],
  );
  return rows.length;
}

/** Sends each again, unless it was; returns how many were refused a second time, and so have been sent again. */
async function retried(stage: FaultStage, ids: readonly string[]): Promise<number> {
  for (const id of ids) {
    await fetch(`${stage.api.url}/api/v1/messages/${id}/retry`, {
      method: 'POST',
      signal: AbortSignal.timeout(5_000),
      // The key makes a repeated retry one retry, and the retry a transaction.
      headers: { authorization: `Bearer ${stage.workspace.apiKey}`, 'idempotency-key': id },
    });
  }
  return failed(stage, ids, 2);
}

/** Every message that the platform took was read, as it reports of all but the refused ones. */
async function allReported({ stage }: FaultStage): Promise<void> {
  const open = `select 1 from message_state where status in ('accepted', 'sent', 'delivered') limit 1`;
  await waitFor('all reports', async () => ((await stage.database.pool.query(open)).rowCount === 0 ? true : null), {
    timeoutMs: 60_000,
  });
}

/** Returns when it was, by the server's clock. */
async function demote(pool: FaultStage['stage']['database']['pool']): Promise<Date> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ name: string; at: Date }>(
      'select current_database() as name, clock_timestamp() as at',
    );
    const { name = '', at = new Date() } = rows[0] ?? {};
    // Sessions that begin from here on take writes.
    await client.query(`alter database "${name}" set default_transaction_read_only = off`);
    await client.query('alter system set default_transaction_read_only = on');
    await client.query('select pg_reload_conf()');
    await waitFor(
      'the open sessions to be read-only',
      async () => {
        const shown = await client.query<{ on: string }>('show default_transaction_read_only');
        return Object.values(shown.rows[0] ?? {})[0] === 'on' ? true : null;
      },
      { timeoutMs: 10_000, everyMs: 10 },
    );
    return at;
  } finally {
    client.release(true);
  }
}
