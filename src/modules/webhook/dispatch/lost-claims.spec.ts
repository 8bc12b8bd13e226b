import { DataSource } from 'typeorm';
import { claimRequest } from '../../../../test/support/claim-request.js';
import { Scope } from '../../../../test/support/rig/scope.js';
import { TcpProxy } from '../../../../test/support/rig/tcp-proxy.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { newId } from '../../../common/ids.js';
import type { Config } from '../../../infrastructure/config/config.js';
import { dataSourceOptions } from '../../../infrastructure/database/data-source.js';
import { Database } from '../../../infrastructure/database/database.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { LostClaimError } from '../../../infrastructure/queue/lost-claims.js';
import { insertWebhookEvents } from '../webhook.types.js';
import { DispatchRepository, webhookLaneOf } from './dispatch.repository.js';
import { DeliveryAttempts } from './webhook.processor.js';

let scope: Scope;
let opened: OpenTestDatabase;
let source: DataSource;
let proxy: TcpProxy;

beforeAll(async () => {
  scope = new Scope();
  opened = await openTestDatabase(4);
  proxy = await TcpProxy.before(scope, opened.url);
  source = new DataSource(dataSourceOptions({ url: proxy.through(opened.url), poolSize: 2, queryTimeoutMs: 10_000 }));
  await source.initialize();
});

afterAll(async () => {
  await source.destroy();
  await scope.close();
  await opened.close();
});

async function endpointWithEvents(count: number): Promise<string> {
  const [id, organizationId] = [newId(), newId()];
  await opened.database.execute(`insert into organization (id, name) values ($1, 'Test')`, [organizationId]);
  await opened.database.execute(
    `insert into webhook_endpoint (id, organization_id, url, events, active)
     values ($1, $2, 'https://hooks.example.com/', '{message.received}', true)`,
    [id, organizationId],
  );
  const events = `(select $1::uuid as organization_id, 'message.received' as event_type, '{}'::jsonb as event_data,
    clock_timestamp() as occurred_at, null::uuid[] as connection_ids, null::bytea as trace_context
    from generate_series(1, $2::integer))`;
  await opened.database.execute(`with ${insertWebhookEvents(events)} select from announced`, [organizationId, count]);
  return id;
}

it('a claim that was committed and whose answer was lost is put back: nothing of it was delivered', async () => {
  const lanes = new LaneRepository(opened.database);
  const counters = new Counters();
  const unused = {} as never;
  const attempts = new DeliveryAttempts(
    new DispatchRepository(new Database(source)),
    lanes,
    unused,
    unused,
    unused,
    counters,
    Tracing.OFF,
    { webhook: { maxInFlightPerEndpoint: 64, maxInFlight: 100 } } as Config,
  );
  const endpoints = [await endpointWithEvents(3), await endpointWithEvents(2)];
  const lane = endpoints.map(webhookLaneOf);
  for (const key of lane) await lanes.ensure(key);
  // The claim is a transaction: its commit is what may have happened or not.
  proxy.inspect = (bytes) => (bytes.includes('COMMIT') ? 'lose_answer' : 'pass');
  const claimed = attempts.claim(lane.map((key) => claimRequest(key, newId(), 10)));
  await expect(claimed).rejects.toBeInstanceOf(LostClaimError);
  proxy.inspect = null;
  await waitFor(() => counters.snapshot().claims_taken_back === 5);
  const rows = await opened.database.query(
    `select attempt_id, attempt_count, tries, due_at <= clock_timestamp() as is_due from webhook_queue
     where endpoint_id = any($1)`,
    [endpoints],
  );
  expect(rows).toEqual(rows.map(() => ({ attempt_id: null, attempt_count: 0, tries: 0, is_due: true })));
  expect(rows).toHaveLength(5);
  expect(await opened.database.query('select 1 from webhook_delivery')).toEqual([]);
});
