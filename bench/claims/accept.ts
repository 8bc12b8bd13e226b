import { inTurn, type BenchContext, type Claim } from '../bench-context.js';
import { atLeastTimes, type Finding } from '../finding.js';
import { runLoad } from '../load/run-load.js';
import type { LoadResult } from '../load/load.types.js';
import { Child } from '../rig/child.js';
import { createDatabase } from '../rig/database.js';
import { median } from '../rig/figures.js';
import { compiled } from '../rig/paths.js';
import { recipientNumber } from '../rig/recipients.js';
import type { Scope } from '../rig/scope.js';
import { seedConversations } from '../rig/seed-messages.js';
import { Stage } from '../rig/stage.js';

const CONNECTIONS = 64;
const RECIPIENTS = 200;
/** After this a fresh process has compiled what is hot. */
const COMPILER_MS = 1_500;

interface Server {
  url: string;
  headers: Record<string, string>;
}

/** POST /messages, durable when it is answered, against the same server doing nothing and against the tutorial's way. */
export const acceptClaim: Claim = {
  name: 'accept',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

async function measure(context: BenchContext, scope: Scope): Promise<Finding[]> {
  const postgres = await context.postgres();
  const stage = await Stage.set(scope, postgres, 'accept');
  const workspace = await stage.workspace();
  const connection = workspace.connections[0];
  if (connection === undefined) throw new Error('the workspace has no number');
  await seedConversations(stage.database.pool, connection, RECIPIENTS);

  const herald: Server = {
    url: (await stage.herald('api')).url,
    headers: { Authorization: `Bearer ${workspace.apiKey}` },
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
  const results = await inTurn(rounds, {
    herald: load('Herald', herald),
    express: load('bare Express', express),
    twin: load('naive twin', twin),
  });
  const measured = {
    claim: 'POST /messages accepted, durable, one process, 64 connections',
    value: median(results.herald.map(rateOf)),
    unit: '/s',
    notes: notesOf(results.herald),
  };
  return [
    atLeastTimes(0.6, measured, {
      name: 'bare Express 5, same body, no database',
      value: median(results.express.map(rateOf)),
    }),
    atLeastTimes(3, measured, {
      name: 'naive twin: Nest, TypeORM save, queue.add for each request',
      value: median(results.twin.map(rateOf)),
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
  return { url: `http://127.0.0.1:${match[1]}`, headers: {} };
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
