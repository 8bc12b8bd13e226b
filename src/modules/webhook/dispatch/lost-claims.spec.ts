import { claimRequest } from '../../../../test/support/claim-request.js';
import { openProxiedDatabase, type ProxiedDatabase } from '../../../../test/support/proxied-database.js';
import { newId } from '../../../common/ids.js';
import type { Config } from '../../../infrastructure/config/config.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { LostClaimError } from '../../../infrastructure/queue/lost-claims.js';
import { insertWebhookEvents } from '../webhook.types.js';
import { DispatchRepository, webhookLaneOf } from './dispatch.repository.js';
import { DeliveryAttempts } from './webhook.processor.js';

let database: ProxiedDatabase;

beforeAll(async () => {
  database = await openProxiedDatabase();
});

afterAll(() => database.close());

async function endpointWithEvents(count: number): Promise<string> {
  const [id, organizationId] = [newId(), newId()];
  await database.direct.execute(`insert into organization (id, name) values ($1, 'Test')`, [organizationId]);
  await database.direct.execute(
    `insert into webhook_endpoint (id, organization_id, url, events, active)
     values ($1, $2, 'https://hooks.example.com/', '{message.received}', true)`,
    [id, organizationId],
  );
  const events = `(select $1::uuid as organization_id, 'message.received' as event_type, '{}'::jsonb as event_data,
    clock_timestamp() as occurred_at, null::uuid[] as connection_ids, null::bytea as trace_context
    from generate_series(1, $2::integer))`;
  await database.direct.execute(`with ${insertWebhookEvents(events)} select from announced`, [organizationId, count]);
  return id;
}

it('a claim that was committed and whose answer was lost is released: nothing of it was delivered', async () => {
  const lanes = new LaneRepository(database.direct);
  const counters = new Counters();
  const unused = {} as never;
  const attempts = new DeliveryAttempts(
    new DispatchRepository(database.proxied),
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
  database.proxy.inspect = (bytes) => (bytes.includes('COMMIT') ? 'lose_answer' : 'pass');
  const claimed = attempts.claim(lane.map((key) => claimRequest(key, newId(), 10)));
  const lost: unknown = await claimed.catch((thrown: unknown) => thrown);
  expect(lost).toBeInstanceOf(LostClaimError);
  database.proxy.inspect = null;
  await attempts.releaseLost(lost as LostClaimError, lane);
  expect(counters.snapshot().claims_taken_back).toBe(5);
  const rows = await database.direct.query(
    `select attempt_id, attempt_count, tries, due_at <= clock_timestamp() as is_due from webhook_queue
     where endpoint_id = any($1)`,
    [endpoints],
  );
  expect(rows).toEqual(rows.map(() => ({ attempt_id: null, attempt_count: 0, tries: 0, is_due: true })));
  expect(rows).toHaveLength(5);
  expect(await database.direct.query('select 1 from webhook_delivery')).toEqual([]);
});
