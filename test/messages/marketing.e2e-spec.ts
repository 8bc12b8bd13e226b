import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import type { ApiResponse } from '../support/api-client.js';
import type { ConnectionRow } from '../support/factories.js';
import { runInProcess } from '../support/run-in-process.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { templateBody } from './platform-templates.js';

let test: TestApp;
let workspace: SendingWorkspace;
let connection: ConnectionRow;
let client: SimulatorClient;

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
});
afterAll(() => test.stop());
beforeEach(async () => {
  workspace = await sendingWorkspace(test);
  await use({ marketingStatus: 'ONBOARDED' });
});

/** Sends from a number of this kind from now on. */
async function use(values: Parameters<typeof connectionAtSimulator>[2]): Promise<void> {
  connection = await connectionAtSimulator(test, workspace.organizationId, values);
  client = new SimulatorClient(test.simulatorUrl ?? '', connection.phoneNumberId);
}

const template = (category: string, name: string) =>
  client.approvedTemplate(connection.wabaId, { name, category, components: [{ type: 'BODY', text: 'Have a look' }] });

const bodyOf = (name: string, to: string) => ({ connection_id: connection.id, to, ...templateBody(name) });

async function send(name: string, lastDigits?: string): Promise<string> {
  const to = await workspace.contact(lastDigits);
  const response = await workspace.send(to, { body: bodyOf(name, to) });
  expect(response).toMatchObject({ status: 202 });
  return response.body.data.id as string;
}

const check = async (name: string): Promise<ApiResponse['body']['data']> => {
  const to = await workspace.contact();
  return (await workspace.api.post('/messages/check', bodyOf(name, to))).body.data;
};

async function change(facts: object): Promise<void> {
  expect(await client.control('POST', `numbers/${connection.phoneNumberId}`, facts)).toMatchObject({ status: 200 });
}

/** The platform's own log of a message, by the endpoint that it came by. */
function endpointsOf(id: string): string[] {
  const taken = test.simulator.messages.list().filter(({ callback }) => callback?.startsWith(id) === true);
  return taken.map(({ endpoint }) => endpoint);
}

async function attemptsOf(id: string): Promise<Record<string, unknown>[]> {
  return (await workspace.message(id)).attempts as Record<string, unknown>[];
}

const triesOf = async (id: string): Promise<number | undefined> =>
  (await test.database.query<{ tries: number }>('select tries from message_queue where message_id = $1', [id]))[0]
    ?.tries;

describe('the endpoint of a template', () => {
  it('is that of its category, and check says which', async () => {
    await template('MARKETING', 'sale');
    await template('UTILITY', 'order');
    expect([(await check('sale')).endpoint, (await check('order')).endpoint]).toEqual([
      'marketing_messages',
      'messages',
    ]);
    const [sale, order] = [await send('sale'), await send('order')];
    const sent = await workspace.reaches(sale, 'read');
    await workspace.reaches(order, 'read');
    expect(sent).toMatchObject({ pricing: { category: 'marketing_lite' } });
    expect([endpointsOf(sale), endpointsOf(order)]).toEqual([['marketing_messages'], ['messages']]);
    expect(await attemptsOf(sale)).toHaveLength(1);
  });

  it('changes with a completed change of the category, not with its announcement', async () => {
    const id = await template('UTILITY', 'news');
    expect((await check('news')).endpoint).toBe('messages');
    await client.control('POST', `templates/${id}/category`, { category: 'MARKETING', announced: true });
    await waitFor(
      async () =>
        (await workspace.api.get(`/connections/${connection.id}/templates/news`)).body.data.versions[0]
          ?.announced_category !== null,
    );
    expect((await check('news')).endpoint).toBe('messages');
    await client.control('POST', `templates/${id}/category`, { category: 'MARKETING' });
    await waitFor(async () => (await check('news')).endpoint === 'marketing_messages');
    const message = await send('news');
    await workspace.reaches(message, 'read');
    expect(endpointsOf(message)).toEqual(['marketing_messages']);
  });

  it.each([{ marketingStatus: 'ELIGIBLE' }, {}, { marketingStatus: 'ONBOARDED', marketingRoute: 'messages' as const }])(
    'is messages for a number like %j',
    async (values) => {
      await use(values);
      await template('MARKETING', 'sale');
      expect((await check('sale')).endpoint).toBe('messages');
      const message = await send('sale');
      expect(await workspace.reaches(message, 'read')).toMatchObject({ pricing: { category: 'marketing' } });
      expect(endpointsOf(message)).toEqual(['messages']);
    },
  );
});

