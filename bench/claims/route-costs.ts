import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, type Finding } from '../finding.js';
import { CODE_SETTINGS, CodeProject } from '../../test/support/rig/codes.js';
import type { HeraldProcess } from '../../test/support/rig/herald.js';
import { ROOT } from '../../test/support/rig/paths.js';
import type { BenchPostgres } from '../../test/support/rig/postgres.js';
import { Stage } from '../../test/support/rig/stage.js';
import { type Input, inputsOf, seedWorld } from './route-inputs.js';

const LIMIT_MS = 20;
const NUMBERS = 200;
/** Processor time is known by the hundredth of a second: so many requests at least, and until they have used this. */
const ENOUGH_MS = 150;
const [FEWEST_REQUESTS, MOST_REQUESTS] = [5, 20];
const ROUNDS = 3;
/** `monitorEventLoopDelay` looks this often, and counts it in. */
const RESOLUTION_MS = 10;
const BURST = 1_000_000;

/** Of one request, in milliseconds for each token that it costs. */
interface Cost {
  route: string;
  status: number;
  tokens: number;
  node: number;
  block: number;
  postgres: number;
}

/** What the dearest requests of each route cost Node and PostgreSQL, for each token of the key's limit. */
export const routeCostsClaim: Claim = {
  name: 'route-costs',
  measure: (context) =>
    context.scope.within(async (scope) => {
      const postgres = await context.postgres();
      const stage = await Stage.set(scope, postgres, 'costs', { settings: CODE_SETTINGS });
      const workspace = await stage.workspace(NUMBERS);
      const project = await CodeProject.seed(stage.database.pool, stage.simulator, 80);
      // Tokens come back so slowly that what is left says what was spent.
      await stage.database.pool.query('update organization set rate_per_second = 1, rate_burst = $1', [BURST]);
      const world = await seedWorld(stage.database.pool, workspace, project.id);
      const api = await stage.herald('api');
      const { id: code } = await project.send(api.url, '491511234567');
      const inputs = inputsOf({ ...world, ids: { ...world.ids, code } });
      const missing = operations().filter((id) => inputs[id] === undefined);
      if (missing.length > 0) throw new Error(`no request is known for: ${missing.join(', ')}`);
      const costs: Cost[] = [];
      for (const [operation, kinds] of Object.entries(inputs)) {
        const key = /^(otp_|usage_codes)/.test(operation) ? project.apiKey : workspace.apiKey;
        for (const [kind, make] of Object.entries(kinds)) {
          if (context.scope.isClosed) break;
          const cost = await costOf(api, postgres, key, `${operation}, ${kind}`, make);
          costs.push(cost);
          if (Math.max(cost.node, cost.block, cost.postgres) > LIMIT_MS / 4) context.say(lineOf(cost));
        }
      }
      return (['node', 'block', 'postgres'] as const).map((figure) => worst(context, costs, figure));
    }),
};

const NAMES = {
  node: 'processor time of node',
  block: 'longest block of the event loop',
  postgres: 'processor time of PostgreSQL',
} as const;

function worst(context: BenchContext, costs: readonly Cost[], figure: keyof typeof NAMES): Finding {
  const sorted = costs.toSorted((a, b) => b[figure] - a[figure]);
  const [first] = sorted;
  context.say(`${NAMES[figure]}: ${sorted.slice(0, 5).map(lineOf).join('; ')}`);
  return atMost(LIMIT_MS, {
    claim: `the dearest requests of all routes: ${NAMES[figure]} a token`,
    value: first?.[figure] ?? NaN,
    unit: 'ms',
    notes: Object.fromEntries(sorted.slice(0, 5).map((cost) => [cost.route, cost[figure]])),
  });
}

function lineOf({ route, status, tokens, node, block, postgres }: Cost): string {
  const [cpu, longest, database] = [node, block, postgres].map((ms) => ms.toFixed(1));
  return `${route}: ${status}, ${tokens} tokens, each node ${cpu}, block ${longest}, PostgreSQL ${database} ms`;
}

function operations(): string[] {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
}

async function costOf(
  api: HeraldProcess,
  postgres: BenchPostgres,
  key: string,
  route: string,
  make: () => Input,
): Promise<Cost> {
  const ask = (): Promise<Answer> => request(api, key, make());
  let round = await measured(api, postgres, ask);
  // Compilation, sweeps and garbage of other requests count too: the cheapest of several rounds is what a request costs.
  for (let i = 1; i < ROUNDS && Math.max(round.node, round.postgres) / round.tokens > LIMIT_MS / 4; i++) {
    const again = await measured(api, postgres, ask);
    round = { ...again, node: Math.min(round.node, again.node), postgres: Math.min(round.postgres, again.postgres) };
  }
  const { status, tokens, node, postgres: database } = round;
  // No block is longer than what the request costs in all.
  let block = node;
  for (let i = 0; i < ROUNDS && node / tokens > LIMIT_MS / 4; i++) {
    await longestBlock(api);
    await ask();
    block = Math.min(block, await longestBlock(api));
  }
  return { route, status, tokens, node: node / tokens, block: block / tokens, postgres: database / tokens };
}

/** Of one request. */
async function measured(api: HeraldProcess, postgres: BenchPostgres, ask: () => Promise<Answer>) {
  const first = await ask();
  const startedAt = performance.now();
  const before = [api.child.processorMs(), postgres.processorMs()] as const;
  let last = first;
  let requests = 0;
  let [node, database] = [0, 0];
  while (requests < MOST_REQUESTS && (requests < FEWEST_REQUESTS || Math.max(node, database) < ENOUGH_MS)) {
    last = await ask();
    requests += 1;
    node = api.child.processorMs() - before[0];
    database = postgres.processorMs() - before[1];
  }
  const returned = (performance.now() - startedAt) / 1_000;
  const spent = first.left - last.left + Math.min(returned, BURST - last.left);
  const tokens = Math.max(1, Math.round(spent / requests));
  return { status: last.status, tokens, node: node / requests, postgres: database / requests };
}

interface Answer {
  status: number;
  left: number;
}

async function request(api: HeraldProcess, key: string, { method, path, body }: Input): Promise<Answer> {
  const response = await fetch(`${api.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'idempotency-key': randomUUID(),
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(60_000),
  });
  await response.arrayBuffer();
  const left = Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
  return { status: response.status, left };
}

/** Milliseconds, since the last call. */
async function longestBlock(api: HeraldProcess): Promise<number> {
  const response = await fetch(`${api.url}/metrics`);
  const found = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(await response.text());
  return Math.max(0, Number(found?.[1]) * 1_000 - RESOLUTION_MS);
}
