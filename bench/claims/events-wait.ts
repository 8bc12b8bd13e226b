import { setTimeout as pause } from 'node:timers/promises';
import { insertWebhookEvents } from '../../src/modules/webhook/webhook.types.js';
import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, type Finding } from '../finding.js';
import { percentile } from '../../test/support/rig/figures.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { Stage } from '../../test/support/rig/stage.js';
import type { SeededWorkspace } from '../../test/support/rig/workspace.js';

const WORKSPACES = 2;
const READERS_EACH = 100;
const LIMIT_MS = 300;
const SETTINGS = { CONNECTIONS_PER_ADDRESS: '1000' };

/** How soon after its commit an event is with readers of GET /events that wait. */
export const eventsWaitClaim: Claim = {
  name: 'events-wait',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

async function measure(context: BenchContext, scope: Scope): Promise<Finding[]> {
  const events = context.quick ? 60 : 300;
  const stage = await Stage.set(scope, await context.postgres(), 'events_wait', { settings: SETTINGS });
  const { url } = await stage.herald('api');
  const committedAt = new Map<number, number>();
  const delays: number[] = [];
  const end = new AbortController();
  const read = async ({ apiKey }: SeededWorkspace, query: string): Promise<Page> => {
    const headers = { authorization: `Bearer ${apiKey}` };
    // One a request: fetch() takes its listener off only with the garbage.
    const signal = AbortSignal.any([end.signal]);
    const response = await fetch(`${url}/api/v1/events?${query}`, { headers, signal });
    if (response.status !== 200) throw new Error(`GET /events?${query}: ${response.status}: ${await response.text()}`);
    return (await response.json()) as Page;
  };
  const reader = async (workspace: SeededWorkspace, first: string): Promise<void> => {
    for (let after = first; ;) {
      const { data, next } = await read(workspace, `wait=25&after=${encodeURIComponent(after)}`);
      const now = performance.now();
      // What is read before its commit is known here has no delay to speak of.
      for (const event of data) delays.push(Math.max(0, now - (committedAt.get(event.data.n) ?? now)));
      after = next;
    }
  };
  const workspaces: SeededWorkspace[] = [];
  const readers: Promise<void>[] = [];
  for (let i = 0; i < WORKSPACES; i++) {
    const workspace = await stage.workspace();
    workspaces.push(workspace);
    const { next } = await read(workspace, 'after=now');
    for (let n = 0; n < READERS_EACH; n++) readers.push(reader(workspace, next));
  }
  const stopped = Promise.all(readers).catch((error: unknown) => {
    if (!end.signal.aborted) throw error;
  });
  const emit = async (): Promise<void> => {
    for (let n = 0; n < events; n++) {
      // At any moment between two looks.
      await pause(300 + ((n * 97) % 250));
      const { organizationId } = (workspaces[n % WORKSPACES] as SeededWorkspace).connections[0];
      await stage.database.pool.query(EMIT, [organizationId, JSON.stringify({ n })]);
      committedAt.set(n, performance.now());
    }
    await pause(1_000);
  };
  await Promise.race([emit(), stopped]);
  end.abort();
  await stopped;
  const value = percentile(delays, 0.95);
  const receipts = events * READERS_EACH;
  context.say(`events-wait: ${value.toFixed(0)} ms (p95), ${delays.length} of ${receipts} receipts`);
  if (delays.length !== receipts) throw new Error(`${delays.length} of ${receipts} events arrived`);
  const claim = `an event is with ${WORKSPACES * READERS_EACH} waiting readers after its commit (p95)`;
  return [atMost(LIMIT_MS, { claim, value, unit: 'ms', notes: { p50: Math.round(percentile(delays, 0.5)) } })];
}

interface Page {
  data: { data: { n: number } }[];
  next: string;
}

const EMIT = `
with source as (
  select $1::uuid as organization_id, 'media.ready'::text as event_type, clock_timestamp() as occurred_at,
    null::uuid[] as connection_ids, null::bytea as trace_context, $2::jsonb as event_data
), ${insertWebhookEvents('source')}
select count(*) from announced`;
