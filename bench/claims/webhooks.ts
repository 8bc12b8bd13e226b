import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { insertWebhookEvents } from '../../src/modules/webhook/webhook.types.js';
import type { BenchContext, Claim } from '../bench-context.js';
import { atLeastTimes, type Finding } from '../finding.js';
import { median } from '../../test/support/rig/figures.js';
import type { HeraldProcess } from '../../test/support/rig/herald.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { Stage } from '../../test/support/rig/stage.js';
import { waitFor } from '../../test/support/rig/wait.js';
import type { SeededWorkspace } from '../../test/support/rig/workspace.js';

const HEALTHY = 100;
const HANGING = 100;
/** Each endpoint begins with two deliveries at once. */
const FIRST_PLACES = 2;
const MIN_LEFT = 0.95;
const ROUND_MS = 60_000;

/** Endpoints on this machine, which production refuses. */
const SETTINGS = { NODE_ENV: 'development', DEMO: 'false', WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' };

/** How much of their throughput a hundred healthy endpoints keep beside a hundred that never answer. */
export const webhooksClaim: Claim = {
  name: 'webhooks',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

async function measure(context: BenchContext, scope: Scope): Promise<Finding[]> {
  const [rounds, eventsEach] = context.quick ? [3, 20] : [5, 200];
  const stage = await Stage.set(scope, await context.postgres(), 'webhooks', { settings: SETTINGS });
  const target = await Target.start(scope);
  const [api] = await Promise.all([stage.herald('api'), stage.herald('worker')]);
  const healthy = await endpoints(stage, api, HEALTHY, (n) => target.url(`/well/${n}`));
  const round = async (name: string): Promise<number> => {
    target.forget();
    await queueEvents(stage, healthy, eventsEach);
    const rate = await target.rateOf(HEALTHY * eventsEach);
    context.say(`${name}: ${Math.round(rate)} deliveries/s`);
    return rate;
  };
  // Code and connections are warm after the first, and every endpoint has earned its places.
  await round('warm-up');
  const alone: number[] = [];
  for (let i = 0; i < rounds; i++) alone.push(await round(`${HEALTHY} healthy alone`));

  const hanging = await endpoints(stage, api, HANGING, (n) => target.url(`/hang/${n}`));
  await queueEvents(stage, hanging, eventsEach);
  const hung = async (): Promise<true | null> => (target.hanging >= FIRST_PLACES * HANGING ? true : null);
  await waitFor('the others to hang', hung, { timeoutMs: 30_000 });
  const beside: number[] = [];
  for (let i = 0; i < rounds; i++) beside.push(await round(`beside ${HANGING} that hang`));
  return [
    atLeastTimes(
      MIN_LEFT,
      {
        claim: `webhook deliveries to ${HEALTHY} healthy endpoints beside ${HANGING} that hang`,
        value: median(beside),
        unit: '/s',
        notes: { beside: beside.map(Math.round).join(', '), alone: alone.map(Math.round).join(', ') },
      },
      { name: 'the same endpoints alone', value: median(alone) },
    ),
  ];
}

/** Makes workspaces that have a webhook. */
async function endpoints(
  stage: Stage,
  api: HeraldProcess,
  count: number,
  urlOf: (n: number) => string,
): Promise<SeededWorkspace[]> {
  const made: SeededWorkspace[] = [];
  for (let n = 0; n < count; n++) {
    const workspace = await stage.workspaces.create(0);
    const response = await fetch(`${api.url}/api/v1/webhook`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${workspace.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: urlOf(n) }),
    });
    if (!response.ok) throw new Error(`PUT /webhook answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
    made.push(workspace);
  }
  return made;
}

/** Writes events in one statement, as a change of messages does; the sweep wakes their lanes. */
async function queueEvents(stage: Stage, workspaces: readonly SeededWorkspace[], each: number): Promise<void> {
  const source = `(select o.id as organization_id, 'message.status.updated'::text as event_type,
      jsonb_build_object('message_id', o.id, 'status', 'sent', 'sequence', n) as event_data,
      clock_timestamp() as occurred_at, null::uuid[] as connection_ids, null::bytea as trace_context
    from unnest($1::uuid[]) as o (id), generate_series(1, $2::integer) as n)`;
  await stage.database.pool.query(`with ${insertWebhookEvents(source)} select 1`, [
    workspaces.map((one) => one.organizationId),
    each,
  ]);
}

/** The customers' web server: below /hang no answer ever comes. */
class Target {
  hanging = 0;
  private arrivals: number[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      request.resume();
      if (request.url?.startsWith('/hang') === true) {
        this.hanging++;
        return;
      }
      request.on('end', () => {
        response.writeHead(204).end();
        this.arrivals.push(performance.now());
      });
    });
  }

  static async start(scope: Scope): Promise<Target> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // Who hangs is left by the other side, and that is no fault.
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    scope.defer(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return new Target(server);
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  forget(): void {
    this.arrivals = [];
  }

  /** Waits for that many deliveries; returns how many a second came between the first and the last. */
  async rateOf(count: number): Promise<number> {
    const all = async (): Promise<true | null> => (this.arrivals.length >= count ? true : null);
    await waitFor(`${count} deliveries`, all, { timeoutMs: ROUND_MS, everyMs: 20 });
    const [first = 0, last = 0] = [this.arrivals[0], this.arrivals[count - 1]];
    return count / ((last - first) / 1_000);
  }
}
