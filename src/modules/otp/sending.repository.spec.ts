import { jest } from '@jest/globals';
import { systemClock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { CodeRows, GIVEN_BACK, RESERVED, USED, type Counts, type MadeCode } from '../../../test/otp/code-rows.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { OtpMaintenanceRepository } from './otp-maintenance.repository.js';
import type { OtpStatus } from './otp.types.js';
import { SweepCursor } from '../../infrastructure/queue/sweeps.js';
import { OVERDUE_SINCE } from './sending.repository.js';

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

/** Queues as many codes like the given one; `project` is SQL that may use `n`. */
async function crowd(like: MadeCode, count: number, project = 'project_id', waitedSeconds = 0): Promise<void> {
  await rows.database.execute(
    `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key, fingerprint,
       status, code_hash, code_key_version, code_ciphertext, template_language, attempt_id, created_at, expires_at)
     select gen_random_uuid(), organization_id, ${project}, mode, recipient, country, gen_random_uuid()::text, fingerprint,
       'queued', code_hash, code_key_version, 'sealed', template_language, gen_random_uuid(),
       clock_timestamp() - make_interval(secs => $3), expires_at
     from otp_challenge cross join generate_series(1, $2) as n where id = $1`,
    [like.id, count, waitedSeconds],
  );
}

describe('claiming', () => {
  const many = async (project: CodeRows, count: number) => {
    for (let i = 0; i < count; i++) await project.make();
    return project.projectId;
  };

  it('gives each project a turn, whichever was first', async () => {
    const [b, c] = [await CodeRows.project(opened.database), await CodeRows.project(opened.database)];
    const [idA, idB, idC] = [await many(rows, 6), await many(b, 2), await many(c, 1)];
    const claimed = await rows.claim(6);
    expect(claimed.map(({ projectId }) => projectId)).toEqual([...[idA, idB, idC].sort(), ...[idA, idB].sort(), idA]);
    expect((await rows.claim(10)).map(({ projectId }) => projectId)).toEqual([idA, idA, idA]);
  });

  it('keeps the turns where the pace gives one code at a time', async () => {
    const b = await CodeRows.project(opened.database);
    const [idA, idB] = [await many(rows, 5), await many(b, 2)];
    const turns: string[] = [];
    let after: string | null = null;
    for (let i = 0; i < 7; i++) {
      const [claimed] = await rows.claim(1, after);
      after = claimed?.projectId ?? null;
      turns.push(after ?? '');
    }
    const [first, second] = [idA, idB].sort();
    expect(turns).toEqual([first, second, first, second, idA, idA, idA]);
  });

  describe('with 1,100 projects in front', () => {
    const PROJECT = `('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid`;
    const projectOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

    it('goes on behind the last turn, and then from the first project', async () => {
      const last = await rows.make();
      for (let each = 0; each < 2; each++) await crowd(last, 1_100, PROJECT);
      const claimed = await rows.claim(3, projectOf(1_099));
      expect(claimed.map(({ projectId }) => projectId)).toEqual([projectOf(1_100), rows.projectId, projectOf(1)]);
      expect(claimed[1]?.id).toBe(last.id);
    });

    it('skips projects whose codes are all too old', async () => {
      const last = await rows.make();
      await crowd(last, 1_100, PROJECT, 31);
      expect((await rows.claim(3)).map(({ id }) => id)).toEqual([last.id]);
    });
  });

  it('opens a lease, and gives a code once', async () => {
    const made = await rows.make();
    const claims = await Promise.all(Array.from({ length: 4 }, () => rows.claim(1)));
    expect(claims.flat()).toMatchObject([{ id: made.id, recipient: made.recipient }]);
    const row = await rows.row(made);
    expect(row.attempt_id).toBe(claims.flat()[0]?.attemptId);
    expect(row).toMatchObject({ status: 'sending', sending_at: expect.any(Date) });
    expect((row.lease_until as Date).getTime()).toBeGreaterThan(Date.now() + 10_000);
  });

  it('stops where another process holds the lane, or it rests', async () => {
    const [first, second] = [newId(), newId()];
    await rows.make();
    expect(await rows.claim(0, null, first)).toEqual([]);
    expect(await rows.claim(1, null, second)).toEqual([]);
    await opened.database.execute(`update lane set paused_until = clock_timestamp() + interval '1 minute'`);
    expect(await rows.claim(1, null, first)).toEqual([]);
  });

  it.each([
    ['is over', `expires_at = clock_timestamp()`],
    ['has waited for half a minute', `created_at = created_at - interval '30 seconds'`],
    ['was wiped', `code_ciphertext = null`],
  ])('leaves out a code that %s', async (_name, change) => {
    const made = await rows.make();
    await opened.database.execute(`update otp_challenge set ${change} where id = $1`, [made.id]);
    const other = await rows.make();
    expect((await rows.claim(1)).map(({ id }) => id)).toEqual([other.id]);
  });

  it('what is released goes out under an attempt of its own, and the old one touches nothing', async () => {
    const made = await rows.make();
    const attemptId = (await rows.claim(1))[0]?.attemptId ?? '';
    expect(await rows.sending.release(attemptId)).toBe(true);
    const [again] = await rows.claim(1);
    expect(again?.id).toBe(made.id);
    expect(again?.attemptId).not.toBe(attemptId);
    // As a process does that never learned that its statement was committed.
    expect(await rows.sending.release(attemptId)).toBe(false);
    await rows.answer(attemptId, { kind: 'failed', error: 'platform_unavailable' });
    expect(await rows.statusOf(made)).toBe('sending');
    expect(await rows.counts()).toEqual(RESERVED);
  });
});

describe('the answer to a send', () => {
  const sent = { kind: 'sent', metaMessageId: 'wamid.1' } as const;
  const failed = { kind: 'failed', error: 'invalid_content' } as const;
  const unknown = { kind: 'unknown' } as const;

  it.each<[OtpStatus, typeof sent | typeof failed | typeof unknown, OtpStatus, Counts]>([
    ['sending', sent, 'sent', USED],
    ['sending', failed, 'failed', GIVEN_BACK],
    ['sending', unknown, 'outcome_unknown', RESERVED],
    // However late: the lease was over.
    ['outcome_unknown', sent, 'sent', USED],
    ['outcome_unknown', failed, 'failed', GIVEN_BACK],
    ['outcome_unknown', unknown, 'outcome_unknown', RESERVED],
    // A notification was faster.
    ['delivered', sent, 'delivered', USED],
    ['read', sent, 'read', USED],
    ['read', unknown, 'read', USED],
    ['failed', sent, 'failed', GIVEN_BACK],
    ['failed', failed, 'failed', GIVEN_BACK],
    // Superseded or expired on its way.
    ['expired', sent, 'expired', USED],
    ['expired', failed, 'expired', GIVEN_BACK],
    ['expired', unknown, 'expired', RESERVED],
    ['verified', sent, 'verified', USED],
    ['verified', unknown, 'verified', USED],
  ])('%s: %j makes %s', async (from, outcome, to, counts) => {
    const made = await rows.make(from);
    for (let times = 0; times < 2; times++) await rows.answer(made.attemptId, outcome);
    expect(await rows.row(made)).toMatchObject({ status: to, code_ciphertext: null, lease_until: null });
    expect(await rows.counts()).toEqual(counts);
  });
});

describe('the end', () => {
  const STATES: [OtpStatus, ended: OtpStatus, Counts][] = [
    // A code that no attempt has begun to send is given back; one that may have been sent is not.
    ['queued', 'expired', GIVEN_BACK],
    ['sending', 'expired', RESERVED],
    ['outcome_unknown', 'expired', RESERVED],
    ['sent', 'expired', USED],
    ['delivered', 'expired', USED],
    ['read', 'expired', USED],
    ['verified', 'verified', USED],
    ['failed', 'failed', GIVEN_BACK],
  ];

  it.each(STATES)('by a newer code: %s becomes %s', async (from, to, counts) => {
    const made = await rows.make(from);
    await Promise.all([rows.supersede(made), rows.supersede(made)]);
    expect(await rows.row(made)).toMatchObject({ status: to, code_ciphertext: null });
    expect(await rows.counts()).toEqual(counts);
  });

  it.each(STATES)('by wrong codes: %s becomes %s', async (from, to, counts) => {
    const made = await rows.make(from);
    await Promise.all([rows.end(made), rows.end(made)]);
    expect(await rows.row(made)).toMatchObject({ status: to, code_ciphertext: null });
    expect(await rows.counts()).toEqual(counts);
  });

  it.each(STATES)('by its time: %s becomes %s', async (from, to, counts) => {
    const made = await rows.make(from);
    await opened.database.execute(
      `update otp_challenge set expires_at = clock_timestamp() - interval '1 millisecond' where id = $1`,
      [made.id],
    );
    await Promise.all([rows.endOverdue(), rows.endOverdue(), rows.supersede(made)]);
    expect(await rows.row(made)).toMatchObject({ status: to, code_ciphertext: null, error: null });
    expect(await rows.counts()).toEqual(counts);
  });

  it('by half a minute in the queue: it has failed and is given back', async () => {
    const made = await rows.make();
    await opened.database.execute(
      `update otp_challenge set created_at = created_at - interval '30 seconds' where id = $1`,
      [made.id],
    );
    await rows.endOverdue();
    expect(await rows.row(made)).toMatchObject({ status: 'failed', error: 'platform_unavailable' });
    expect(await rows.counts()).toEqual(GIVEN_BACK);
  });

  it('by a lease that is over: its outcome is unknown, it stays reserved and is not sent again', async () => {
    const [late, early] = [await rows.make('sending'), await rows.make('sending')];
    await opened.database.execute('update otp_challenge set lease_until = clock_timestamp() where id = $1', [late.id]);
    expect(await rows.sending.expireLeases(10)).toBe(1);
    expect([await rows.statusOf(late), await rows.statusOf(early)]).toEqual(['outcome_unknown', 'sending']);
    expect(await rows.claim(10)).toEqual([]);
    expect(await rows.sending.release(late.attemptId)).toBe(false);
    expect(await rows.counts()).toEqual({ reserved: 2, used: 0 });
  });
});

describe('while claims are blocked, a code', () => {
  /** What was accepted before now may have been sent by the database before. */
  const block = (since = 'clock_timestamp()', on = 'identity_of_database()') =>
    opened.database.execute(
      `update database_identity set identity = 'another', blocked_since = ${since}, blocked_on = ${on}`,
    );
  const waited = (code: MadeCode, seconds: number) =>
    opened.database.execute(
      `update otp_challenge set created_at = created_at - make_interval(secs => $2),
         expires_at = expires_at - make_interval(secs => $2) where id = $1`,
      [code.id, seconds],
    );
  const hasOverdue = async () =>
    (
      await opened.database.row<{ found: boolean }>(
        `select ${OVERDUE_SINCE(SweepCursor.from('null'))} is not null as found`,
      )
    ).found;

  afterEach(() =>
    opened.database.execute(
      'update database_identity set identity = identity_of_database(), blocked_since = null, blocked_on = null',
    ),
  );

  it.each([
    ['has waited for half a minute', 40],
    ['has expired', 400],
  ])('that may have been sent and %s stays queued and reserved, until a restore marks it', async (_name, seconds) => {
    const made = await rows.make();
    await block();
    await waited(made, seconds);
    expect(await hasOverdue()).toBe(false);
    await rows.endOverdue();
    expect(await rows.statusOf(made)).toBe('queued');
    const now = new Date(Date.now() + 1_000);
    expect(await new OtpMaintenanceRepository(opened.database).markUncertain(now)).toBe(1);
    // All of them are looked at every five seconds.
    jest.spyOn(systemClock, 'monotonic').mockReturnValueOnce(systemClock.monotonic() + 61_000);
    await rows.endOverdue();
    expect(await rows.statusOf(made)).toBe(seconds > 300 ? 'expired' : 'outcome_unknown');
    expect(await rows.counts()).toEqual(RESERVED);
  });

  it('stays queued where no process has noted yet since when', async () => {
    const made = await rows.make();
    await waited(made, 40);
    await block('null');
    await rows.endOverdue();
    expect(await rows.statusOf(made)).toBe('queued');
    // Noted on the database before, which was blocked, too.
    await block(`clock_timestamp() - interval '1 hour'`, `'one before'`);
    await rows.endOverdue();
    expect(await rows.statusOf(made)).toBe('queued');
  });

  it.each([
    ['a newer code', (made: MadeCode) => rows.supersede(made)],
    ['wrong codes', (made: MadeCode) => rows.end(made)],
  ])('that may have been sent and is ended by %s stays reserved', async (_name, end) => {
    const made = await rows.make();
    await block(`clock_timestamp() + interval '1 second'`);
    await end(made);
    expect(await rows.statusOf(made)).toBe('expired');
    expect(await rows.counts()).toEqual(RESERVED);
  });

  it('that was accepted since then was not sent: it has failed after half a minute, and is given back', async () => {
    await block(`clock_timestamp() - interval '1 hour'`);
    const made = await rows.make();
    await waited(made, 40);
    expect(await hasOverdue()).toBe(true);
    await rows.endOverdue();
    expect(await rows.row(made)).toMatchObject({ status: 'failed', error: 'platform_unavailable' });
    expect(await rows.counts()).toEqual(GIVEN_BACK);
  });

  it('that was sent ends by its time', async () => {
    const made = await rows.make('sent');
    await block();
    await waited(made, 400);
    await rows.endOverdue();
    expect(await rows.statusOf(made)).toBe('expired');
    expect(await rows.counts()).toEqual(USED);
  });

  it('that waited has failed once an operator says that nothing was lost', async () => {
    const made = await rows.make();
    await block();
    await waited(made, 40);
    await rows.endOverdue();
    await opened.database.execute('update database_identity set identity = identity_of_database()');
    await rows.endOverdue();
    expect(await rows.statusOf(made)).toBe('failed');
    expect(await rows.counts()).toEqual(GIVEN_BACK);
  });
});

describe('a grant', () => {
  it('that is under way while the month’s package is made counts', async () => {
    const small = await CodeRows.project(opened.database, 0);
    const making: Promise<unknown>[] = [];
    await opened.database.transaction(async () => {
      await small.packages.grant(small.organizationId, small.projectId, 'DE', 5);
      making.push(opened.database.detached(() => small.make()));
      await untilBlocked();
    });
    await Promise.all(making);
    expect(await small.packages.list(small.organizationId, small.projectId)).toMatchObject([
      { monthlyLimit: 5, reserved: 1, used: 0 },
    ]);
  });

  async function untilBlocked(): Promise<void> {
    const look = async (): Promise<boolean> => {
      // A transaction reads the activity once.
      const waiting = await opened.database.detached(() =>
        opened.database.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      );
      return waiting.length > 0;
    };
    await waitFor(look, { what: 'the other transaction to wait' });
  }
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
    const changes = await Promise.all([1, 2, 3].map(() => rows.report(made, status)));
    expect(changes).toEqual([true, true, true]);
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

  it('finds its code by the platform’s id where our own was left out, and no other code', async () => {
    const made = await rows.make('sent');
    expect(await rows.report(made, 'read', { callbackData: null })).toBe(true);
    expect(await rows.statusOf(made)).toBe('read');
    const stranger = { id: 'unknown', attemptId: made.id, recipient: '1' };
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
