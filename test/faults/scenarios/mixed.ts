import { Redis } from 'ioredis';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { BenchPostgres } from '../../support/rig/postgres.js';
import { BenchRedis, hasRedis } from '../../support/rig/redis.js';
import { TcpProxy, type ProxyFault } from '../../support/rig/tcp-proxy.js';
import { pause } from '../../support/rig/wait.js';
import { FaultStage, type Links } from '../fault-stage.js';
import { type FaultContext, randomBetween, type Scenario, shuffled } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 12;
const RECIPIENTS = 60;
const WORKERS = 3;

/** Everything that can break does, one after the other in a random order, while several workers send. */
export const mixedFaults: Scenario = {
  name: 'mixed',
  goal: 'G4: several workers; processes, PostgreSQL and Redis killed, connections cut, reset, swallowed; 0 lost, 0 sent twice, all settled after 60 s',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

interface Field {
  stage: FaultStage;
  postgres: BenchPostgres;
  redis: { server: BenchRedis; link: TcpProxy } | null;
}

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const rounds = context.quick ? 1 : 6;
  const postgres = await BenchPostgres.start(scope);
  const server = (await hasRedis()) ? await BenchRedis.start(scope) : null;
  const redis = server === null ? null : { server, link: await TcpProxy.before(scope, server.url) };
  const redisUrl = redis === null ? null : redis.link.through(redis.server.url);
  const stage = await FaultStage.set({ ...context, postgres, redisUrl }, scope, {
    lanes: LANES,
    messagesPerSecond: 20,
    recipients: RECIPIENTS,
    latencyMs: 50,
    workers: WORKERS,
    proxied: true,
  });
  const field: Field = { stage, postgres, redis };
  const traffic = new Traffic(stage, {
    callers: 4,
    least: 300,
    most: context.quick ? 3_000 : 20_000,
    recipients: RECIPIENTS,
    betweenMs: 40,
  });
  let faults = 0;
  let faultAt = performance.now();
  for (let round = 0; round < rounds; round++) {
    for (const [name, inject] of shuffled(Object.entries(faultsOf(field)))) {
      if (!(await traffic.moves())) traffic.late.push(`nothing moved before ${name}`);
      await pause(randomBetween(0, 300));
      await inject();
      faultAt = performance.now();
      context.say(`${++faults}, ${name}: ${traffic.messageOfKey.size} acknowledged, ${await stage.taken()} taken`);
    }
  }
  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(faultAt, answeredAt));
  await traffic.checkKeys();
  const judgement = await stage.judge(traffic.acknowledged);
  return reportOf({
    faults,
    attempted: traffic.attempted,
    judgement,
    recoveredMs,
    violations: traffic.violations,
    late: traffic.late,
    notes: {
      workers: WORKERS,
      queue: redis === null ? 'PostgreSQL' : 'Redis',
      answered_after_repeats: traffic.repeated,
    },
  });
}

function faultsOf(field: Field): Record<string, () => Promise<void>> {
  const { stage, postgres, redis } = field;
  const database = (link: Links) => link.database;
  const platform = (link: Links) => link.platform;
  const held = (which: (link: Links) => TcpProxy, fault: ProxyFault, ms: number) => () => hold(stage, which, fault, ms);
  const common: Record<string, () => Promise<void>> = {
    'kill -9 of a worker': async () => {
      const worker = stage.workers[Math.floor(Math.random() * stage.workers.length)] ?? stage.worker;
      await worker.child.kill();
      worker.revive();
    },
    'kill -9 and restart of PostgreSQL': async () => {
      await postgres.crash();
      await postgres.restart();
    },
    'pg_terminate_backend of all': () => terminateAll(stage),
    'all connections to the database cut': async () => stage.links.forEach((link) => link.database.cut()),
    'all connections to the database reset': async () => stage.links.forEach((link) => link.database.reset()),
    'a black hole before the database': held(database, { kind: 'black_hole' }, 2_000),
    'half-open connections to the database': held(database, { kind: 'half_open' }, 500),
    'answers of the database truncated': held(database, { kind: 'truncate', bytes: 200 }, 500),
    'a slow database (100 ms each way)': held(database, { kind: 'delay', ms: 100 }, 2_000),
    'all connections to the platform reset': async () => stage.links.forEach((link) => link.platform.reset()),
    'a black hole before the platform': held(platform, { kind: 'black_hole' }, 2_000),
    'answers of the platform truncated': held(platform, { kind: 'truncate', bytes: 100 }, 500),
  };
  if (redis === null) return common;
  const wholeQueue = {
    'kill -9 and restart of Redis': async () => {
      await redis.server.kill();
      await pause(randomBetween(0, 500));
      await redis.server.restart();
    },
    FLUSHALL: async () => {
      const client = new Redis(redis.server.url);
      await client.flushall();
      client.disconnect();
    },
    'all connections to Redis cut': async () => void redis.link.cut(),
    'a black hole before Redis': async () => {
      redis.link.set({ kind: 'black_hole' });
      await pause(2_000);
      redis.link.heal();
    },
  };
  return { ...common, ...wholeQueue };
}

async function hold(stage: FaultStage, which: (link: Links) => TcpProxy, fault: ProxyFault, ms: number): Promise<void> {
  for (const link of stage.links) which(link).set(fault);
  await pause(ms);
  for (const link of stage.links) which(link).heal();
}

/** The rig's own connections too: they are made again at their next statement. */
async function terminateAll(stage: FaultStage): Promise<void> {
  await stage.stage.database.pool
    .query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    .catch(() => undefined);
}
