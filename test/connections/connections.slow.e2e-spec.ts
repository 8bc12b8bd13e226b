import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('GET /connections', () => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api'] });
  });
  afterAll(async () => test?.stop());

  it('has all numbers of a workspace, and notices of an account reach all of its numbers', async () => {
    const { id } = await test.factories.workspace();
    await test.database.execute(
      `insert into connection (id, organization_id, phone_number_id, waba_id, phone_number, status, token_ciphertext)
       select gen_random_uuid(), $1, 'crowd-' || n, 'crowd', '15' || lpad(n::text, 9, '0'), 'disconnected', '\\x00'
       from generate_series(1, 1100) as n`,
      [id],
    );
    await test.app.get(ConnectionsService).applyNotification({
      wabaId: 'crowd',
      phoneNumberId: null,
      occurredAt: null,
      field: 'business_capability_update',
      value: { max_daily_conversations_per_business: 'TIER_10K' },
    });
    const { body } = await test.api.as((await test.factories.apiKey({ organizationId: id })).text).get('/connections');
    const numbers = body.data as { id: string; messaging_limit: string }[];
    expect(new Set(numbers.map((number) => number.id)).size).toBe(1_100);
    expect(new Set(numbers.map((number) => number.messaging_limit))).toEqual(new Set(['TIER_10K']));
  });
});
