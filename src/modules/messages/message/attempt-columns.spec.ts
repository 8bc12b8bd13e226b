import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { afterAnswer, afterReports, knownAttempt, takesAnswer, type AttemptValues } from './attempt-columns.js';

let opened: OpenTestDatabase;

beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

type Status = 'started' | 'unknown' | 'deferred' | 'accepted' | 'rejected';

const KNOWN = { category: 'known_category', code: 1, message: 'known' };
const NONE = { category: null, code: null, message: null };
const BEFORE = { httpStatus: 200, traceId: 'known_trace' };
const FINISHED_AT = '2026-01-01T00:00:00Z';
// $6: when it was finished.
const ATTEMPT = `(select $1::text as status, $2::text as failure_category, $3::integer as platform_code,
  $4::text as platform_message, $6::timestamptz as finished_at, ${BEFORE.httpStatus} as http_status,
  '${BEFORE.traceId}' as trace_id) as a`;
const known = knownAttempt('message_attempt', 'a');

const shown = (values: AttemptValues): string =>
  `${values.status} as status, ${values.category} as category, ${values.code} as code, ${values.message} as message,
   ${values.httpStatus} as "httpStatus", ${values.traceId} as "traceId",
   case when ${values.finishedAt} is null then 'not' when ${values.finishedAt} = '${FINISHED_AT}' then 'before'
     else 'now' end as finished`;

/** What a row is after the news; null: as it was. */
async function after(
  values: AttemptValues,
  condition: string,
  news: string,
  row: unknown[],
  told: object,
  finishedAt: string | null = null,
) {
  const rows = await opened.database.query(
    `select ${shown(values)} from ${ATTEMPT} cross join json_to_record($5) as ${news} where ${condition}`,
    [...row, JSON.stringify(told), finishedAt],
  );
  return rows[0] ?? null;
}

describe('an answer', () => {
  const ANSWERED = { category: 'answered', code: 2, message: 'answer' };
  const SAID = { httpStatus: 429, traceId: 'answered_trace', finished: 'now' };
  const columns = `o ("attemptStatus" text, category text, "platformCode" integer, "platformMessage" text,
    "httpStatus" integer, "traceId" text)`;
  const answer = (status: Status, row: unknown[]) => {
    const { category, code: platformCode, message: platformMessage } = ANSWERED;
    const told = { attemptStatus: status, category, platformCode, platformMessage, ...SAID };
    return after(afterAnswer(known), takesAnswer(known), columns, row, told, FINISHED_AT);
  };

  it.each<[Status | null, Status, 'answer' | 'known' | null]>([
    [null, 'accepted', 'answer'],
    ['started', 'rejected', 'answer'],
    ['started', 'unknown', 'answer'],
    ['unknown', 'accepted', 'answer'],
    ['unknown', 'deferred', 'answer'],
    ['deferred', 'accepted', 'answer'],
    ['deferred', 'rejected', 'answer'],
    ['deferred', 'unknown', null],
    ['deferred', 'deferred', null],
    ['accepted', 'accepted', 'known'],
    ['accepted', 'rejected', 'known'],
    ['rejected', 'accepted', 'known'],
    ['accepted', 'unknown', null],
    ['accepted', 'deferred', null],
    ['rejected', 'unknown', null],
    ['rejected', 'deferred', null],
  ])('to an attempt that is %s: %s gives the category of the %s', async (status, answered, from) => {
    const values = from === 'known' ? KNOWN : ANSWERED;
    expect(await answer(answered, [status, ...Object.values(KNOWN)])).toEqual(
      from === null ? null : { status: answered, ...values, ...SAID },
    );
  });

  it('fills in what no report has said', async () => {
    expect(await answer('accepted', ['accepted', null, null, null])).toEqual({
      status: 'accepted',
      ...ANSWERED,
      ...SAID,
    });
  });
});

describe('reports', () => {
  const REPORTED = { category: 'reported', code: 3, message: 'report' };
  const columns = 'r (taken boolean, failed boolean, category text, code integer, message text)';
  const report = (told: object, row: unknown[], finishedAt: string | null = null) =>
    after(afterReports(known, 'r.'), 'true', columns, row, told, finishedAt);
  const TAKEN = { taken: true, failed: false };
  const FAILED = { taken: false, failed: true, ...REPORTED };
  const BOTH = { ...FAILED, taken: true };

  it.each<[Status | null, string, object, object]>([
    [null, 'taken', TAKEN, { status: 'accepted', ...KNOWN, category: null }],
    ['unknown', 'taken', TAKEN, { status: 'accepted', ...KNOWN, category: null }],
    ['deferred', 'taken', TAKEN, { status: 'accepted', ...KNOWN, category: null }],
    ['accepted', 'taken', TAKEN, { status: 'accepted', ...KNOWN }],
    ['rejected', 'taken', TAKEN, { status: 'accepted', ...KNOWN }],
    ['started', 'taken and failed', BOTH, { status: 'accepted', ...REPORTED }],
    ['accepted', 'taken and failed', BOTH, { status: 'accepted', ...REPORTED }],
    [null, 'failed', FAILED, { status: 'rejected', ...REPORTED }],
    ['unknown', 'failed', FAILED, { status: 'rejected', ...REPORTED }],
    ['deferred', 'failed', FAILED, { status: 'rejected', ...REPORTED }],
    ['accepted', 'failed', FAILED, { status: 'accepted', ...REPORTED }],
    ['rejected', 'failed', FAILED, { status: 'rejected', ...REPORTED }],
  ])('of an attempt that is %s: %s', async (status, _news, told, expected) => {
    const row = [status, ...Object.values(KNOWN)];
    expect(await report(told, row)).toEqual({ ...expected, ...BEFORE, finished: 'now' });
    expect(await report(told, row, FINISHED_AT)).toEqual({ ...expected, ...BEFORE, finished: 'before' });
  });

  it('of other attempts change nothing', async () => {
    const asItWas = { ...BEFORE, finished: 'not' };
    expect(await report({}, ['unknown', ...Object.values(KNOWN)])).toEqual({ status: 'unknown', ...KNOWN, ...asItWas });
    expect(await report({}, [null, ...Object.values(NONE)])).toEqual({ status: null, ...NONE, ...asItWas });
  });
});
