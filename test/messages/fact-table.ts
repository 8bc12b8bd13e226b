import { newId } from '../../src/common/ids.js';
import { type AttemptFacts, newAttempt } from '../../src/modules/message-state/attempt-facts.js';
import type {
  Fact,
  Failure,
  LockedMessage,
  MessageState,
  OutcomeRecord,
  Work,
} from '../../src/modules/message-state/facts.types.js';
import type { StatusReport } from '../../src/modules/message-state/message.types.js';
import { testPhone, type ConnectionRow } from '../support/factories.js';
import { queuedState, waitingWork } from '../support/message-rows.js';

const SECOND = 1_000_000;
const HOUR = 3_600 * SECOND;
/** In whole seconds, as WhatsApp reports. */
const NOW = Math.floor(Date.now() / 1_000) * SECOND;
const ACCEPTED_AT = NOW - 600 * SECOND;

/** A message and its attempts, of which it may have fewer. */
export interface Ids {
  messageId: string;
  attempts: readonly [string, string];
  connection: ConnectionRow;
}

const STATE = queuedState(ACCEPTED_AT);
const WAITS = waitingWork({ queuedAt: ACCEPTED_AT, expiresAt: NOW + 9 * HOUR, tries: 1 });

type Start = Partial<Pick<LockedMessage, 'work' | 'attempts' | 'recipient'>> & {
  state?: Partial<MessageState>;
};

function inFlight(ids: Ids, number: 1 | 2): Work {
  const attemptId = ids.attempts[number - 1] ?? '';
  return { ...WAITS, attemptNumber: number, attemptId, claimedAt: NOW - 20 * SECOND, leaseUntil: NOW + HOUR };
}

function attempt(ids: Ids, change: Partial<AttemptFacts>): AttemptFacts {
  return { ...newAttempt(ids.attempts[0], 1, NOW - 300 * SECOND), ...change };
}

/** The message has left the queue. */
function ended(own: AttemptFacts | null, change: Partial<MessageState>): Start {
  const [attemptId, attemptNumber] = [own?.id ?? null, own === null ? 0 : 1];
  const counted = { attemptId, attemptNumber, attemptCount: attemptNumber, eventCount: 1, tries: 1 };
  const processingAt = own?.startedAt ?? null;
  return {
    state: { ...counted, processingAt, changedAt: NOW - 200 * SECOND, ...change },
    attempts: own === null ? [] : [own],
  };
}

const unknown = (ids: Ids, change: Partial<AttemptFacts> = {}): AttemptFacts =>
  attempt(ids, { leaseEndedAt: NOW - 200 * SECOND, ...change });
const again = (ids: Ids): Start => ({
  attempts: [unknown(ids, { replacedAt: NOW - 100 * SECOND })],
  state: { eventCount: 1, changedAt: NOW - 200 * SECOND },
});

const PLACES_OF = {
  waits: () => ({ work: WAITS }),
  'is held for a time': () => ({ work: { ...WAITS, isHeld: true, scheduledFor: NOW - SECOND } }),
  'is held by its tag': () => ({ work: { ...WAITS, isHeld: true, isPaused: true } }),
  'is in flight': (ids) => ({ work: inFlight(ids, 1) }),
  'is queued again': (ids) => ({ ...again(ids), work: { ...WAITS, attemptNumber: 1 } }),
  'is in flight again': (ids) => ({ ...again(ids), work: inFlight(ids, 2) }),
  'ended: unknown': (ids) => ended(unknown(ids), { status: 'outcome_unknown' }),
  'ended: unknown, erased': (ids) => ({ ...ended(unknown(ids), { status: 'outcome_unknown' }), recipient: null }),
  'ended: accepted': (ids) => {
    const [at, metaMessageId] = [NOW - 200 * SECOND, `wamid.${ids.attempts[0]}`];
    const own = attempt(ids, { answer: 'accepted', answeredAt: at, httpStatus: 200, metaMessageId });
    return ended(own, { status: 'accepted', acceptedAt: at, metaMessageId });
  },
  'ended: refused': (ids) => {
    const [answeredAt, failed] = [NOW - 200 * SECOND, { category: 'invalid_content', code: 131008 }];
    const own = attempt(ids, { answer: 'rejected', answeredAt, httpStatus: 400, ...failed });
    return ended(own, {
      status: 'failed',
      failedAt: answeredAt,
      failureCategory: failed.category,
      errorCode: '131008',
    });
  },
  'ended: canceled': () =>
    ended(null, { status: 'failed', failedAt: NOW - 200 * SECOND, failureCategory: 'canceled', errorCode: 'CANCELED' }),
  'was sent in the app': () => ({ state: { status: 'sent', sentAt: NOW - 300 * SECOND } }),
} as const satisfies Record<string, (ids: Ids) => Start>;
export type Place = keyof typeof PLACES_OF;
export const PLACES = Object.keys(PLACES_OF) as Place[];

