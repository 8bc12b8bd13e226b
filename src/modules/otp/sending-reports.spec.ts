import { CodeRows, GIVEN_BACK, USED, type Counts } from '../../../test/otp/code-rows.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import type { OtpStatus } from './otp.types.js';

let opened: OpenTestDatabase;
let rows: CodeRows;

beforeAll(async () => {
  opened = await openTestDatabase(6);
});
afterAll(() => opened.close());

beforeEach(async () => {
  await opened.database.execute(`update otp_challenge set status = 'expired' where status in ('queued', 'sending')`);
  await opened.database.execute('delete from lane');
  rows = await CodeRows.project(opened.database);
});

describe('a report', () => {
  type Report = 'sent' | 'delivered' | 'read' | 'failed';
  const REPORTS: readonly Report[] = ['sent', 'delivered', 'read', 'failed'];
  // Of each state: what each report makes of it, in the order of REPORTS, and the counts after it.
  const MOVES: Record<OtpStatus, [to: OtpStatus, counts: Counts][]> = {
    queued: [
      ['sent', USED],
      ['delivered', USED],
      ['read', USED],
      ['failed', GIVEN_BACK],
    ],
    sending: [
      ['sent', USED],
      ['delivered', USED],
      ['read', USED],
      ['failed', GIVEN_BACK],
    ],
    outcome_unknown: [
      ['sent', USED],
      ['delivered', USED],
      ['read', USED],
      ['failed', GIVEN_BACK],
    ],
    sent: [
      ['sent', USED],
      ['delivered', USED],
      ['read', USED],
      ['failed', GIVEN_BACK],
    ],
    // A failure after "delivered" is about another device.
    delivered: [
      ['delivered', USED],
      ['delivered', USED],
      ['read', USED],
      ['delivered', USED],
    ],
    read: [
      ['read', USED],
      ['read', USED],
      ['read', USED],
      ['read', USED],
    ],
    verified: [
      ['verified', USED],
      ['verified', USED],
      ['verified', USED],
      ['verified', GIVEN_BACK],
    ],
    failed: [
      ['failed', GIVEN_BACK],
      ['failed', GIVEN_BACK],
      ['failed', GIVEN_BACK],
      ['failed', GIVEN_BACK],
    ],
    expired: [
      ['expired', USED],
      ['expired', USED],
      ['expired', USED],
      ['expired', GIVEN_BACK],
    ],
  };
  const cases = Object.entries(MOVES).flatMap(([from, moves]) =>
    moves.map(([to, counts], index) => [from as OtpStatus, REPORTS[index] ?? 'sent', to, counts] as const),
  );

  it.each(cases)('%s: %s makes %s', async (from, status, to, counts) => {
    const made = await rows.make(from);
    // Three times at once, as a platform that gets no answer does.
    const told = await Promise.all([1, 2, 3].map(() => rows.report(made, status)));
    expect(told).toEqual([true, true, true]);
    expect(await rows.row(made)).toMatchObject({ status: to, code_ciphertext: null });
    expect(await rows.counts()).toEqual(counts);
  });

  const ORDERS = permutations(['answer', 'sent', 'delivered', 'read'] as const);

  it.each(ORDERS)('%s, %s, %s, %s: it is read, counted once, and its times follow each other', async (...order) => {
    const made = await rows.make('sending');
    const second = new Date(Math.floor(Date.now() / 1_000) * 1_000);
    for (const step of order) {
      if (step === 'answer') await rows.answer(made.attemptId, { kind: 'sent', metaMessageId: `wamid.${made.id}` });
      else await rows.report(made, step, { occurredAt: second });
    }
    const row = await rows.row(made);
    expect(row.status).toBe('read');
    const times = [row.created_at, row.sent_at, row.delivered_at, row.read_at].map((at) => (at as Date).getTime());
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(await rows.counts()).toEqual(USED);
  });

  it.each(permutations(['answer', 'sent', 'failed'] as const))(
    '%s, %s, %s: it has failed, and was given back once',
    async (...order) => {
      const made = await rows.make('sending');
      for (const step of order) {
        if (step === 'answer') await rows.answer(made.attemptId, { kind: 'sent', metaMessageId: `wamid.${made.id}` });
        else await rows.report(made, step);
      }
      expect(await rows.row(made)).toMatchObject({ status: 'failed', error: 'recipient_unreachable' });
      expect(await rows.counts()).toEqual(GIVEN_BACK);
    },
  );

  it('counts as it does alone among many at once, of one code and of others', async () => {
    const [read, failed, other] = [await rows.make('sending'), await rows.make('sent'), await rows.make('sending')];
    await rows.reportAll([
      [failed, 'failed'],
      [read, 'delivered'],
      [other, 'sent'],
      [read, 'sent'],
      [other, 'failed'],
      [read, 'read'],
    ]);
    const states = await Promise.all([read, failed, other].map((code) => rows.statusOf(code)));
    expect(states).toEqual(['read', 'failed', 'failed']);
    expect(await rows.counts()).toEqual({ reserved: 0, used: 1 });
  });

  it('finds its code by the platform’s id where our own was left out, and nothing of strangers', async () => {
    const made = await rows.make('sent');
    expect(await rows.report(made, 'read', { callbackData: null })).toBe(true);
    expect(await rows.statusOf(made)).toBe('read');
    const stranger = { id: 'nobody', attemptId: made.id, recipient: '1' };
    expect(await rows.report(stranger, 'failed')).toBe(false);
    expect(await rows.report(stranger, 'failed', { callbackData: null })).toBe(false);
  });

  it('gives back to the month that it was taken from', async () => {
    const made = await rows.make('sent');
    await opened.database.execute(
      `update otp_package set month = (month - interval '1 month')::date where project_id = $1`,
      [rows.projectId],
    );
    await rows.make('sent');
    await rows.report(made, 'failed');
    const months = await rows.packages.list(rows.organizationId, rows.projectId);
    expect(months.map(({ reserved, used }) => [reserved, used])).toEqual([
      [0, 1],
      [0, 0],
    ]);
  });
});

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}