describe('a refusal that asks for the other endpoint', () => {
  it.each([
    ['131063, where the account takes marketing templates there only', undefined, 131063, 'account_restricted'],
    ['131061, a maximum price', '0018', 131061, 'template_unavailable'],
  ])('%s: a second attempt at once, which is no second try', async (_name, lastDigits, code, category) => {
    await use({ marketingStatus: 'ELIGIBLE' });
    if (code === 131063) await change({ marketing_on_messages: 'DISABLED' });
    await template('MARKETING', 'sale');
    test.simulator.applyFaults({ statuses: 'hold' });
    const message = await send('sale', lastDigits);
    const accepted = await workspace.reaches(message, 'accepted');
    test.simulator.applyFaults({ statuses: 'on' });
    expect(accepted).toMatchObject({ attempt_count: 2 });
    expect(await attemptsOf(message)).toMatchObject([
      { number: 1, status: 'deferred', platform_code: code, failure_category: category },
      { number: 2, status: 'accepted', platform_code: null },
    ]);
    expect(endpointsOf(message)).toEqual(['marketing_messages']);
    await workspace.reaches(message, 'read');
    // The number is asked about again, in rounds that are seconds apart.
    await waitFor(async () => {
      await test.app.get(Sweeps, { strict: false }).runNow('connection_facts');
      const { body } = await workspace.api.get('/connections');
      return body.data.find(({ id }: { id: string }) => id === connection.id).marketing_status === 'ONBOARDED';
    });
    expect((await check('sale')).endpoint).toBe('marketing_messages');
  });

  it('a template that is no marketing any more goes by messages', async () => {
    const id = await template('MARKETING', 'sale');
    expect((await check('sale')).endpoint).toBe('marketing_messages');
    await client.control('POST', `templates/${id}/category`, { category: 'UTILITY', notify: false });
    const message = await send('sale');
    await workspace.reaches(message, 'read');
    expect(await attemptsOf(message)).toMatchObject([
      { status: 'deferred', platform_code: 131055 },
      { status: 'accepted' },
    ]);
    expect(endpointsOf(message)).toEqual(['messages']);
  });

  it('is tried once: what the other refuses too fails', async () => {
    await use({ marketingStatus: 'ELIGIBLE' });
    await change({ marketing_on_messages: 'DISABLED', marketing_status: 'ELIGIBLE' });
    await template('MARKETING', 'sale');
    const message = await send('sale');
    expect(await workspace.reaches(message, 'failed')).toMatchObject({
      failure_category: 'template_unavailable',
      error: { code: '134102' },
      attempt_count: 2,
    });
  });

  it('fails a message of a number that is set to messages', async () => {
    await use({ marketingStatus: 'ONBOARDED', marketingRoute: 'messages' });
    await change({ marketing_on_messages: 'DISABLED' });
    await template('MARKETING', 'sale');
    const message = await send('sale');
    expect(await workspace.reaches(message, 'failed')).toMatchObject({ error: { code: '131063' }, attempt_count: 1 });
  });

  it('a second attempt that is to wait has used one try', async () => {
    await use({ marketingStatus: 'ELIGIBLE' });
    await change({ marketing_on_messages: 'DISABLED' });
    await template('MARKETING', 'sale');
    const message = await send('sale', '0017');
    await waitFor(async () => (await triesOf(message)) === 1);
    expect(await attemptsOf(message)).toMatchObject([{ platform_code: 131063 }, { platform_code: 134101 }]);
    expect(await workspace.message(message)).toMatchObject({ status: 'queued', attempt_count: 2 });
  });
});

it('the setting and what the account may do are shown, and set by the command', async () => {
  const env = { DATABASE_URL: test.databaseUrl, DATA_DIR: test.dataDir };
  const shown = async () =>
    ((await workspace.api.get('/connections')).body.data as unknown as Record<string, unknown>[]).find(
      ({ id }) => id === connection.id,
    );
  expect(await shown()).toMatchObject({ marketing_route: 'auto', marketing_status: 'ONBOARDED' });
  const args = ['connection', 'set', connection.id, '--workspace', workspace.organizationId];
  const set = JSON.parse(await runInProcess([...args, '--marketing-route', 'messages', '--json'], env)) as object;
  expect(set).toMatchObject({ marketing_route: 'messages' });
  await waitFor(async () => (await shown())?.marketing_route === 'messages');

  await use({ marketingStatus: 'PENDING_VALID_PAYMENT_METHOD' });
  await template('MARKETING', 'sale');
  await check('sale');
  const findings = JSON.parse(await runInProcess(['doctor', '--json'], env)) as Record<string, string>[];
  expect(findings.find((finding) => finding.check === 'marketing')).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining('PENDING_VALID_PAYMENT_METHOD'),
  });
  expect(await workspace.api.get(`/connections/${newId()}/templates`)).toMatchObject({ status: 404 });
});
