import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { changeOf, entries, notify, statusOf } from '../inbound/fixture.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { type Limits, limitedWorkspace } from './limited-workspace.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
});
afterAll(() => test?.stop());

const limited = (limits: Limits) => limitedWorkspace(test, limits);

const template = (name: string) => ({
  text: undefined,
  type: 'template',
  template: { name, language: { code: 'en_US' } },
});

async function withTemplates<T extends SendingWorkspace>(workspace: T): Promise<T> {
  const { phoneNumberId, wabaId } = workspace.connection;
  const simulator = new SimulatorClient(test.simulatorUrl ?? '', phoneNumberId);
  for (const [name, category] of Object.entries({ summer_sale: 'MARKETING', shipped: 'UTILITY' })) {
    await simulator.approvedTemplate(wabaId, { name, category, components: [{ type: 'BODY', text: 'Good news.' }] });
  }
  return workspace;
}

const stored = (organizationId: string) =>
  test.database
    .query<{ n: number }>(
      `select count(*)::integer as n from message where organization_id = $1 and direction = 'outbound'`,
      [organizationId],
    )
    .then(([row]) => row?.n);

describe('a limit of messages a day', () => {
  it('says what is used and when it renews; a repeat never meets it', async () => {
    const workspace = await limited({ perDay: 1, zone: 'Asia/Kolkata' });
    const to = await workspace.contact();
    const key = newId();
    const first = await workspace.send(to, { key });
    const { status, body, headers } = await workspace.send(to);
    expect({ status, ...body.error }).toMatchObject({
      status: 429,
      code: 'WORKSPACE_LIMIT_REACHED',
      limit: 1,
      used: 1,
      remaining: 0,
      renews_at: expect.stringMatching(/T18:30:00.000Z$/),
      retry_after_seconds: Number(headers.get('retry-after')),
    });
    const repeat = await workspace.send(to, { key });
    expect([repeat.status, repeat.body.data.id]).toEqual([202, first.body.data.id]);
    const checked = await workspace.api.post('/messages/check', {
      connection_id: workspace.connection.id,
      to,
      type: 'text',
      text: { body: 'hello' },
    });
    expect(checked.body.data).toMatchObject({
      sendable: false,
      problems: [{ code: 'WORKSPACE_LIMIT_REACHED' }],
      limits: [{ kind: 'messages_per_day', limit: 1, used: 1, remaining: 0 }],
    });
  });

  it('counts no request that makes no message', async () => {
    const workspace = await limited({ perDay: 1 });
    const closed = await workspace.send('+4915199999999');
    expect(closed.body.error.code).toBe('SERVICE_WINDOW_CLOSED');
    expect((await workspace.send(await workspace.contact())).status).toBe(202);
  });

  it('gets back what is canceled before it was sent; a retry counts again', async () => {
    const workspace = await limited({ perDay: 1 });
    const to = await workspace.contact();
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = (await workspace.send(to, { body: { send_at: sendAt } })).body.data as { id: string };
    expect((await workspace.send(to)).status).toBe(429);
    expect((await workspace.api.post(`/messages/${id}/cancel`)).status).toBe(200);
    expect((await workspace.send(to)).status).toBe(202);
    const retry = await workspace.api.post(`/messages/${id}/retry`, {}, { headers: { 'idempotency-key': newId() } });
    expect([retry.status, retry.body.error?.code]).toEqual([429, 'WORKSPACE_LIMIT_REACHED']);
    expect((await workspace.api.get(`/messages/${id}`)).body.data).toMatchObject({ status: 'failed' });
  });

  it('gets back what WhatsApp refuses', async () => {
    const workspace = await limited({ perDay: 1 });
    const { id } = (await workspace.send(await workspace.contact('0003'))).body.data as { id: string };
    await workspace.reaches(id, 'failed');
    expect((await workspace.send(await workspace.contact())).status).toBe(202);
    expect((await workspace.send(await workspace.contact())).status).toBe(429);
  });

  it('counts each message of a batch; a strict one takes all or none', async () => {
    const workspace = await limited({ perDay: 2 });
    const to = await workspace.contact();
    const message = () => ({
      idempotency_key: newId(),
      connection_id: workspace.connection.id,
      to,
      type: 'text',
      text: { body: 'hello' },
    });
    const three = { messages: [message(), message(), message()] };
    const strict = await workspace.api.post('/messages/batch', three);
    expect([strict.status, strict.body.error?.code]).toEqual([429, 'WORKSPACE_LIMIT_REACHED']);
    expect(await stored(workspace.organizationId)).toBe(0);
    const { body } = await workspace.api.post('/messages/batch', { ...three, validation: 'permissive' });
    const { data, errors } = body as unknown as { data: unknown[]; errors: { code: string; index: number }[] };
    expect(data).toHaveLength(2);
    expect(errors).toMatchObject([{ index: 2, code: 'WORKSPACE_LIMIT_REACHED', limit: 2, used: 2 }]);
    const again = await workspace.api.post('/messages/batch', { messages: three.messages.slice(0, 2) });
    expect(again.body.data).toMatchObject([{ replayed: true }, { replayed: true }]);
  });

  it('is announced once at 80 and once at 100 per cent', async () => {
    const workspace = await limited({ perDay: 5 });
    const { next } = (await workspace.api.get('/events?after=now')).body as unknown as { next: string };
    for (let i = 0; i < 6; i++) await workspace.send(await workspace.contact());
    const events = await waitFor(
      async () => {
        const { body } = await workspace.api.get(`/events?after=${next}&types=workspace.limit.reached`);
        const found = body.data as unknown as { data: object }[];
        return found.length === 2 && found;
      },
      { what: 'both events' },
    );
    expect(events.map(({ data }) => data)).toMatchObject([
      { kind: 'messages_per_day', percent: 80, limit: 5, used: 4, remaining: 1 },
      { kind: 'messages_per_day', percent: 100, limit: 5, used: 5, remaining: 0 },
    ]);
  });
});

