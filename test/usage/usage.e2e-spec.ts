import fc from 'fast-check';
import { newId } from '../../src/common/ids.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { OtpService } from '../../src/modules/otp/otp.service.js';
import { UsageService } from '../../src/modules/usage/usage.service.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { envelope, notify, secondsNow, statusOf } from '../inbound/fixture.js';
import { sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { otpApp } from '../otp/fixture.js';
import type { ApiClient } from '../support/api-client.js';
import { idAt, insertMessage, type MessageSpec } from '../support/message-factory.js';
import { countUsage } from '../support/count-usage.js';
import { runs } from '../support/runs.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

const MEASURES = [
  'submitted',
  'accepted',
  'sent',
  'delivered',
  'read',
  'failed',
  'outcome_unknown',
  'received',
] as const;
type Figures = Record<(typeof MEASURES)[number], number>;
interface Row extends Figures {
  start: string;
  country?: string | null;
  connection?: string | null;
  connection_id?: string | null;
  billable: Record<string, number>;
  failures: Record<string, number>;
  cost: Cost | null;
  cost_of_priced: Cost | null;
  unpriced: Record<string, number>;
}
interface Cost {
  currency: string;
  amount: string;
}

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({});
});
afterAll(async () => test?.stop());

const countAll = (): Promise<void> => countUsage(test);

const insert = (spec: MessageSpec): Promise<{ id: string; attemptId: string | null; metaMessageId: string | null }> =>
  insertMessage(test.app.get(Database), { ...(spec.createdAt && { id: idAt(spec.createdAt) }), ...spec });

async function usage(api: ApiClient, query = ''): Promise<{ data: Row[]; totals: Row; as_of: string | null }> {
  const { status, body } = await api.get(`/usage?${query}`);
  expect(status).toBe(200);
  return body as unknown as { data: Row[]; totals: Row; as_of: string | null };
}

/** A count of every message in the journal, by what the API says of each. */
async function journal(api: ApiClient): Promise<Figures> {
  const figures = Object.fromEntries(MEASURES.map((measure) => [measure, 0])) as Figures;
  let place = '';
  do {
    const { body } = await api.get(`/messages?limit=100${place}`);
    for (const message of body.data as Record<string, string | null>[]) {
      const { status, direction } = message;
      if (direction === 'inbound') {
        figures.received++;
        continue;
      }
      figures.submitted++;
      const passed = ['accepted', 'sent', 'delivered', 'read'] as const;
      // What failed may have been accepted and sent before: the times are in the message alone, not in the list.
      const { body: whole } =
        status === 'failed' ? await api.get(`/messages/${message.id}`) : { body: { data: message } };
      const times = whole.data as Record<string, string | null>;
      const reached = Math.max(
        passed.indexOf(status as 'sent'),
        ...passed.map((each, index) => ((times[`${each}_at`] ?? null) === null ? -1 : index)),
      );
      for (const [index, each] of passed.entries()) if (index <= reached) figures[each]++;
      if (status === 'failed' || status === 'outcome_unknown') figures[status]++;
    }
    const { next_before: before, next_before_id: id } = body.pagination as Record<string, string | null>;
    place = (before ?? null) === null ? '' : `&before=${encodeURIComponent(before ?? '')}&before_id=${id}`;
  } while (place !== '');
  return figures;
}

const sumOf = (rows: readonly Figures[]): Figures =>
  Object.fromEntries(MEASURES.map((measure) => [measure, rows.reduce((sum, row) => sum + row[measure], 0)])) as Figures;
const only = (figures: Figures): Figures => sumOf([figures]);

interface Step {
  act: 'send' | 'status' | 'repeat' | 'receive' | 'retry' | 'cancel' | 'erase' | 'count' | 'broken';
  pick: number;
  status: string;
}
const step = fc.record<Step>({
  act: fc.constantFrom(
    'send',
    'send',
    'send',
    'status',
    'status',
    'repeat',
    'receive',
    'retry',
    'cancel',
    'erase',
    'count',
    'broken',
  ),
  pick: fc.nat(1_000),
  status: fc.constantFrom('sent', 'delivered', 'read', 'failed'),
});

const FAILED_AFTER_SENT: Step[] = [
  { act: 'send', pick: 1, status: 'sent' },
  { act: 'status', pick: 0, status: 'failed' },
];

class Traffic {
  private readonly messages: { id: string; phone: string; at: number }[] = [];
  private readonly phones: string[] = [];
  private readonly reports: object[] = [];

  constructor(private readonly workspace: SendingWorkspace) {}

  async start(): Promise<void> {
    for (let index = 0; index < 4; index++) this.phones.push(await this.workspace.contact());
    // Hours are counted from the oldest message on.
    const createdAt = new Date(Date.now() - 90_000_000);
    const { connection } = this.workspace;
    await insert({ connection, createdAt, status: 'accepted' });
  }

