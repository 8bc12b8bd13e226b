/** SQL: tags of which nothing is sent now. */
export const HELD_TAGS =
  'select t.organization_id, t.tag from message_tag t where t.paused or t.cancel_before is not null';

/**
 * SQL: a row of `message_queue` or `message_schedule` is not held by its tag. The tags are read once a statement, and only
 * where it meets a row with a tag.
 */
export const isNotHeld = (alias: string): string =>
  `(${alias}.tag is null or (${alias}.organization_id, ${alias}.tag) not in (${HELD_TAGS}))`;
