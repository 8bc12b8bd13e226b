/** Columns of `message_attempt`: the other attempts of a message than the one in its row. */
export const ATTEMPT_COLUMNS = `id, organization_id, message_id, number, status, started_at, finished_at, http_status,
    platform_code, platform_message, failure_category, meta_message_id, trace_id`;

/**
 * What the answer to an attempt's request and WhatsApp's reports tell of it: SQL expressions. Without WhatsApp's id of the message,
 * which in message_state is the message's own.
 */
export interface AttemptValues {
  status: string;
  finishedAt: string;
  category: string;
  code: string;
  message: string;
  httpStatus: string;
  traceId: string;
}

const COLUMNS = {
  message_state: {
    status: 'attempt_status',
    finishedAt: 'attempt_finished_at',
    category: 'attempt_category',
    code: 'platform_code',
    message: 'platform_message',
    httpStatus: 'http_status',
    traceId: 'trace_id',
  },
  message_attempt: {
    status: 'status',
    finishedAt: 'finished_at',
    category: 'failure_category',
    code: 'platform_code',
    message: 'platform_message',
    httpStatus: 'http_status',
    traceId: 'trace_id',
  },
} as const satisfies Record<string, AttemptValues>;

/** The table in which an attempt's columns are. */
type AttemptTable = keyof typeof COLUMNS;

/** The attempt as it is in a row of the table with this alias. */
export function knownAttempt(table: AttemptTable, alias: string): AttemptValues {
  const of = (name: keyof AttemptValues) => `${alias}.${COLUMNS[table][name]}`;
  return {
    status: of('status'),
    finishedAt: of('finishedAt'),
    category: of('category'),
    code: of('code'),
    message: of('message'),
    httpStatus: of('httpStatus'),
    traceId: of('traceId'),
  };
}

/** SQL: WhatsApp took this attempt, by its answer or by a report, and did not report that it failed. */
export function isTakenNotFailed({ status, category }: AttemptValues): string {
  return `(${status} = 'accepted' and ${category} is null)`;
}

/** SQL: WhatsApp refused this attempt, or reported that it failed. */
export function hasFailed({ status, category }: AttemptValues): string {
  return `coalesce(${status} = 'rejected' or (${status} = 'accepted' and ${category} is not null), false)`;
}

/** SET list of an update of the table. */
export function setAttempt(table: AttemptTable, values: AttemptValues): string {
  const names = Object.keys(COLUMNS[table]) as (keyof AttemptValues)[];
  return names.map((name) => `${COLUMNS[table][name]} = ${values[name]}`).join(', ');
}

// Answer and reports come in any order, so what is known decides what news may still change. The spec beside this file has each row.
//
// | Known status                 | News                       | Status then  | Category, code, message                                  | Finished         |
// | ---------------------------- | -------------------------- | ------------ | -------------------------------------------------------- | ---------------- |
// | started, unknown             | any answer                 | the answer's | the answer's                                             | now              |
// | deferred                     | answer: accepted, rejected | the answer's | the answer's                                             | now              |
// | accepted, rejected           | answer: accepted, rejected | the answer's | as known; where null, the answer's                       | now              |
// | deferred, accepted, rejected | answer: unknown, deferred  | as it is     | as known                                                 | as it is         |
// | accepted, rejected           | reports: taken             | accepted     | as known                                                 | as it is, or now |
// | started, unknown, deferred   | reports: taken             | accepted     | code and message as known, no category: it is no failure | as it is, or now |
// | any                          | reports: taken, and failed | accepted     | the report's                                             | as it is, or now |
// | started, unknown, deferred   | report: failed             | rejected     | the report's                                             | as it is, or now |
// | accepted, rejected           | report: failed             | as it is     | the report's                                             | as it is, or now |
//
// Code and message that a report does not replace say what the answer was, also of an attempt that was taken all the same.
// An attempt without a status is started. HTTP status and trace id are those of an answer that it takes; reports leave them.
const isDecided = (status: string): string => `${status} in ('accepted', 'rejected')`;

/** SQL: the answer `o` (a row of `OUTCOME` in outcome.repository.ts) changes this attempt; else nothing of it is to be written. */
export function takesAnswer({ status }: AttemptValues): string {
  return `(coalesce(${status}, 'started') in ('started', 'unknown') or o."attemptStatus" not in ('unknown', 'deferred'))`;
}

/** The attempt after the answer `o`, where it takes that. */
export function afterAnswer(known: AttemptValues): AttemptValues {
  const keep = (value: string, answered: string) =>
    `case when ${isDecided(known.status)} then coalesce(${value}, ${answered}) else ${answered} end`;
  return {
    status: 'o."attemptStatus"',
    finishedAt: 'clock_timestamp()',
    category: keep(known.category, 'o.category'),
    code: keep(known.code, 'o."platformCode"'),
    message: keep(known.message, 'o."platformMessage"'),
    httpStatus: 'o."httpStatus"',
    traceId: 'o."traceId"',
  };
}

/**
 * The attempt after reports.
 *
 * @param news before the columns `taken`, `failed`, `category`, `code` and `message` of what they say, for example 'r.'; all of
 * them are null where no report is about this attempt.
 */
export function afterReports(known: AttemptValues, news: string): AttemptValues {
  return {
    ...known,
    status: `case when ${news}taken then 'accepted'
      when ${news}failed and coalesce(${known.status}, 'started') in ('started', 'unknown', 'deferred') then 'rejected'
      else ${known.status} end`,
    finishedAt: `case when ${news}taken is null then ${known.finishedAt} else coalesce(${known.finishedAt}, clock_timestamp()) end`,
    category: `case when ${news}failed then ${news}category
      when ${news}taken is null or ${isDecided(known.status)} then ${known.category} end`,
    code: `case when ${news}failed then ${news}code else ${known.code} end`,
    message: `case when ${news}failed then ${news}message else ${known.message} end`,
  };
}
