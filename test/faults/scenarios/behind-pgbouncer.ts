import { LeftOut, type FaultReport } from '../../support/rig/fault-result.js';
import { deployedSetting, hasPgBouncer, PgBouncer, SERVER_LIMITS } from '../../support/rig/pgbouncer.js';
import { BenchPostgres } from '../../support/rig/postgres.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 8;
const RECIPIENTS = 50;
const WORKERS = 2;
/** Fewer than the three processes have between them: they wait for one another. */
const POOL_SIZE = 8;
/** From PostgreSQL's start to the next answer of 202. */
const RESTART_LIMIT_MS = 5_000;
/** Of each process past the pooler: one that listens, the queue's where it is PostgreSQL, one for what is rare. */
const DIRECT = { PostgreSQL: 10, Redis: 2 };

/**
 * PgBouncer in transaction mode between all processes and PostgreSQL. It is killed, restarted as a service manager does it
 * (without waiting for transactions), and its connections to the server are ended, while messages are accepted and sent.
 */
export const behindPgBouncer: Scenario = {
  name: 'behind-pgbouncer',
  goal: 'PgBouncer in transaction mode killed, restarted, its server connections ended, PostgreSQL behind it restarted; 0 lost, 0 sent twice, connections within their bound',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  if (!(await hasPgBouncer())) throw new LeftOut('pgbouncer is not installed');
  let pooler: PgBouncer | undefined;
  const postgres = await BenchPostgres.start(scope);
  const stage = await FaultStage.set({ ...context, postgres }, scope, {
    lanes: LANES,
    messagesPerSecond: 40,
    recipients: RECIPIENTS,
    latencyMs: 30,
    workers: WORKERS,
    databaseVia: async (url) => {
      pooler = await PgBouncer.start(scope, url, {
        connectQuery: SERVER_LIMITS,
        poolSize: POOL_SIZE,
        settings: { server_login_retry: deployedSetting('server_login_retry') },
      });
      return { databaseUrl: pooler.through(url), settings: { DATABASE_DIRECT_URL: url } };
    },
  });
  if (pooler === undefined) throw new Error('there is no pooler');
  const { pool } = stage.stage.database;
  const traffic = new Traffic(stage, {
    callers: 8,
    least: context.quick ? 400 : 2_000,
    most: 20_000,
    recipients: RECIPIENTS,
    betweenMs: 20,
    twice: true,
  });
  let mostConnections = 0;
  const count = async (): Promise<void> => {
    const { rows } = await pool.query<{ n: number }>(CONNECTIONS);
    mostConnections = Math.max(mostConnections, rows[0]?.n ?? 0);
  };

  const faults = [
    async (its: PgBouncer) => {
      await its.kill();
      await pause(randomBetween(0, 1_000));
      await its.restart();
    },
    async (its: PgBouncer) => {
      await its.stop();
      await its.restart();
    },
    // As a server does that restarts: the pooler stays and makes new ones.
    () => pool.query(END_POOLED),
    async () => {
      await postgres.crash();
      await postgres.restart();
      const [from, before] = [performance.now(), traffic.acknowledged.length];
      await waitFor('a message to be accepted', () => (traffic.acknowledged.length > before ? true : null), {
        timeoutMs: 60_000,
        everyMs: 10,
      });
      restartMs = Math.max(restartMs, performance.now() - from);
      context.say(`an answer ${Math.round(performance.now() - from)} ms after PostgreSQL had started again`);
    },
  ];
  let restartMs = 0;
  const rounds = context.quick ? 2 : 6;
  let [injected, faultAt] = [0, performance.now()];
  for (let round = 0; round < rounds; round++) {
    for (const fault of faults) {
      if (!(await traffic.moves()))
        traffic.violations.push(`nothing was accepted and sent before fault ${injected + 1}`);
      await pause(randomBetween(0, 300));
      await count();
      await fault(pooler);
      injected++;
      faultAt = performance.now();
    }
    context.say(`round ${round + 1} of ${rounds}: ${traffic.acknowledged.length} acknowledged`);
  }
  if (!(await traffic.moves())) traffic.violations.push('nothing was accepted and sent after the last fault');
  await count();
  const answeredAt = await traffic.end();
  await traffic.checkKeys();
  const recoveredMs = await stage.recoveredAfter(Math.max(faultAt, answeredAt));
  const judgement = await stage.judge(traffic.acknowledged);
  await nothingHeld(stage).catch(() => traffic.violations.push('a lock or a transaction stays behind'));
  if (restartMs > RESTART_LIMIT_MS)
    traffic.late.push(`after a restart of PostgreSQL ${Math.round(restartMs)} ms without an answer`);
  const bound = POOL_SIZE + (WORKERS + 1) * DIRECT[context.redisUrl === null ? 'PostgreSQL' : 'Redis'];
  if (mostConnections > bound) traffic.violations.push(`${mostConnections} connections, more than ${bound}`);
  return reportOf({
    faults: injected,
    attempted: traffic.attempted,
    judgement,
    recoveredMs,
    violations: traffic.violations,
    late: traffic.late,
    notes: { restart_ms: Math.round(restartMs), repeated: traffic.repeated, most_connections: mostConnections, bound },
  });
}

/** Locks of sessions, which would stay on shared connections, and transactions of a pooler's client that is gone. */
async function nothingHeld({ stage }: FaultStage): Promise<void> {
  const held = async () => ((await stage.database.pool.query(HELD)).rowCount === 0 ? true : null);
  await waitFor('locks and transactions to end', held, { timeoutMs: 60_000 });
}

// The judge's and the seeding ones have the name of the bench.
const OURS = `datname = current_database() and application_name like 'herald%' and application_name <> 'herald-bench'`;
const CONNECTIONS = `select count(*)::integer as n from pg_stat_activity where ${OURS}`;
const END_POOLED = `select pg_terminate_backend(pid) from pg_stat_activity
  where ${OURS} and application_name in ('herald', 'herald-batch')`;
const HELD = `select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
  union all select pid from pg_stat_activity where ${OURS} and state like 'idle in transaction%'
    and state_change < now() - interval '2 seconds'`;
