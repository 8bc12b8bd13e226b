import { inTurn, type BenchContext, type Claim } from '../bench-context.js';
import { atLeastTimes, atMost, forComparison, type Finding } from '../finding.js';
import { runLoad } from '../load/run-load.js';
import type { LoadResult } from '../load/load.types.js';
import { Child } from '../../test/support/rig/child.js';
import { createDatabase } from '../../test/support/rig/database.js';
import { median } from '../../test/support/rig/figures.js';
import { compiled } from '../../test/support/rig/paths.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { seedConversations } from '../../test/support/rig/seed-messages.js';
import { Stage } from '../../test/support/rig/stage.js';
import type { InsertOrder, InsertResult } from '../yardsticks/insert-order.js';

const CONNECTIONS = 64;
const RECIPIENTS = 200;
/** After this a fresh process has compiled what is hot, on a busy machine too: some 10,000 requests. */
const COMPILER_MS = 6_000;
/** As many as Herald's own pool has. */
const INSERT_CONNECTIONS = 10;
/** As Herald gathers them at 64 connections: two batches under way, the rest in line. */
const GROUP = { connections: 2, rows: 32 };
const P99_MS = 100;

interface Server {
  url: string;
  headers: Record<string, string>;
  process: Child;
}

/** POST /messages, durable when it is answered, against the same server doing nothing and against the tutorial's way. */
export const acceptClaim: Claim = {
  name: 'accept',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

async function measure(context: BenchContext, scope: Scope): Promise<Finding[]> {
  const postgres = await context.postgres();
  // With the line a request that production writes.
  const stage = await Stage.set(scope, postgres, 'accept', { settings: { LOG_LEVEL: 'info' } });
  const workspace = await stage.workspace();
  const [connection] = workspace.connections;
  await seedConversations(stage.database.pool, connection, RECIPIENTS);

  const heraldProcess = await stage.herald('api');
  const herald: Server = {
    url: heraldProcess.url,
    headers: { Authorization: `Bearer ${workspace.apiKey}` },
    process: heraldProcess.child,
  };
  const express = await startYardstick(scope, 'bare-express', {});
  const twinDatabase = await createDatabase(scope, postgres.url, 'twin');
  const twin = await startYardstick(scope, 'naive-twin', { DATABASE_URL: twinDatabase.url });

  const bodies = Array.from({ length: RECIPIENTS }, (_, n) =>
    JSON.stringify({
      connection_id: connection.id,
      to: `+${recipientNumber(n)}`,
      type: 'text',
      text: { body: 'Hello, your order 4711 is on its way.' },
    }),
  );
  const run = (server: Server, warmUpMs: number, durationMs: number): Promise<LoadResult> =>
    runLoad(scope, {
      url: `${server.url}/api/v1/messages`,
      headers: server.headers,
      bodies,
      connections: CONNECTIONS,
      warmUpMs,
      durationMs,
    });
  // Many short rounds rather than few long ones: what else the machine does comes and goes within seconds.
  const [rounds, seconds] = context.quick ? [4, 1.5] : [12, 4];
  for (const server of [herald, express, twin]) await run(server, COMPILER_MS, 500);
  const load = (name: string, server: Server) => async (): Promise<LoadResult> => {
    const result = await run(server, 200, seconds * 1_000);
    context.say(`${name}: ${Math.round(rateOf(result))} requests/s, p99 ${result.p99Ms.toFixed(1)} ms`);
    return result;
  };
  const inserts = await createDatabase(scope, postgres.url, 'inserts');
  const insert = (name: string, how: Pick<InsertOrder, 'connections' | 'rows'>) => async (): Promise<number> => {
    const order: InsertOrder = { databaseUrl: inserts.url, ...how, durationMs: seconds * 1_000 };
    const { perSecond } = await runInserts(scope, order);
    context.say(`${name}: ${Math.round(perSecond)} rows/s`);
    return perSecond;
  };
  // What each used of the processors meanwhile; a crowded machine disturbs it less than the rate.
  const used: Record<'herald' | 'express', Used[]> = { herald: [], express: [] };
  const metered = (name: string, server: Server, uses: Used[]) => async (): Promise<LoadResult> => {
    const before = [server.process.processorMs(), postgres.processorMs()] as const;
    const result = await load(name, server)();
    uses.push({
      answered: result.answered,
      nodeMs: server.process.processorMs() - before[0],
      postgresMs: postgres.processorMs() - before[1],
    });
    return result;
  };
  const results = await inTurn(rounds, {
    herald: metered('Herald', herald, used.herald),
    express: metered('bare Express', express, used.express),
    twin: load('naive twin', twin),
  });
  const single = await inTurn(Math.ceil(rounds / 2), {
    each: insert('PostgreSQL, one commit each', { connections: INSERT_CONNECTIONS, rows: 1 }),
    grouped: insert('PostgreSQL, grouped', GROUP),
  });
  const measured = {
    claim: 'POST /messages accepted, durable, one process, 64 connections',
    value: median(results.herald.map(rateOf)),
    unit: '/s',
    notes: { ...notesOf(results.herald), ...processorNotes(used.herald) },
  };
  return [
    forComparison(
      {
        claim: 'POST /messages accepted: processor time of node for a message',
        value: microseconds(used.herald, 'nodeMs'),
        unit: 'µs',
      },
      {
        name: 'bare Express 5 with the same adapter, same body, no database',
        value: microseconds(used.express, 'nodeMs'),
      },
    ),
    forComparison(measured, {
      name: 'bare Express 5 with the same adapter, same body, no database',
      value: median(results.express.map(rateOf)),
    }),
    atLeastTimes(4, measured, {
      name: 'naive twin: Nest, TypeORM save, queue.add for each request',
      value: median(results.twin.map(rateOf)),
    }),
    forComparison(measured, {
      name: `PostgreSQL alone, same insert, one commit each, ${INSERT_CONNECTIONS} connections`,
      value: median(single.each),
    }),
    forComparison(measured, {
      name: `PostgreSQL alone, same insert, ${GROUP.rows} rows a commit, ${GROUP.connections} connections`,
      value: median(single.grouped),
    }),
    atMost(P99_MS, {
      claim: 'POST /messages, 64 connections without pause: answer (p99)',
      value: median(results.herald.map((result) => result.p99Ms)),
      unit: 'ms',
    }),
  ];
}

async function startYardstick(scope: Scope, file: string, env: Record<string, string>): Promise<Server> {
  const child = Child.start(scope, {
    name: file,
    args: [compiled(`bench/yardsticks/${file}.main`)],
    env: { NODE_ENV: 'production', ...env },
  });
  const match = await child.line(/port (\d+)/);
  return { url: `http://127.0.0.1:${match[1]}`, headers: {}, process: child };
}

async function runInserts(scope: Scope, order: InsertOrder): Promise<InsertResult> {
  const child = Child.start(scope, {
    name: 'plain inserts',
    args: [compiled('bench/yardsticks/plain-inserts.main'), JSON.stringify(order)],
  });
  return JSON.parse(await child.result()) as InsertResult;
}

interface Used {
  answered: number;
  nodeMs: number;
  postgresMs: number;
}

function processorNotes(used: readonly Used[]): Finding['notes'] {
  return {
    processor_us_node: Math.round(microseconds(used, 'nodeMs')),
    processor_us_postgres: Math.round(microseconds(used, 'postgresMs')),
  };
}

function microseconds(used: readonly Used[], of: 'nodeMs' | 'postgresMs'): number {
  return median(used.map((one) => (one[of] * 1_000) / one.answered));
}

function rateOf(result: LoadResult): number {
  return result.answered / (result.durationMs / 1_000);
}

function notesOf(results: LoadResult[]): Finding['notes'] {
  return {
    runs: results.map((result) => Math.round(rateOf(result))).join(', '),
    p50_ms: median(results.map((result) => result.p50Ms)),
    p99_ms: median(results.map((result) => result.p99Ms)),
  };
}
