import { newId } from '../../src/common/ids.js';
import { testPhone } from '../support/factories.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { connectionAtSimulator, sendingWorkspace } from './fixture.js';

const MESSAGES = 2_000;
const TEMPLATES = 10;

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});
afterAll(() => test.stop());

// Of ten templates two change their category while the campaign runs: one is announced, and the platform keeps silent on
// the other. The account takes no marketing template by messages.
it('a campaign whose templates change their category while it runs: nothing lost, nothing twice, each by the right endpoint', async () => {
  const { organizationId, api } = await sendingWorkspace(test);
  const connection = await connectionAtSimulator(test, organizationId, { marketingStatus: 'ONBOARDED' });
  const client = new SimulatorClient(test.simulatorUrl ?? '', connection.phoneNumberId);
  await client.control('POST', `numbers/${connection.phoneNumberId}`, { marketing_on_messages: 'DISABLED' });
  const templates: { id: string; name: string }[] = [];
  for (let n = 0; n < TEMPLATES; n++) {
    // One of those that change is utility before.
    const category = n === 1 ? 'UTILITY' : 'MARKETING';
    const name = `campaign_${n}`;
    const components = [{ type: 'BODY', text: `Offer ${n}` }];
    templates.push({ id: await client.approvedTemplate(connection.wabaId, { name, category, components }), name });
  }
  const taken = () => test.simulator.messages.list({ limit: 2 * MESSAGES });

  const ids = new Map<string, string>();
  for (let sent = 0; sent < MESSAGES; sent += 100) {
    const messages = Array.from({ length: 100 }, (_, n) => ({
      idempotency_key: newId(),
      connection_id: connection.id,
      to: testPhone(),
      type: 'template',
      template: { name: templates[n % TEMPLATES]?.name, language: { code: 'en_US' } },
    }));
    const response = await api.post('/messages/batch', { messages });
    expect(response.status).toBe(202);
    for (const { id, index } of response.body.data as unknown as { id: string; index: number }[]) {
      ids.set(id, templates[index % TEMPLATES]?.name ?? '');
    }
    if (sent === 800) await waitFor(() => taken().length > 0);
    if (sent === 800) {
      await client.control('POST', `templates/${templates[0]?.id}/category`, { category: 'UTILITY', notify: false });
      await client.control('POST', `templates/${templates[1]?.id}/category`, { category: 'MARKETING' });
    }
  }
  expect(ids.size).toBe(MESSAGES);

  await waitFor(async () => {
    const [row] = await test.database.query<{ read: number; failed: number }>(
      `select count(*) filter (where status = 'read')::int as read,
         count(*) filter (where status in ('failed', 'outcome_unknown'))::int as failed
       from message_state where connection_id = $1`,
      [connection.id],
    );
    expect(row?.failed).toBe(0);
    return row?.read === MESSAGES;
  });

  const log = taken();
  const counts = new Map<string, number>();
  for (const { callback } of log) {
    const id = callback?.split('.')[0] ?? '';
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  expect(counts.size).toBe(MESSAGES);
  expect([...ids.keys()].every((id) => counts.get(id) === 1)).toBe(true);
  // The simulator takes no template by the wrong endpoint; those that changed went by both.
  for (const [n, { name }] of templates.entries()) {
    const endpoints = new Set(
      log.filter(({ callback }) => ids.get(callback?.split('.')[0] ?? '') === name).map(({ endpoint }) => endpoint),
    );
    expect([...endpoints].toSorted()).toEqual(n < 2 ? ['marketing_messages', 'messages'] : ['marketing_messages']);
  }
  const refused = await test.database.query<{ number: number; platform_code: number; attempts: number }>(
    `select a.number, a.platform_code, s.attempt_number as attempts from message_attempt_view a
     join message_state s on s.message_id = a.message_id where s.connection_id = $1 and a.id <> s.attempt_id`,
    [connection.id],
  );
  expect(refused.length).toBeGreaterThan(0);
  for (const row of refused) {
    expect([131055, 131063]).toContain(row.platform_code);
    expect(row).toMatchObject({ number: 1, attempts: 2 });
  }
});