const FAILURE: Failure = { category: 'opted_out', code: 'RECIPIENT_OPTED_OUT', message: 'They opted out.' };
const ANSWERS = {
  accepted: { status: 'accepted', httpStatus: 200 },
  rejected: {
    status: 'failed',
    httpStatus: 400,
    category: 'invalid_content',
    platformCode: 131008,
    platformMessage: 'No.',
  },
  deferred: {
    status: 'queued',
    httpStatus: 429,
    category: 'rate_limited',
    platformCode: 130429,
    tries: 2,
    delayMs: 5_000,
  },
  unknown: { status: 'outcome_unknown', category: 'platform_unavailable', traceId: 'trace' },
} as const satisfies Record<string, Partial<OutcomeRecord>>;
const PRICING = { billable: true, category: 'utility', type: 'regular', subtype: null, model: 'PMP' };

function record({ messageId, attempts }: Ids, n: 0 | 1, answer: keyof typeof ANSWERS): OutcomeRecord {
  const metaMessageId = answer === 'accepted' ? `wamid.${attempts[n]}` : null;
  return { messageId, attemptId: attempts[n], metaMessageId, ...ANSWERS[answer] };
}

function report(ids: Ids, n: 0 | 1, status: StatusReport['status']): StatusReport {
  return {
    status,
    metaMessageId: `wamid.${ids.attempts[n]}`,
    callbackData: null,
    occurredAt: new Date(NOW / 1_000 - 5_000),
    recipientId: null,
    recipientUserId: null,
    error: status === 'failed' ? { code: 131026, title: 'Undeliverable', details: 'Not on WhatsApp' } : null,
    pricing: status === 'delivered' ? PRICING : null,
    connectionId: ids.connection.id,
  };
}

type Make = (ids: Ids) => Fact;
const answersOf = (n: 0 | 1): Record<string, Make> =>
  Object.fromEntries(
    (['accepted', 'rejected', 'deferred', 'unknown'] as const).map((answer) => [
      `${answer} ${n + 1}`,
      (ids: Ids) => ({ kind: 'answer', ...record(ids, n, answer) }),
    ]),
  );
const reportsOf = (n: 0 | 1): Record<string, Make> =>
  Object.fromEntries(
    (['sent', 'delivered', 'read', 'failed'] as const).map((status) => [
      `${status} ${n + 1}`,
      (ids: Ids) => ({
        kind: 'report',
        messageId: ids.messageId,
        attemptId: ids.attempts[n],
        report: report(ids, n, status),
      }),
    ]),
  );
const leaseOf =
  (n: 0 | 1): Make =>
  (ids) => ({
    kind: 'lease_ended',
    messageId: ids.messageId,
    attemptId: ids.attempts[n],
  });

