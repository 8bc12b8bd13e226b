import { newId } from '../../src/common/ids.js';
import { ApiClient } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { Fleet } from './fleet.js';

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start(null, ['api', 'api', 'api,worker', 'api,worker']);
  await fleet.database.execute(`insert into usage_rate values (array['*'], 'marketing', 1, 0.07, 'EUR', '2026-01-01')`);
}, 180_000);
afterAll(() => fleet?.stop(), 60_000);

const TEMPLATE = { type: 'template', template: { name: 'summer_sale', language: { code: 'en_US' } } };
const TEXT = { type: 'text', text: { body: 'hello' } };

it.each([
  { limit: 'messages_per_day', value: '100', content: TEXT, refusal: 429 },
  { limit: 'spend_per_month', value: '7.00', content: TEMPLATE, refusal: 402 },
])(
  'of many concurrent callers on four processes $limit takes 100 messages',
  async ({ limit, value, content, refusal }) => {
    const { connection } = await fleet.sender(1_000);
    const { organizationId } = connection;
    await fleet.database.execute(`update organization set ${limit} = $2 where id = $1`, [organizationId, value]);
    const simulator = new SimulatorClient(fleet.simulatorUrl, connection.phoneNumberId);
    const components = [{ type: 'BODY', text: 'Half price today.' }];
    await simulator.approvedTemplate(connection.wabaId, { name: 'summer_sale', category: 'MARKETING', components });
    const { text } = await fleet.factories.apiKey({ organizationId });
    const clients = [...fleet.apis, ...fleet.workers].map(({ ready }) => new ApiClient(ready.base_url, text));
    const contacts = Array.from({ length: 10 }, () => testPhone());
    await Promise.all(contacts.map((phone) => fleet.factories.conversation({ connection, phone })));
    let next = 0;
    const statuses: Record<number, number> = {};
    const caller = async () => {
      for (let n = next++; n < 200; n = next++) {
        const body = { connection_id: connection.id, to: contacts[n % contacts.length], ...content };
        const client = clients[n % clients.length] as ApiClient;
        const { status } = await client.post('/messages', body, { headers: { 'idempotency-key': newId() } });
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 50 }, caller));
    expect(statuses).toEqual({ 202: 100, [refusal]: 100 });
    const stored = await fleet.database.query(
      `select count(*)::integer as n from message where organization_id = $1 and direction = 'outbound'`,
      [organizationId],
    );
    expect(stored).toEqual([{ n: 100 }]);
  },
  120_000,
);
