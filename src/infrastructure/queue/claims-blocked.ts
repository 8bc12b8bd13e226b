/**
 * SQL condition: this database is not the one that was confirmed last, so no claim that leads to a message may run. It
 * is part of the claim's own statement, because the connection may lead to another server than a moment ago. Takes
 * about 5 µs.
 */
export const CLAIMS_BLOCKED = 'not exists (select from database_identity where identity = identity_of_database())';

/**
 * SQL, for the row of `database_identity`: since when claims are blocked; null where that was not recorded on this
 * database.
 */
export const BLOCKED_SINCE = 'case when blocked_on = identity_of_database() then blocked_since end';

/**
 * SQL: messages queued before this time may have been sent without this database knowing it, and `herald restore` marks
 * them; `-infinity` where claims are not blocked.
 */
export const UNCERTAIN_BEFORE = `(select case when ${CLAIMS_BLOCKED} then coalesce(${BLOCKED_SINCE}, 'infinity') else '-infinity' end
  from database_identity)`;

/** What an operator should do; shown in logs, readiness, `herald doctor` and `herald queue status`. */
export const BLOCKED_ADVICE =
  'run `herald restore` (what may have been sent becomes outcome_unknown), or `herald restore --nothing-lost` after a ' +
  'planned move or the promotion of a synchronous standby';