const OF_ALL: Record<string, Make> = {
  expired: ({ messageId }) => ({ kind: 'expired', messageId }),
  canceled: ({ messageId }) => ({ kind: 'canceled', messageId }),
  erased: ({ messageId }) => ({ kind: 'erased', messageId }),
};
const OF_FIRST: Record<string, Make> = {
  ...answersOf(0),
  ...reportsOf(0),
  ...OF_ALL,
  'next for 1': (ids) => {
    const refused = record(ids, 0, 'deferred');
    return { kind: 'next_attempt', messageId: ids.messageId, refused, nextAttemptId: ids.attempts[1] };
  },
  'lease ended 1': leaseOf(0),
  'expired, resumed': ({ messageId }) => ({ kind: 'expired', messageId, resumed: true }),
  'canceled by its tag': ({ messageId }) => ({ kind: 'canceled', messageId, before: NOW }),
  'canceled by a tag before it': ({ messageId }) => ({ kind: 'canceled', messageId, before: ACCEPTED_AT - 1 }),
  restored: ({ messageId }) => ({ kind: 'restored', messageId, before: NOW + HOUR }),
  retry: ({ messageId }) => ({ kind: 'retry', messageId, from: ['failed', 'outcome_unknown'], body: 'Shown again' }),
  'release refused': ({ messageId }) => ({ kind: 'release_refused', messageId, failure: FAILURE }),
};
const OF_SECOND: Record<string, Make> = {
  ...answersOf(1),
  ...reportsOf(1),
  'lease ended 2': leaseOf(1),
};
const OF_APP: Record<string, Make> = {
  ...OF_ALL,
  ...Object.fromEntries(
    (['sent', 'delivered', 'read', 'failed'] as const).map((status) => [
      `${status} in the app`,
      (ids: Ids) => ({ kind: 'report_of_app', messageId: ids.messageId, report: report(ids, 0, status) }),
    ]),
  ),
};

/** Makers of the facts that a message in this place may have, by their names; the number is that of the attempt. */
export function factsFor(place: Place): Record<string, Make> {
  if (place === 'was sent in the app') return OF_APP;
  // Those of a second attempt where there is one, or `next for 1` makes it.
  return place.startsWith('is in flight') ? { ...OF_FIRST, ...OF_SECOND } : OF_FIRST;
}

/** Two facts, and the message that they are about. */
export interface Pair {
  name: string;
  message: LockedMessage;
  facts: readonly [Fact, Fact];
}

export function pairsOf(place: Place, connection: ConnectionRow, change: Partial<LockedMessage> = {}): Pair[] {
  const all = Object.entries(factsFor(place));
  return all.flatMap(([a, first]) =>
    all.map(([b, second]) => {
      const ids = idsOf(connection);
      const message = { ...messageIn(place, ids, `${a}, ${b}`), ...change };
      return { name: `${a}, ${b}`, message, facts: [first(ids), second(ids)] };
    }),
  );
}

export function idsOf(connection: ConnectionRow): Ids {
  return { messageId: newId(), attempts: [newId(), newId()], connection };
}

/** @param names of its facts, which it makes true: its lease is over, or its time to live. */
export function messageIn(place: Place, ids: Ids, names = ''): LockedMessage {
  const { state, work = null, ...rest }: Start = PLACES_OF[place](ids);
  const { messageId, connection } = ids;
  const isOver = names.includes('lease ended') && work !== null && work.leaseUntil !== null;
  const leaseUntil = isOver ? NOW - SECOND : (work?.leaseUntil ?? null);
  return {
    id: messageId,
    organizationId: connection.organizationId,
    connectionId: connection.id,
    tag: null,
    conversationId: null,
    createdAt: ACCEPTED_AT,
    recipient: testPhone(),
    timeToLive: 10 * HOUR,
    traceContext: null,
    attempts: [],
    claimsBlocked: false,
    now: 0,
    ...rest,
    state: { ...STATE, ...state },
    work: work && { ...work, leaseUntil, expiresAt: names.includes('expired') ? NOW - SECOND : work.expiresAt },
  };
}
