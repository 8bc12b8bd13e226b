/**
 * SQL condition: this is not the database that was confirmed last, so nothing may be claimed that leads to a message.
 * Asked within the claim's own statement: the connection may lead to another server than a moment ago. About 5 µs.
 */
export const CLAIMS_BLOCKED = 'not exists (select from database_identity where identity = identity_of_database())';

/** SQL, of the row of `database_identity`: since when claims are blocked; null where that was not noted on this database. */
export const BLOCKED_SINCE = 'case when blocked_on = identity_of_database() then blocked_since end';

/**
 * SQL: what was queued before this time may have been sent, unknown to this database, and is marked by `herald restore`;
 * `-infinity` where claims are not blocked.
 */
export const UNCERTAIN_BEFORE = `(select case when ${CLAIMS_BLOCKED} then coalesce(${BLOCKED_SINCE}, 'infinity') else '-infinity' end
  from database_identity)`;

/** What an operator does about it; in logs, readiness, `herald doctor` and `herald queue status`. */
export const BLOCKED_ADVICE =
  'run `herald restore` (what may have been sent becomes outcome_unknown), or `herald restore --nothing-lost` after a ' +
  'planned move or the promotion of a synchronous standby';
