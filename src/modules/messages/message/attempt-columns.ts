/** Columns of a closed attempt in `message_attempt`. */
export const ATTEMPT_COLUMNS = `id, organization_id, message_id, number, status, started_at, finished_at, http_status,
    platform_code, platform_message, failure_category, meta_message_id, trace_id`;

/** What both the answer to an attempt's request and WhatsApp's reports tell of it: SQL expressions. */
export interface AttemptValues {
  status: string;
  finishedAt: string;
  category: string;
  code: string;
  message: string;
}

const COLUMNS = {
  message_state: {
    status: 'attempt_status',
    finishedAt: 'attempt_finished_at',
    category: 'attempt_category',
    code: 'platform_code',
    message: 'platform_message',
  },
  message_attempt: {
    status: 'status',
    finishedAt: 'finished_at',
    category: 'failure_category',
    code: 'platform_code',
    message: 'platform_message',
  },
} as const satisfies Record<string, AttemptValues>;

/** The table in which an attempt's columns are. */
export type AttemptTable = keyof typeof COLUMNS;

/** The attempt as it is in a row of the table with this alias. */
export function knownAttempt(table: AttemptTable, alias: string): AttemptValues {
  const { status, finishedAt, category, code, message } = COLUMNS[table];
  const of = (column: string) => `${alias}.${column}`;
  return {
    status: of(status),
    finishedAt: of(finishedAt),
    category: of(category),
    code: of(code),
    message: of(message),
  };
}

/** SET list of an update of the table. */
export function setAttempt(table: AttemptTable, values: AttemptValues): string {
  const columns = COLUMNS[table];
  return `${columns.status} = ${values.status}, ${columns.finishedAt} = ${values.finishedAt},
    ${columns.category} = ${values.category}, ${columns.code} = ${values.code}, ${columns.message} = ${values.message}`;
}

// Answer and reports come in any order, so what is known decides what news may still change:
//
// | Known status                 | News                         | Status then  | Category, code and message then              |
// | ---------------------------- | ---------------------------- | ------------ | -------------------------------------------- |
// | started, unknown             | any answer                   | the answer's | the answer's                                 |
// | deferred                     | answer: accepted, rejected   | the answer's | the answer's                                 |
// | accepted, rejected           | answer: accepted, rejected   | the answer's | each as it is, or the answer's where it is null |
// | deferred, accepted, rejected | answer: unknown, deferred    | as it is     | as they are                                  |
// | any                          | reports: taken               | accepted     | as they are; of another status no category   |
// | any                          | reports: taken, and failed   | accepted     | the report's                                 |
// | started, unknown, deferred   | report: failed               | rejected     | the report's                                 |
// | accepted, rejected           | report: failed               | as it is     | the report's                                 |
//
// An attempt without a status is started. "Of another status": than accepted or rejected.
const isDecided = (status: string): string => `${status} in ('accepted', 'rejected')`;

/** SQL: the answer `o` (columns of `OutcomeRecord`) changes this attempt; else nothing of it is to be written. */
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
