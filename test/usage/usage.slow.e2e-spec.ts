import fc from 'fast-check';
import { Database } from '../../src/infrastructure/database/database.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { envelope, notify, secondsNow, statusOf } from '../inbound/fixture.js';
import { sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import type { ApiClient } from '../support/api-client.js';
import { idAt, insertMessage, type MessageSpec } from '../support/message-factory.js';
import { countUsage } from '../support/count-usage.js';
import { runs } from '../support/runs.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { type Figures, MEASURES, usage } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({});
});
afterAll(async () => test?.stop());

const countAll = (): Promise<void> => countUsage(test);

const insert = (spec: MessageSpec): Promise<{ id: string; attemptId: string | null; metaMessageId: string | null }> =>
  insertMessage(test.app.get(Database), { ...(spec.createdAt && { id: idAt(spec.createdAt) }), ...spec });

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
});
