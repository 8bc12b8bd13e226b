import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp();
  workspace = await sendingWorkspace(test);
});
afterAll(() => test.stop());

const text = (to: string, fields: object = {}) => ({
  idempotency_key: newId(),
  connection_id: workspace.connection.id,
  to,
  type: 'text',
  text: { body: 'Hi' },
  ...fields,
});
const check = (messages: unknown[], more: object = {}) =>
  workspace.api.post('/messages/batch/check', { messages, ...more });

it('answers errors and warnings by index, what is known already, and stores nothing', async () => {
  const known = text(await workspace.contact());
  const sent = await workspace.api.post('/messages/batch', { messages: [known] });
  const optedOut = await workspace.contact();
  await workspace.api.request({ method: 'PUT', path: '/opt-outs', body: { to: optedOut, category: 'all' } });
  const closed = '15550009999';
  const before = await test.database.count('select count(*)::integer as count from message');
  const { status, body } = await check([
    text(await workspace.contact()),
    known,
    text(optedOut),
    text(closed),
    { idempotency_key: 'no', to: 5 },
    text(await workspace.contact(), { type: 'image', text: undefined, media: { link: 'https://example.com/a.png' } }),
  ]);
  expect(status).toBe(200);
  const answer = body as unknown as Record<string, { index: number; code: string }[]>;
  expect(answer.data).toEqual({ messages: 6, sendable: 2 });
  expect(answer.replayed).toEqual([{ index: 1, id: sent.body.data[0].id }]);
  const found = (list: { index: number; code: string }[] = []) => list.map(({ index, code }) => [index, code]);
  expect(found(answer.errors)).toEqual([
    [2, 'RECIPIENT_OPTED_OUT'],
    [3, 'SERVICE_WINDOW_CLOSED'],
    [4, 'VALIDATION_FAILED'],
  ]);
  expect(found(answer.warnings)).toEqual([[5, 'MEDIA_LINK_NOT_CHECKED']]);
  expect(await test.database.count('select count(*)::integer as count from message')).toBe(before);
  const other = await check([{ ...known, text: { body: 'Another' } }]);
  expect(other.body).toMatchObject({ data: { sendable: 0 }, errors: [{ index: 0, code: 'IDEMPOTENCY_KEY_REUSED' }] });
});

it('costs one request of the limit for each message', async () => {
  const { id: organizationId } = await test.factories.workspace({ ratePerSecond: 1, rateBurst: 5 });
  const { text: key } = await test.factories.apiKey({ organizationId });
  const api = test.api.as(key);
  const messages = Array.from({ length: 4 }, () => text('15550001111'));
  expect((await api.post('/messages/batch/check', { messages })).status).toBe(200);
  const { status, body } = await api.post('/messages/batch/check', { messages });
  expect([status, body.error.code]).toEqual([429, 'RATE_LIMITED']);
});

it('422 for a body that is no batch, 403 for a key that may not send', async () => {
  expect((await check([])).status).toBe(422);
  expect((await check([text('15550001111')], { other: 1 })).status).toBe(422);
  const { organizationId } = workspace;
  const { text: key } = await test.factories.apiKey({ organizationId, scopes: ['messages:read'] });
  const answer = await test.api.as(key).post('/messages/batch/check', { messages: [text('15550001111')] });
  expect(answer.status).toBe(403);
});