describe('a limit of spending', () => {
  beforeAll(() =>
    test.database.execute(
      `insert into usage_rate (countries, category, tier_from, price, currency, valid_from) values
         ('{*}', 'marketing', 1, 0.10, 'EUR', '2026-01-01'), ('{US}', 'utility', 1, 0.04, 'EUR', '2026-01-01'),
         ('{US}', 'utility', 1000, 0.03, 'EUR', '2026-01-01'), ('{*}', 'authentication', 1, 9, 'EUR', '2026-01-01')`,
    ),
  );

  it('refuses the template that has no room; what is free passes, and so does a repeat', async () => {
    const workspace = await withTemplates(await limited({ spend: '0.25', zone: 'Asia/Kolkata' }));
    const to = await workspace.contact();
    const key = newId();
    const first = await workspace.send(to, { body: template('summer_sale'), key });
    expect((await workspace.send(to, { body: template('summer_sale') })).status).toBe(202);
    const { status, body, headers } = await workspace.send(to, { body: template('summer_sale') });
    const used = { limit: '0.25', used: '0.20', remaining: '0.05', currency: 'EUR' };
    expect({ status, ...body.error }).toMatchObject({
      ...used,
      status: 402,
      code: 'SPEND_LIMIT_REACHED',
      renews_at: expect.stringMatching(/T18:30:00.000Z$/),
      retry_after_seconds: Number(headers.get('retry-after')),
    });
    const repeat = await workspace.send(to, { body: template('summer_sale'), key });
    expect([repeat.status, repeat.body.data.id]).toEqual([202, first.body.data.id]);
    expect((await workspace.send(to)).status).toBe(202);
    const check = (content: object) =>
      workspace.api.post('/messages/check', { connection_id: workspace.connection.id, to, ...content });
    const checked = await check(template('summer_sale'));
    expect(checked.body.data).toMatchObject({
      problems: [{ code: 'SPEND_LIMIT_REACHED', ...used }],
      limits: [{ kind: 'spend_per_month', ...used }],
    });
    const free = await check({ type: 'text', text: { body: 'hello' } });
    expect(free.body.data).toMatchObject({ sendable: true, limits: [{ kind: 'spend_per_month', ...used }] });
  });

  it('gets back what is canceled; a retry reserves again', async () => {
    const workspace = await withTemplates(await limited({ spend: '0.15' }));
    const to = await workspace.contact();
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const later = { body: { ...template('summer_sale'), send_at } };
    const { id } = (await workspace.send(to, later)).body.data as { id: string };
    expect((await workspace.send(to, later)).status).toBe(402);
    expect((await workspace.api.post(`/messages/${id}/cancel`)).status).toBe(200);
    expect((await workspace.send(to, later)).status).toBe(202);
    const retry = await workspace.api.post(`/messages/${id}/retry`, {}, { headers: { 'idempotency-key': newId() } });
    expect([retry.status, retry.body.error?.code]).toEqual([402, 'SPEND_LIMIT_REACHED']);
    expect((await workspace.api.get(`/messages/${id}`)).body.data).toMatchObject({ status: 'failed' });
  });

  it('a retry of a tag counts as well', async () => {
    const workspace = await withTemplates(await limited({ spend: '0.10' }));
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const tagged = { body: { ...template('summer_sale'), tag: 'sale', send_at } };
    const { id } = (await workspace.send(await workspace.contact(), tagged)).body.data as { id: string };
    expect((await workspace.api.post(`/messages/${id}/cancel`)).status).toBe(200);
    expect((await workspace.send(await workspace.contact(), tagged)).status).toBe(202);
    expect((await workspace.api.post('/tags/sale/retry', { category: 'canceled' })).status).toBe(202);
    await waitFor(async () => (await workspace.api.get('/tags/sale')).body.data.status === 'active', {
      what: 'the retry to end',
    });
    expect((await workspace.api.get(`/messages/${id}`)).body.data).toMatchObject({ status: 'failed' });
  });

  it('counts what WhatsApp charges once it says so, and nothing for what it leaves free or cannot deliver', async () => {
    const workspace = await withTemplates(await limited({ spend: '1.00' }));
    const usedNow = async () => {
      const { body } = await workspace.api.post('/messages/check', {
        connection_id: workspace.connection.id,
        to: await workspace.contact(),
        ...template('shipped'),
      });
      return (body.data as unknown as { limits: { used: string }[] }).limits[0]?.used;
    };
    const send = async (digits?: string) => {
      const { body } = await workspace.send(await workspace.contact(digits), { body: template('shipped') });
      return body.data.id as string;
    };
    test.simulator.applyFaults({ statuses: 'hold' });
    const free = await send();
    await workspace.reaches(free, 'accepted');
    expect(await usedNow()).toBe('0.04');
    const { metaMessageId } = await test.database.row<{ metaMessageId: string }>(
      'select meta_message_id as "metaMessageId" from message_state where message_id = $1',
      [free],
    );
    const pricing = { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category: 'utility' };
    const sent = statusOf({ id: free, attemptId: null, metaMessageId }, 'sent', { pricing });
    const { connection } = workspace;
    await notify(test, entries([{ id: connection.wabaId, changes: [changeOf(connection, { statuses: [sent] })] }]));
    test.simulator.applyFaults({ statuses: 'on' });
    expect(await usedNow()).toBe('0.00');
    await workspace.reaches(await send('0002'), 'failed');
    expect(await usedNow()).toBe('0.00');
    const charged = await send();
    await workspace.reaches(charged, 'read');
    // In the background, in rounds that are seconds apart.
    await waitFor(
      async () => {
        await test.app.get(Sweeps, { strict: false }).runNow('limits');
        const open = 'select from limit_correction where organization_id = $1';
        return (await test.database.query(open, [workspace.organizationId])).length === 0;
      },
      { what: 'the corrections to be settled' },
    );
    expect(await usedNow()).toBe('0.04');
  });

  it('is announced at 80 per cent, and where there is no room for another one', async () => {
    const workspace = await withTemplates(await limited({ spend: '1.00' }));
    const { next } = (await workspace.api.get('/events?after=now')).body as unknown as { next: string };
    for (let i = 0; i < 11; i++) await workspace.send(await workspace.contact(), { body: template('summer_sale') });
    const events = await waitFor(
      async () => {
        const { body } = await workspace.api.get(`/events?after=${next}&types=workspace.limit.reached`);
        const found = body.data as unknown as { data: object }[];
        return found.length === 2 && found;
      },
      { what: 'both events' },
    );
    const data = { kind: 'spend_per_month', limit: '1.00', currency: 'EUR' };
    expect(events.map((event) => event.data)).toMatchObject([
      { ...data, percent: 80, used: '0.80', remaining: '0.20' },
      { ...data, percent: 100, used: '1.00', remaining: '0.00' },
    ]);
  });
});

