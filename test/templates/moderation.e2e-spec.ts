import { newId } from '../../src/common/ids.js';
import { registerNumber } from '../support/register-number.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { testPhone, type ConnectionRow } from '../support/factories.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

let test: TestApp;
let sender: TestSender;
let second: ConnectionRow;
let simulator: SimulatorClient;

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 150, templateCreationsPerHour: 1_000 } });
});
afterAll(() => test.stop());
beforeEach(async () => {
  sender = await test.sender();
  const { organizationId, wabaId } = sender.connection;
  second = await test.factories.connection({ organizationId, wabaId, throughputPerSecond: 1_000 });
  registerNumber(test.simulator, second, 'Second number');
  simulator = new SimulatorClient(test.simulatorUrl ?? '', sender.connection.phoneNumberId);
});

const pathOf = (connection: ConnectionRow, tail = ''): string => `/connections/${connection.id}/templates${tail}`;
const BODY = 'Hello {{1}}, your order {{2}} is on its way.';

function create(api: ApiClient, name: string, values: object = {}): Promise<ApiResponse> {
  return api.post(pathOf(sender.connection), {
    name,
    language: 'en_US',
    category: 'UTILITY',
    body: BODY,
    variable_examples: ['Ana', '4711'],
    ...values,
  });
}

/** The status that both numbers of the account show; they always agree. */
async function statusOf(name: string): Promise<string | number> {
  const answers = await Promise.all(
    [sender.connection, second].map((each) => sender.api.get(pathOf(each, `/${name}`))),
  );
  const seen = answers.map(({ status, body }) => (status === 200 ? body.data.versions[0].status : status) as string);
  if (seen[0] !== seen[1]) throw new Error(`the numbers do not agree: ${seen.join(', ')}`);
  return seen[0] ?? '';
}

const becomes = (name: string, status: string | number): Promise<unknown> =>
  waitFor(
    async () => {
      const now = await statusOf(name);
      if (now !== status) throw new Error(`it is ${now}`);
      return true;
    },
    { what: `${name} to be ${status}` },
  );

/** A template of the platform's, changed there by hand. */
async function decide(name: string, action: string, body: object): Promise<void> {
  const list = await simulator.call('GET', `/v26.0/${sender.connection.wabaId}/message_templates?name=${name}`);
  const [template] = list.json.data as { id: string }[];
  const answer = await simulator.control('POST', `templates/${template?.id}/${action}`, body);
  if (answer.status !== 200) throw new Error(`the simulator refused: ${answer.text}`);
}

function send(connection: ConnectionRow, name: string): Promise<ApiResponse> {
  const parameters = ['Ana', '4711'].map((text) => ({ type: 'text', text }));
  return sender.api.post(
    '/messages',
    {
      connection_id: connection.id,
      to: testPhone(),
      type: 'template',
      template: { name, language: { code: 'en_US' }, components: [{ type: 'body', parameters }] },
    },
    { headers: { 'idempotency-key': newId() } },
  );
}

it('a template lives its whole life on both numbers of its account', async () => {
  const created = await create(sender.api, 'hold_me_story');
  expect([created.status, created.body.data?.status]).toEqual([201, 'pending']);
  const waiting = await send(second, 'hold_me_story');
  expect([waiting.status, waiting.body.error?.code, waiting.body.error?.template_status]).toEqual([
    422,
    'TEMPLATE_NOT_APPROVED',
    'pending',
  ]);

  await decide('hold_me_story', 'review', { event: 'APPROVED' });
  await becomes('hold_me_story', 'approved');
  for (const connection of [sender.connection, second]) {
    const sent = await send(connection, 'hold_me_story');
    expect(sent.status).toBe(202);
    const message = await waitFor(
      async () => {
        const { data } = (await sender.api.get(`/messages/${sent.body.data.id}`)).body;
        return data.status === 'read' ? data : undefined;
      },
      { what: 'the message to be read' },
    );
    expect(message.body).toBe('Hello Ana, your order 4711 is on its way.');
  }

  await decide('hold_me_story', 'review', { event: 'PAUSED' });
  await becomes('hold_me_story', 'paused');
  expect((await send(sender.connection, 'hold_me_story')).body.error?.template_status).toBe('paused');

  await decide('hold_me_story', 'review', { event: 'APPROVED' });
  await becomes('hold_me_story', 'approved');
  await waitFor(async () => (await send(sender.connection, 'hold_me_story')).status === 202, { what: 'a send' });

  const deleted = await sender.api.request({ method: 'DELETE', path: pathOf(second, '/hold_me_story') });
  expect(deleted.body.data).toEqual({ name: 'hold_me_story', deleted_languages: ['en_US'] });
  expect(await statusOf('hold_me_story')).toBe(404);
  expect((await send(sender.connection, 'hold_me_story')).body.error?.code).toBe('TEMPLATE_NOT_FOUND');
  // The platform keeps an approved template's name to itself for 30 days.
  const again = await create(sender.api, 'hold_me_story');
  expect([again.status, again.body.error.code]).toEqual([400, 'PLATFORM_REJECTED']);
  expect(await statusOf('hold_me_story')).toBe(404);
});

