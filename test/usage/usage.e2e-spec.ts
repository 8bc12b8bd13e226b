import { newId } from '../../src/common/ids.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { OtpService } from '../../src/modules/otp/otp.service.js';
import { UsageService } from '../../src/modules/usage/usage.service.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { envelope, notify, statusOf } from '../inbound/fixture.js';
import { sendingWorkspace } from '../messages/fixture.js';
import { otpApp } from '../otp/fixture.js';
import { idAt, insertMessage, type MessageSpec } from '../support/message-factory.js';
import { countUsage } from '../support/count-usage.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { type Cost, usage } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp();
  // Slots begin at the first count: from the oldest message on, were there one of weeks ago.
  await countAll();
});
afterAll(async () => test?.stop());

const countAll = (): Promise<void> => countUsage(test);

const insert = (spec: MessageSpec): Promise<{ id: string; attemptId: string | null; metaMessageId: string | null }> =>
  insertMessage(test.app.get(Database), { ...(spec.createdAt && { id: idAt(spec.createdAt) }), ...spec });

describe('GET /usage', () => {
  it('rows have the start of their interval in the zone, and groups and filters', async () => {
    const workspace = await sendingWorkspace(test);
    const { connection, api } = workspace;
    const at = new Date('2026-10-24T22:30:00Z');
    await insert({ connection, recipient: '491701234567', createdAt: at, status: 'delivered' });
    await insert({
      connection,
      recipient: '919812345678',
      createdAt: at,
      status: 'failed',
      failureCategory: 'expired',
    });
    await countAll();
    const range = 'since=2026-10-20T00:00:00Z&until=2026-10-30T00:00:00Z';
    const { data, as_of: asOf } = await usage(api, `${range}&timezone=Europe/Berlin&group_by=country`);
    expect(data.map(({ start, country, submitted, failures }) => [start, country, submitted, failures])).toEqual([
      ['2026-10-25T00:00:00.000+02:00', 'DE', 1, {}],
      ['2026-10-25T00:00:00.000+02:00', 'IN', 1, { expired: 1 }],
    ]);
    expect(asOf).not.toBeNull();
    expect((await usage(api, `${range}&country=IN`)).totals).toMatchObject({ submitted: 1, failed: 1, delivered: 0 });
    const second = await test.factories.connection({ organizationId: workspace.organizationId });
    expect((await usage(api, `${range}&connection=${connection.id.toUpperCase()}`)).totals.submitted).toBe(2);
    expect((await usage(api, `${range}&connection=${second.id}`)).data).toEqual([]);
    const name = 'connection_id';
    for (const value of [connection.id, second.id]) {
      const former = await usage(api, `${range}&connection=${value}&group_by=connection`);
      expect(await usage(api, `${range}&${name}=${value}&group_by=${name}`)).toEqual(former);
      expect(await usage(api, `${range}&${name}=${value}&connection=${value}&group_by=${name},connection`)).toEqual(
        former,
      );
      for (const row of former.data) expect([row.connection, row.connection_id]).toEqual([value, value]);
    }
    expect((await usage(api, `${range}&connection_id=${connection.id}`)).totals.submitted).toBe(2);
    const both = await api.get(`/usage?${range}&connection=${second.id}&connection_id=${connection.id}`);
    expect([both.status, both.body.error.details?.[0]?.field]).toEqual([400, 'connection']);
    expect((await usage((await sendingWorkspace(test)).api, range)).data).toEqual([]);
  });

  const lateSlots = async (): Promise<{ start: Date; minutes: number }[]> => {
    await test.app.get(Sweeps).runNow('usage');
    return test.database.query(
      `select start, extract(epoch from at - clock_timestamp())::float8 / 60 as minutes from usage_due
       where start < now() - interval '2 days' order by start`,
    );
  };
  const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
  const startOf = (time: Date): Date => new Date(Math.floor(time.getTime() / 900_000) * 900_000);

  it('counts a status that comes days later, of a message and of a code', async () => {
    const { connection, api } = await sendingWorkspace(test);
    const createdAt = daysAgo(10);
    const sent = await insert({ connection, createdAt, status: 'sent' });
    const project = await otpApp(test, 'sandbox');
    const { body } = await project.send('+4917012345678');
    const [codeAt, attemptId] = [daysAgo(5), newId()];
    await test.database.query('update otp_challenge set id = $2, attempt_id = $3, created_at = $4 where id = $1', [
      body.data.id,
      idAt(codeAt),
      attemptId,
      codeAt,
    ]);
    await countAll();
    expect(await lateSlots()).toEqual([]);
    const codes = async () => (await project.api.get('/usage/codes')).body as unknown as { totals: object };
    expect((await codes()).totals).toMatchObject({ requested: 1, delivered: 0 });

    await notify(test, envelope(connection, { statuses: [statusOf(sent, 'delivered')] }));
    await test.app.get(OtpService).applyReports([
      {
        callbackData: attemptId,
        metaMessageId: 'wamid.late',
        status: 'delivered',
        occurredAt: new Date(),
        error: null,
      },
    ]);
    const due = await lateSlots();
    expect(due.map(({ start }) => start)).toEqual([startOf(createdAt), startOf(codeAt)]);
    for (const { minutes } of due) expect(minutes).toBeGreaterThan(4);
    await countAll();
    expect((await usage(api)).totals).toMatchObject({ submitted: 1, sent: 1, delivered: 1, read: 0 });
    expect((await codes()).totals).toMatchObject({ requested: 1, delivered: 1 });
    expect(await lateSlots()).toEqual([]);
  });

  it('keeps the country of an old message whose contact is erased, with a status that came late', async () => {
    const workspace = await sendingWorkspace(test);
    const { connection, organizationId, api } = workspace;
    const phone = await workspace.contact();
    const sent = await insert({ connection, recipient: phone, createdAt: daysAgo(10), status: 'sent' });
    await countAll();
    const countries = async (): Promise<unknown[]> =>
      (await usage(api, 'group_by=country')).data.map(({ country, delivered }) => [country, delivered]);
    const [[country] = []] = (await countries()) as string[][];
    expect(country).toMatch(/^[A-Z]{2}$/);
    await notify(test, envelope(connection, { statuses: [statusOf(sent, 'delivered')] }));
    await test.app.get(Erasure).erase(organizationId, phone);
    const [erased] = await test.database.query('select recipient from message where id = $1', [sent.id]);
    expect(erased).toEqual({ recipient: null });
    // Nothing asks for another count of its slot, which would know no country.
    expect(await lateSlots()).toEqual([]);
    expect(await countries()).toEqual([[country, 1]]);
  });

  it('a foreign number and an unknown one answer alike, as in GET /messages', async () => {
    const [{ api }, foreign] = [await sendingWorkspace(test), await sendingWorkspace(test)];
    const answers = [
      await api.get(`/usage?connection=${foreign.connection.id}`),
      await api.get(`/usage?connection=${newId()}`),
      await api.get(`/messages?connection_id=${newId()}`),
    ];
    for (const { body } of answers) body.error.request_id = '';
    expect([answers[0]?.status, answers[0]?.body.error.code]).toEqual([404, 'CONNECTION_NOT_FOUND']);
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
  });

  it.each([
    ['since=2026-10-20', 'since'],
    ['since=2026-10-20T00:00:00Z&until=2026-10-19T00:00:00Z', 'since'],
    ['interval=hour&since=2026-01-01T00:00:00Z&until=2026-03-01T00:00:00Z', 'since'],
    ['timezone=Mars/Olympus', 'timezone'],
    ['group_by=phone', 'group_by'],
    ['country=de', 'country'],
  ])('refuses %s', async (query, field) => {
    const { api } = await sendingWorkspace(test);
    const { status, body } = await api.get(`/usage?${query}`);
    expect([status, body.error?.code, body.error?.details?.[0]?.field]).toEqual([400, 'INVALID_REQUEST', field]);
  });

  it('estimates the cost from the prices that the operator set', async () => {
    const { connection, api } = await sendingWorkspace(test);
    const at = new Date('2026-10-10T12:00:00Z');
    for (let index = 0; index < 3; index++) {
      const { id } = await insert({
        connection,
        recipient: '491701234567',
        createdAt: at,
        status: 'read',
      });
      const billed = `update message_state set billable = true, pricing_category = 'utility', pricing_type = 'regular' where message_id = $1`;
      await test.database.query(billed, [id]);
    }
    await countAll();
    const range = 'since=2026-10-01T00:00:00Z&until=2026-11-01T00:00:00Z';
    expect((await usage(api, range)).totals).toMatchObject({ billable: { utility: 3 }, cost: null });
    const header = 'countries,category,tier_from,price,currency,valid_from';
    await test.app
      .get(UsageService)
      .setRates(`${header}\nDE,utility,1,0.055,EUR,2026-01-01\nDE,utility,3,0.04,EUR,2026-01-01\n`);
    expect((await usage(api, range)).totals.cost).toEqual({ currency: 'EUR', amount: '0.15' });
    await test.app.get(UsageService).setRates(`${header}\nFR,utility,1,0.055,EUR,2026-01-01\n`);
    expect((await usage(api, range)).totals.cost).toBeNull();
  });

  it('says what has no price, and what the rest costs; marketing has the messages of marketing_lite too', async () => {
    const { connection, api } = await sendingWorkspace(test);
    const createdAt = new Date('2026-10-11T12:00:00Z');
    for (const category of ['marketing_lite', 'marketing_lite', 'marketing', 'utility', 'utility', 'utility']) {
      const { id } = await insert({
        connection,
        recipient: '491701234567',
        createdAt,
        status: 'read',
      });
      await test.database.query(
        'update message_state set billable = true, pricing_category = $2, pricing_type = $3 where message_id = $1',
        [id, category, 'regular'],
      );
    }
    await countAll();
    const range = 'since=2026-10-01T00:00:00Z&until=2026-11-01T00:00:00Z&interval=month';
    const setRates = (...lines: string[]): Promise<unknown> =>
      test.app
        .get(UsageService)
        .setRates(['countries,category,tier_from,price,currency,valid_from', ...lines].join('\n'));

    await setRates('DE,marketing,1,0.05,EUR,2026-01-01');
    const { data, totals } = await usage(api, `${range}&group_by=category`);
    const eur = (amount: string): Cost => ({ currency: 'EUR', amount });
    expect(totals).toMatchObject({ cost: null, cost_of_priced: eur('0.15'), unpriced: { utility: 3 } });
    expect(data).toMatchObject([
      { category: 'marketing', submitted: 1, cost: eur('0.05'), cost_of_priced: eur('0.05'), unpriced: {} },
      { category: 'marketing_lite', submitted: 2, cost: eur('0.10') },
      { category: 'utility', submitted: 3, cost: null, cost_of_priced: eur('0.00'), unpriced: { utility: 3 } },
    ]);
    const both = await usage(api, `${range}&category=marketing`);
    expect(both.totals).toMatchObject({ submitted: 3, billable: { marketing: 1, marketing_lite: 2 }, unpriced: {} });
    expect(both.totals.cost).toEqual(eur('0.15'));
    const rows = (await usage(api, `${range}&category=marketing&group_by=category`)).data;
    expect(rows.map(({ submitted }) => submitted)).toEqual([1, 2]);
    expect((await usage(api, `${range}&category=marketing_lite`)).totals.submitted).toBe(2);
    expect((await usage(api, `${range}&category=marketing&country=DE&type=text`)).totals.submitted).toBe(3);

    await setRates('DE,marketing,1,0.05,EUR,2026-01-01', 'DE,marketing_lite,1,0.01,EUR,2026-01-01');
    expect((await usage(api, `${range}&category=marketing`)).totals.cost).toEqual(eur('0.07'));
    await test.database.query('delete from usage_rate');
    expect((await usage(api, range)).totals).toMatchObject({
      cost: null,
      cost_of_priced: null,
      unpriced: { marketing: 1, marketing_lite: 2, utility: 3 },
    });
  });
});

describe('GET /usage/codes', () => {
  it("counts the project's codes by country", async () => {
    const app = await otpApp(test, 'sandbox');
    const { body } = await app.send('+4917012345678');
    await app.verify(body.data.id as string, body.data.test_code as string);
    await app.send('+919812345678');
    await countAll();
    const answer = (await app.api.get('/usage/codes')).body as unknown as Record<'totals' | 'data', unknown>;
    expect(answer.totals).toMatchObject({ requested: 2, verified: 1 });
    expect((answer.data as { country: string }[]).map(({ country }) => country)).toEqual(['DE', 'IN']);
    const other = await otpApp(test, 'sandbox');
    expect((await other.api.get('/usage/codes')).body.data).toEqual([]);
  });
});
