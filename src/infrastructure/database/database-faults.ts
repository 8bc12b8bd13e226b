import { codeOf } from '../../common/describe-error.js';

/** A predicate on errors from PostgreSQL or from the connection to it. */
type Question = (error: unknown) => boolean;

/** The code of the error, or of the driver's error that the error wraps. */
export function stateOf(error: unknown): string | undefined {
  return codeOf(error) ?? codeOf((error as { driverError?: unknown } | null | undefined)?.driverError);
}

function hasState(...states: readonly string[]): Question {
  return (error) => states.includes(stateOf(error) ?? '');
}

/** Deadlock or serialization failure: the same work may succeed when tried again. */
export const isTransientConflict = hasState('40P01', '40001');

/**
 * Another transaction holds the lock on a row or table. The statement had no effect, and the connection stays usable.
 */
export const isLocked = hasState('55P03');

/** The statement ran out of time: it waited for a lock, or the database is slow. The statement had no effect. */
export const isOutOfTime = hasState('57014');

/** A deleted row is still referenced, or a referenced row does not exist. */
export const isForeignKeyViolation = hasState('23503');

/** Another row has the same value in a unique index. */
export const isUniqueViolation = hasState('23505');

/**
 * No partition of the table accepts the row. A violated check constraint has the same code, but names the constraint.
 */
export const isWithoutPartition: Question = (error) => {
  const { constraint, driverError } = error as { constraint?: string; driverError?: { constraint?: string } };
  return stateOf(error) === '23514' && (constraint ?? driverError?.constraint) === undefined;
};

/** A table, a column or a function is missing: migrations of this build did not run. */
export const isOfOlderSchema = hasState('42P01', '42703', '42883');

/** A table, an index or a file of the server cannot grow. */
export const isDiskFull = hasState('53100');

/**
 * The database refused work that it may do later: it is out of disk, memory, time or a configured limit, or is not the
 * primary. The statement had no effect.
 */
export const isExhausted = hasState(
  '53100', // disk_full
  '53200', // out_of_memory
  '53400', // configuration_limit_exceeded
  '57014', // query_canceled: the statement's time was over
  '58030', // io_error
  '25006', // read_only_sql_transaction: a standby, or a primary that was demoted
);

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  '25P03', // idle_in_transaction_session_timeout
  '55P03', // lock_not_available
  '57014', // query_canceled: statement_timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P04', // database_dropped
  '57P05', // idle_session_timeout
  '53100', // disk_full
  '53200', // out_of_memory
  '53300', // too_many_connections
  '53400', // configuration_limit_exceeded
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '08007',
  '08P01', // protocol_violation: what a pooler in between says when it loses its server
]);

/**
 * The database could not be reached, the connection broke, or the server refused the work for now: it starts or stops,
 * has too many connections, is out of time, memory, disk or a configured limit, or a lock was not free (55P03). The
 * same request may succeed later. A statement in flight, even a COMMIT, may or may not have taken effect, except where
 * `isLocked`, `isOutOfTime` or `isExhausted` holds too: then the statement had no effect.
 */
export function isUnreachable(error: unknown): boolean {
  const code = stateOf(error);
  if (code !== undefined) return UNREACHABLE.has(code) || /^(EPROTO$|ERR_SSL_|ERR_TLS_|ERR_STREAM_)/.test(code);
  const message = error instanceof Error ? error.message : '';
  return /Connection terminated|timeout exceeded when trying to connect|Query read timeout|client has encountered a connection error|Client was closed|not queryable/i.test(
    message,
  );
}