  async take({ act, pick, status }: Step): Promise<void> {
    const { workspace } = this;
    const { connection, api } = workspace;
    const phone = this.phones[pick % this.phones.length] ?? '';
    const message = this.messages[pick % Math.max(this.messages.length, 1)];
    if (act === 'send' && pick % 3 === 0) {
      const body = { send_at: new Date(Date.now() + 3_600_000).toISOString() };
      const { body: answer } = await workspace.send(phone, { body });
      if (answer.data !== undefined) this.messages.push({ id: answer.data.id as string, phone, at: 0 });
    } else if (act === 'send') {
      // Of any time of the last day, in any state.
      const at = new Date(Date.now() - (pick % 40) * 2_000_000);
      const state = (['accepted', 'sent', 'delivered', 'read', 'failed', 'outcome_unknown'] as const)[pick % 6];
      const spec = { connection, recipient: phone, createdAt: at, status: state, failureCategory: 'unknown' };
      const { id } = await insert(spec);
      this.messages.push({ id, phone, at: at.getTime() });
    } else if (act === 'status' && message !== undefined) {
      const [row] = await test.database.query<{ attempt: string | null; meta: string | null }>(
        'select attempt_id as attempt, meta_message_id as meta from message_state where message_id = $1',
        [message.id],
      );
      if (row === undefined || row.attempt === null) return;
      const pricing = { billable: pick % 2 === 0, category: 'utility', type: 'regular', pricing_model: 'PMP' };
      const ids = { id: message.id, attemptId: row.attempt, metaMessageId: row.meta };
      const change = { timestamp: String(secondsNow() - (pick % 100)), pricing };
      const errors = status === 'failed' ? { errors: [{ code: 131026, title: 'undeliverable' }] } : {};
      this.reports.push(envelope(connection, { statuses: [statusOf(ids, status, { ...change, ...errors })] }));
      await notify(test, this.reports.at(-1));
    } else if (act === 'repeat' && this.reports.length > 0) {
      await notify(test, this.reports[pick % this.reports.length]);
    } else if (act === 'receive') {
      await insert({ connection, recipient: phone, status: 'received' });
    } else if (act === 'retry' && message !== undefined) {
      await api.post(`/messages/${message.id}/retry`, { confirm_outcome_unknown: true });
    } else if (act === 'cancel' && message !== undefined) {
      await api.post(`/messages/${message.id}/cancel`);
    } else if (act === 'erase' && pick % 4 === 0) {
      await test.app.get(Erasure).erase(workspace.organizationId, phone);
    } else if (act === 'count') {
      await Promise.all([test.app.get(Sweeps).runNow('usage'), test.app.get(Sweeps).runNow('usage')]);
    } else if (act === 'broken') await this.breakOff();
  }

  /** As where a worker is killed while it counts: its transaction is gone. */
  private async breakOff(): Promise<void> {
    await test.database.query('update usage_due set at = clock_timestamp() where at is not null');
    const run = test.app
      .get(Sweeps)
      .runNow('usage')
      .catch(() => undefined);
    await test.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and query ilike '%insert into usage %'`,
    );
    await run;
  }
}

describe('GET /usage', () => {
  it('sums equal a count of the journal, whatever happened to the messages', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
        await test.database.query('delete from usage_due');
        await test.database.query('delete from usage');
        const workspace = await sendingWorkspace(test);
        const traffic = new Traffic(workspace);
        await traffic.start();
        for (const each of steps) await traffic.take(each);
        // Whatever was taken back into the queue ends.
        await waitFor(
          async () => {
            const waiting = 'select from message_queue where organization_id = $1 and held_until is null';
            return (await test.database.query(waiting, [workspace.organizationId])).length === 0;
          },
          { what: 'an empty queue' },
        );
        const { api } = workspace;
        const range = (interval: string, days: number): string =>
          `interval=${interval}&since=${new Date(Date.now() - days * 86_400_000).toISOString()}`;
        // A report may follow at any time: both counts are of one moment when they agree twice.
        await waitFor(
          async () => {
            await countAll();
            const counted = await journal(api);
            const whole = only((await usage(api, range('day', 60))).totals);
            return JSON.stringify(whole) === JSON.stringify(counted);
          },
          { what: 'the same count' },
        );
        const counted = await journal(api);
        for (const query of [
          `${range('day', 60)}&timezone=Asia/Kathmandu&group_by=country,type,category`,
          `${range('month', 60)}&timezone=America/New_York&group_by=source`,
          `${range('hour', 30)}&timezone=Asia/Kolkata&group_by=connection,template`,
        ]) {
          const { data, totals } = await usage(api, query);
          expect(sumOf(data)).toEqual(only(totals));
          expect(only(totals)).toEqual(counted);
        }
      }),
      { numRuns: runs(3), endOnFailure: true, examples: [[FAILED_AFTER_SENT]] },
    );
  }, 300_000);

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