it('a template is approved, or rejected with a reason, a moment after it was made', async () => {
  await create(sender.api, 'good');
  await create(sender.api, 'reject_me');
  await becomes('good', 'approved');
  await becomes('reject_me', 'rejected');
  const { body } = await sender.api.get(pathOf(sender.connection, '/reject_me'));
  expect(body.data.versions[0]).toMatchObject({ rejected_reason: 'INVALID_FORMAT', platform_status: 'REJECTED' });
});

it('a change makes a template be reviewed again, once a day', async () => {
  await create(sender.api, 'hold_me_changing');
  await decide('hold_me_changing', 'review', { event: 'APPROVED' });
  await becomes('hold_me_changing', 'approved');
  const edit = () =>
    sender.api.request({
      method: 'PATCH',
      path: pathOf(sender.connection, '/hold_me_changing'),
      body: { language: 'en_US', components: [{ type: 'BODY', text: 'Your order left our warehouse today.' }] },
    });
  const first = await edit();
  expect([first.status, first.body.data?.status, first.body.data?.variables]).toEqual([200, 'pending', []]);
  await decide('hold_me_changing', 'review', { event: 'APPROVED' });
  await becomes('hold_me_changing', 'approved');
  const refused = await edit();
  expect([refused.status, refused.body.error?.code]).toEqual([400, 'PLATFORM_REJECTED']);
  expect(await statusOf('hold_me_changing')).toBe('approved');
});

it('what the platform decides by itself is shown: category, quality, components', async () => {
  const { body: made } = await create(sender.api, 'promo_me');
  expect(made.data.category).toBe('MARKETING');
  await becomes('promo_me', 'approved');
  await decide('promo_me', 'quality', { score: 'RED' });
  await decide('promo_me', 'category', { category: 'UTILITY' });
  await decide('promo_me', 'components', { components: [{ type: 'BODY', text: 'Another text, by the platform.' }] });
  await waitFor(
    async () => {
      const { body } = await sender.api.get(pathOf(second, '/promo_me'));
      const [version] = body.data.versions;
      expect([version.quality, version.category, version.components]).toEqual([
        'RED',
        'UTILITY',
        [{ type: 'BODY', text: 'Another text, by the platform.' }],
      ]);
      return true;
    },
    { what: 'all three to be shown' },
  );
});

it('a template that was made and deleted elsewhere comes and goes', async () => {
  await sender.api.get(pathOf(sender.connection));
  await simulator.call('POST', `/v26.0/${sender.connection.wabaId}/message_templates`, {
    name: 'made_elsewhere',
    language: 'de',
    category: 'MARKETING',
    components: [{ type: 'BODY', text: 'Heute ist alles billiger.' }],
  });
  await becomes('made_elsewhere', 'approved');
  await decide('made_elsewhere', 'review', { event: 'DELETED' });
  await becomes('made_elsewhere', 404);
});

it('more than a hundred templates are all there', async () => {
  const { wabaId } = sender.connection;
  const wide = new SimulatorClient(test.simulatorUrl ?? '', sender.connection.phoneNumberId);
  const made = await Promise.all(
    Array.from({ length: 118 }, (_, index) =>
      wide.call('POST', `/v26.0/${wabaId}/message_templates`, {
        name: `notice_${index}`,
        language: 'en',
        category: 'UTILITY',
        components: [{ type: 'BODY', text: `This is notice number ${index}.` }],
      }),
    ),
  );
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 200));
  const { body } = await sender.api.get(pathOf(sender.connection));
  // With the samples that every account has.
  expect(body.data).toHaveLength(120);
});

it('the examples of the description do what they say', async () => {
  const { body: description } = await test.api.get<Description>('/openapi.json');
  const examplesOf = (path: string, method: string): unknown[] => {
    const body = description.paths[`/api/v1/connections/{id}/templates${path}`]?.[method]?.requestBody;
    return Object.values(body?.content['application/json'].examples ?? {}).map(({ value }) => value);
  };
  const created = await Promise.all(
    examplesOf('', 'post').map((body) => sender.api.post(pathOf(sender.connection), body)),
  );
  expect(created.map(({ status, body }) => [status, body.error])).toEqual(created.map(() => [201, undefined]));
  const [preview] = examplesOf('/preview', 'post');
  const { body: shown } = await sender.api.post(pathOf(sender.connection, '/preview'), preview);
  expect([shown.data.body, shown.data.missing, shown.data.unused]).toEqual([
    'Hello Ana, your order 4711 is on its way.',
    [],
    [],
  ]);
  const [edit] = examplesOf('/{name}', 'patch');
  const path = pathOf(sender.connection, '/order_update');
  expect((await sender.api.request({ method: 'PATCH', path, body: edit })).status).toBe(200);
});

interface Description {
  paths: Record<
    string,
    Record<
      string,
      { requestBody?: { content: { 'application/json': { examples: Record<string, { value: unknown }> } } } }
    >
  >;
}