it('a limit of marketing for one recipient is for that recipient, and for marketing', async () => {
  const workspace = await withTemplates(await limited({ marketing: 1 }));
  const [to, other] = [await workspace.contact(), await workspace.contact()];
  const key = newId();
  const first = await workspace.send(to, { body: template('summer_sale'), key });
  expect(first.status).toBe(202);
  const { status, body } = await workspace.send(to, { body: template('summer_sale') });
  expect({ status, ...body.error }).toMatchObject({ status: 422, code: 'RECIPIENT_LIMIT_REACHED', limit: 1, used: 1 });
  expect((await workspace.send(to, { body: template('summer_sale'), key })).body.data.id).toBe(first.body.data.id);
  expect((await workspace.send(other, { body: template('summer_sale') })).status).toBe(202);
  expect((await workspace.send(to)).status).toBe(202);
  await test.app.get(Erasure).erase(workspace.organizationId, to);
  const rows = await test.database.query('select recipient from limit_use where organization_id = $1', [
    workspace.organizationId,
  ]);
  expect(rows).toEqual([{ recipient: other }]);
});

it('a limit of marketing for one recipient counts both spellings of a number as one, also for a check and a retry', async () => {
  const workspace = await withTemplates(await limited({ marketing: 1 }));
  const end = `55${testPhone().slice(-8)}`;
  const send_at = new Date(Date.now() + 3_600_000).toISOString();
  const first = await workspace.send(`+52${end}`, { body: { ...template('summer_sale'), send_at } });
  expect(first.status).toBe(202);
  const checked = await workspace.api.post('/messages/check', {
    connection_id: workspace.connection.id,
    to: `+521${end}`,
    ...template('summer_sale'),
  });
  expect(checked.body.data).toMatchObject({
    problems: [{ code: 'RECIPIENT_LIMIT_REACHED', used: 1 }],
    limits: [{ kind: 'marketing_per_recipient_per_week', used: 1, remaining: 0 }],
  });
  const id = first.body.data.id as string;
  expect((await workspace.api.post(`/messages/${id}/cancel`)).status).toBe(200);
  const second = await workspace.send(`+521${end}`, { body: { ...template('summer_sale'), send_at } });
  expect(second.status).toBe(202);
  const retry = await workspace.api.post(`/messages/${id}/retry`, {}, { headers: { 'idempotency-key': newId() } });
  expect([retry.status, retry.body.error?.code]).toEqual([409, 'RECIPIENT_LIMIT_REACHED']);
});

it('a workspace without limits counts nothing', async () => {
  const workspace = await sendingWorkspace(test);
  await workspace.sendText(await workspace.contact());
  const rows = await test.database.query('select 1 from limit_use where organization_id = $1', [
    workspace.organizationId,
  ]);
  expect(rows).toEqual([]);
});
