import { changeOf, entries, notify, statusOf } from '../inbound/fixture.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' }, simulator: { statusGapMs: 20 } });
});
afterAll(() => test.stop());
beforeEach(async () => {
  workspace = await sendingWorkspace(test);
});

const PAID = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'service', subtype: 'paid_exempt' };
const SHOWN = { billable: true, category: 'service', type: 'regular', subtype: 'paid_exempt', model: 'PMP' };
const FREE = { billable: false, category: 'service', type: 'free_customer_service', subtype: null, model: 'PMP' };

const make = () => test.factories.message({ connection: workspace.connection, status: 'accepted' });

async function report(...statuses: object[]): Promise<void> {
  const { connection } = workspace;
  await notify(test, entries([{ id: connection.wabaId, changes: [changeOf(connection, { statuses })] }]));
}

const pricingOf = async (id: string) => (await workspace.message(id)).pricing;

describe('what WhatsApp charges for a message', () => {
  it('is null until WhatsApp says it, and then in the message, in lists and in events', async () => {
    const message = await make();
    expect(await pricingOf(message.id)).toBeNull();
    await report(statusOf(message, 'sent', { pricing: PAID }));
    expect(await pricingOf(message.id)).toEqual(SHOWN);
    const { body } = await workspace.api.get('/messages');
    expect(body.data[0]).toMatchObject({ id: message.id, pricing: SHOWN });
  });

  it.each<[string, string[][]]>([
    ['in order', [['sent'], ['delivered'], ['read']]],
    ['at once', [['read', 'sent', 'delivered']]],
    ['backwards, each twice', [['read'], ['read'], ['delivered'], ['delivered'], ['sent'], ['sent']]],
  ])('is what the first report says that has it: %s', async (_how, rounds) => {
    const message = await make();
    // `read` has none; the later of the other two may say something else.
    const priced = new Set<string>();
    const pricing = (status: string) => {
      if (status === 'read') return {};
      const isFirst = priced.size === 0 || priced.has(`first ${status}`);
      if (priced.size === 0) priced.add(`first ${status}`);
      return { pricing: isFirst ? PAID : { ...PAID, type: 'free_customer_service', billable: false } };
    };
    for (const round of rounds) {
      await report(...round.map((status) => statusOf(message, status, pricing(status))));
    }
    expect(await workspace.message(message.id)).toMatchObject({ status: 'read', pricing: SHOWN });
  });

  it.each([
    [
      { type: 'regular', category: 'authentication-international' },
      { type: 'regular', billable: null, model: null },
    ],
    [
      { category: 'marketing_lite', billable: true },
      { category: 'marketing_lite', type: null, billable: true },
    ],
    [
      { type: 'a_new_type', category: 'a_new_category' },
      { type: 'a_new_type', category: 'a_new_category' },
    ],
  ])('is kept in the words of WhatsApp: %j', async (pricing, shown) => {
    const message = await make();
    await report(statusOf(message, 'delivered', { pricing }));
    expect(await pricingOf(message.id)).toMatchObject(shown);
  });

  it.each([[undefined], [null], ['regular'], [{}], [{ billable: true }], [{ type: 7 }]])(
    'is null where it can’t be read: %j',
    async (pricing) => {
      const message = await make();
      await report(statusOf(message, 'sent', { pricing }));
      expect(await workspace.message(message.id)).toMatchObject({ status: 'sent', pricing: null });
    },
  );

  it('is kept of a message whose report comes before the answer to its send', async () => {
    const message = await test.factories.message({ connection: workspace.connection, status: 'processing' });
    await report(statusOf(message, 'sent', { pricing: PAID, id: 'wamid.early' }));
    expect(await workspace.message(message.id)).toMatchObject({ status: 'sent', pricing: SHOWN });
  });

  it('is free for service messages, until the free ones of the month are used up', async () => {
    const change = (body: object) =>
      fetch(`${test.simulatorUrl}/_simulator/numbers/${workspace.connection.phoneNumberId}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await change({ free_service_messages: 1 })).status).toBe(200);
    const read = async () => {
      const id = await workspace.sendText(await workspace.contact());
      return (await workspace.reaches(id, 'read')).pricing;
    };
    expect(await read()).toEqual(FREE);
    expect(await read()).toEqual({ ...FREE, billable: true, type: 'regular' });
  });
});

it('an event about a message has its pricing, once it is known', async () => {
  const body = { url: 'http://127.0.0.1:9/', events: ['message.status.updated'] };
  expect((await workspace.api.request({ method: 'PUT', path: '/webhook', body })).status).toBeLessThan(300);
  const id = await workspace.sendText(await workspace.contact());
  await workspace.reaches(id, 'read');
  const events = await waitFor(async () => {
    const { body: page } = await workspace.api.get('/events?limit=100');
    const all = (page.data as { type: string; data: Record<string, unknown> }[]).map(({ data }) => data);
    return all.some(({ status }) => status === 'read') ? all : undefined;
  });
  const pricing = Object.fromEntries(events.map((data) => [data.status, data.pricing]));
  expect(pricing).toMatchObject({ accepted: null, sent: FREE, delivered: FREE, read: FREE });
});
