/** States of a message that we send. Inbound messages are `received` and never move. */
export const OUTBOUND_STATUSES = [
  'queued',
  'processing',
  'accepted',
  'sent',
  'delivered',
  'read',
  'failed',
  'outcome_unknown',
] as const;
export type OutboundStatus = (typeof OUTBOUND_STATUSES)[number];
/** Every state that a message can be in. */
export const MESSAGE_STATUSES = [...OUTBOUND_STATUSES, 'received'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/**
 * The events of an outbound message: the inputs of the state machine. The events of webhooks are others, in
 * webhook.types.ts.
 *
 * `outcome_*`: the answer to the request of the attempt in its row. `own_*`: a report about that attempt; a waiting
 * message has none in its row. `other_*`: a report about another of its attempts (`MessageCase`); `other_accepted`: the
 * late answer to such an attempt. `restored`: the database was restored from a backup, and it is unknown what happened
 * after the backup. `erased`: the recipient's data was erased. `canceled`: the caller canceled it. `release_refused`: a
 * scheduled message is due, but may not be sent now; one that may be sent stays `queued`.
 */
export const STATE_EVENTS = [
  'claimed',
  'outcome_accepted',
  'outcome_refused',
  'outcome_deferred',
  'outcome_unknown',
  'lease_expired',
  'expired',
  'restored',
  'erased',
  'canceled',
  'release_refused',
  'retry',
  'retry_confirmed',
  'own_sent',
  'own_delivered',
  'own_read',
  'own_failed',
  'other_accepted',
  'other_sent',
  'other_delivered',
  'other_read',
  'other_failed',
] as const;
export type StateEvent = (typeof STATE_EVENTS)[number];

type Moves = Readonly<Partial<Record<StateEvent, OutboundStatus>>>;

// `delivered` and `read` prove that the message was sent, whichever attempt they belong to.
const OTHER_PROOF = { other_delivered: 'delivered', other_read: 'read' } as const satisfies Moves;
const PROOF = { ...OTHER_PROOF, own_delivered: 'delivered', own_read: 'read' } as const satisfies Moves;

/**
 * The transitions. While a retry of a message waits or is in flight, news about another of its attempts counts too:
 *
 * | News about another attempt | While the retry       | Then                                                                               |
 * | -------------------------- | --------------------- | ---------------------------------------------------------------------------------- |
 * | `delivered` or `read`      | waits or is in flight | that status, by that attempt                                                       |
 * | a late answer: accepted    | waits or is in flight | `accepted`, by that attempt                                                        |
 * | `sent`                     | waits                 | `sent`, by that attempt                                                            |
 * | `sent`                     | is in flight          | noted; `accepted` by that attempt once the retry is refused or answered "not now", |
 * |                            |                       | however late; no effect where the retry is accepted, unknown or reported as failed |
 * | `failed`                   | waits or is in flight | noted                                                                              |
 *
 * "By that attempt" means that the message leaves the queue, and that attempt counts from then on. A retry in flight
 * keeps its row, where its own answer and reports are noted. For a failed attempt, a late answer and `sent` are only
 * noted.
 *
 * After the message has left the queue, news about another attempt is only noted, except `delivered` and `read`. A
 * retry by hand is queued and claimed whatever was noted before. If it is deferred or refused, an acceptance noted
 * earlier ends it.
 */
const TRANSITIONS: Readonly<Record<OutboundStatus, Moves>> = {
  queued: {
    ...OTHER_PROOF,
    claimed: 'processing',
    expired: 'failed',
    restored: 'outcome_unknown',
    erased: 'failed',
    canceled: 'failed',
    release_refused: 'failed',
    // A retry waits, and an earlier attempt turns out to have been accepted.
    other_accepted: 'accepted',
    other_sent: 'sent',
  },
  processing: {
    ...PROOF,
    outcome_accepted: 'accepted',
    outcome_refused: 'failed',
    outcome_deferred: 'queued',
    outcome_unknown: 'outcome_unknown',
    lease_expired: 'outcome_unknown',
    restored: 'outcome_unknown',
    own_sent: 'sent',
    own_failed: 'failed',
    // Without `other_sent`, which is only noted. If it moved the message, the order of two reports would decide: `sent`
    // of the other attempt, then `failed` of the retry would end as `sent`, the reverse order as `failed`.
    other_accepted: 'accepted',
  },
  outcome_unknown: {
    ...PROOF,
    outcome_accepted: 'accepted',
    outcome_refused: 'failed',
    outcome_deferred: 'queued',
    own_sent: 'sent',
    own_failed: 'failed',
    retry_confirmed: 'queued',
  },
  accepted: { ...PROOF, own_sent: 'sent', own_failed: 'failed' },
  sent: { ...PROOF, own_failed: 'failed' },
  delivered: { own_read: 'read', other_read: 'read' },
  read: {},
  failed: { ...PROOF, retry: 'queued', retry_confirmed: 'queued' },
};

/** The state after `event`, or null where the event changes nothing. */
export function nextStatus(status: OutboundStatus, event: StateEvent): OutboundStatus | null {
  return TRANSITIONS[status][event] ?? null;
}

/** Whether messages in this state are rows of `message_queue`. */
export function isInQueue(status: MessageStatus | undefined): boolean {
  return status === 'queued' || status === 'processing';
}

/** Every legal move, for tests and the documentation. */
export function legalMoves(): { from: OutboundStatus; on: StateEvent; to: OutboundStatus }[] {
  return OUTBOUND_STATUSES.flatMap((from) =>
    STATE_EVENTS.flatMap((on) => {
      const to = nextStatus(from, on);
      return to === null ? [] : [{ from, on, to }];
    }),
  );
}

/** The states from which `event` moves a message. */
export function statesThatTake(event: StateEvent): OutboundStatus[] {
  return OUTBOUND_STATUSES.filter((status) => nextStatus(status, event) !== null);
}

/**
 * Condition on rows of `message_queue`: they wait, or are held. `attempt_id is null` would be the plain form, but the
 * planner might then read the whole index `message_queue_lane`, which has this column.
 */
const waits = (alias: string): string => `num_nulls(${alias}.attempt_id) = 1`;

/** Condition on rows of `message_queue`: `event` moves them. The table has no status column. */
export function queueTakes(event: StateEvent, alias = 'q'): string {
  const [waiting, sending] = [nextStatus('queued', event) !== null, nextStatus('processing', event) !== null];
  if (waiting && sending) return 'true';
  if (!waiting && !sending) return 'false';
  return waiting ? waits(alias) : `${alias}.attempt_id is not null`;
}

/** SQL condition on `message_tag t`, as in the index message_tag_held: no message of the tag may be sent now. */
export const HOLDS_BACK = 't.paused or t.cancel_before is not null or t.started_at is null';

/** SQL: tags whose messages may not be sent now. */
export const PAUSED_TAGS = `select t.organization_id, t.tag from message_tag t where ${HOLDS_BACK}`;

/**
 * SQL: the tag of a row of `message_queue`, if any, is neither paused nor being canceled, and has started. The subquery
 * reads the tags once per statement, and only if a row has a tag.
 */
export const tagIsNotPaused = (alias: string): string =>
  `(${alias}.tag is null or (${alias}.organization_id, ${alias}.tag) not in (${PAUSED_TAGS}))`;

/**
 * SQL: the tag of a row of `message_queue`, if any, has no pace, or has released the row. A sweep holds all other rows
 * and releases them at that pace. A row that was released, deferred or retried, or whose own time has come, has
 * `not_before`.
 */
export const tagLetsPass = (alias: string): string =>
  `(${alias}.tag is null or ${alias}.not_before is not null or (${alias}.organization_id, ${alias}.tag) not in
    (select t.organization_id, t.tag from message_tag t where t.messages_per_minute is not null))`;

/**
 * SQL: the content of a message, for a lateral join. The limit tells the planner that at most one partition has it.
 * Without it the planner adds up the cost and rows of all partitions, and JIT compilation starts, which takes half a
 * second.
 */
export const contentOf = (id: string): string => `(select * from message_content where message_id = ${id} limit 1)`;
