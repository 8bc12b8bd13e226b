import fc from 'fast-check';
import { legalMoves, type OutboundStatus } from './message-state.types.js';
import type { StatusReport } from './message.types.js';
import { queuedState, waitingWork } from '../../../test/support/message-rows.js';
import { type AttemptFacts, newAttempt } from './attempt-facts.js';
import type { Fact, LockedMessage, MessageState, OutcomeRecord, Work } from './facts.types.js';
import { MessageCase } from './message-case.js';

const SECOND = 1_000_000;
const NOW = 1_700_000_100 * SECOND;
const MAX_FACTS = 12;
const LEGAL = new Set(legalMoves().map(({ from, to }) => `${from} > ${to}`));

const STATE = queuedState(NOW - 60 * SECOND);
const WAITS = waitingWork({ queuedAt: NOW - 60 * SECOND, expiresAt: NOW + 3_600 * SECOND });

const inFlight = (number: number): Work => ({
  ...WAITS,
  attemptNumber: number,
  attemptId: `attempt-${number}`,
  claimedAt: NOW - 10 * SECOND,
  leaseUntil: NOW + 10 * SECOND,
});

function attempt(number: number, change: Partial<AttemptFacts> = {}): AttemptFacts {
  return { ...newAttempt(`attempt-${number}`, number, NOW - (60 - number) * SECOND), ...change };
}

function known(change: Omit<Partial<LockedMessage>, 'state'> & { state?: Partial<MessageState> } = {}): LockedMessage {
  const { state, ...rest } = change;
  return {
    id: 'message-1',
    organizationId: 'workspace-1',
    connectionId: 'connection-1',
    tag: null,
    conversationId: null,
    createdAt: NOW - 60 * SECOND,
    recipient: '15550001234',
    timeToLive: 86_400 * SECOND,
    traceContext: null,
    state: { ...STATE, ...state },
    work: null,
    attempts: [],
    claimsBlocked: false,
    now: NOW,
    ...rest,
  };
}

const unknownAttempt = attempt(1, { leaseEndedAt: NOW - 30 * SECOND });
const replaced = { ...unknownAttempt, replacedAt: NOW - 25 * SECOND };
const ended = (status: OutboundStatus, own: AttemptFacts | null, change: Partial<MessageState> = {}): LockedMessage =>
  known({
    state: {
      status,
      attemptId: own?.id ?? null,
      attemptNumber: 1,
      attemptCount: 1,
      eventCount: 1,
      changedAt: NOW - 20 * SECOND,
      ...change,
    },
    attempts: own === null ? [] : [own],
  });

/** Where a message may stand. The numbers are those of its attempts. */
const PLACES = {
  waiting: known({ work: WAITS }),
  held: known({ work: { ...WAITS, isHeld: true, scheduledFor: NOW - SECOND } }),
  'in flight': known({ work: inFlight(1) }),
  'queued again': known({ work: { ...WAITS, attemptNumber: 1 }, attempts: [replaced], state: { eventCount: 1 } }),
  'in flight again': known({ work: inFlight(2), attempts: [replaced], state: { eventCount: 1 } }),
  unknown: ended('outcome_unknown', unknownAttempt),
  accepted: ended('accepted', attempt(1, { answer: 'accepted', metaMessageId: 'wamid.1' }), {
    metaMessageId: 'wamid.1',
  }),
  refused: ended('failed', attempt(1, { answer: 'rejected', category: 'invalid_content' }), { failedAt: NOW - SECOND }),
  canceled: ended('failed', null, { failureCategory: 'canceled', failedAt: NOW - SECOND }),
} as const satisfies Record<string, LockedMessage>;
type Place = keyof typeof PLACES;

function report(status: StatusReport['status'], change: Partial<StatusReport> = {}): StatusReport {
  return {
    status,
    metaMessageId: 'wamid.1',
    callbackData: null,
    occurredAt: new Date((NOW - 5 * SECOND) / 1_000),
    recipientId: null,
    recipientUserId: null,
    error: null,
    pricing: null,
    connectionId: 'connection-1',
    ...change,
  };
}

const messageId = 'message-1';
const answer = (n: number, status: OutcomeRecord['status'], change: Partial<OutcomeRecord> = {}): Fact => {
  const metaMessageId = status === 'accepted' ? `wamid.${n}` : null;
  return { kind: 'answer', messageId, attemptId: `attempt-${n}`, status, metaMessageId, ...change };
};
const reported = (n: number, status: StatusReport['status'], change: Partial<StatusReport> = {}): Fact => ({
  kind: 'report',
  messageId,
  attemptId: `attempt-${n}`,
  report: report(status, { metaMessageId: `wamid.${n}`, ...change }),
});

/** Every kind of fact, of each attempt that a message of `PLACES` may have. */
const FACTS: Readonly<Record<string, Fact>> = {
  'accepted 1': answer(1, 'accepted'),
  'refused 1': answer(1, 'failed', { category: 'invalid_content', platformCode: 131026 }),
  'not now 1': answer(1, 'queued', { tries: 1, delayMs: 1_000 }),
  'unknown 1': answer(1, 'outcome_unknown', { category: 'platform_unavailable' }),
  'accepted 2': answer(2, 'accepted'),
  'refused 2': answer(2, 'failed', { category: 'invalid_content' }),
  'not now 2': answer(2, 'queued', { tries: 1, delayMs: 1_000 }),
  'sent 1': reported(1, 'sent'),
  'delivered 1': reported(1, 'delivered'),
  'read 1': reported(1, 'read'),
  'failed 1': reported(1, 'failed'),
  'sent 2': reported(2, 'sent'),
  'failed 2': reported(2, 'failed'),
  'lease ended 1': { kind: 'lease_ended', messageId, attemptId: 'attempt-1' },
  'lease ended 2': { kind: 'lease_ended', messageId, attemptId: 'attempt-2' },
  expired: { kind: 'expired', messageId },
  canceled: { kind: 'canceled', messageId },
  erased: { kind: 'erased', messageId },
  restored: { kind: 'restored', messageId, before: NOW },
  retry: { kind: 'retry', messageId, from: ['failed', 'outcome_unknown'], body: null },
  'refused at release': {
    kind: 'release_refused',
    messageId,
    failure: { category: 'opted_out', code: 'RECIPIENT_OPTED_OUT', message: 'They opted out.' },
  },
};

/** What makes a fact true where it is applied: the lease is over, the time to live too. */
function at(place: Place, ...facts: string[]): LockedMessage {
  const { work, ...rest } = PLACES[place];
  const isOver = facts.some((name) => name.startsWith('lease ended'));
  const hasExpired = facts.includes('expired');
  return {
    ...rest,
    work: work && {
      ...work,
      ...(isOver && work.leaseUntil !== null && { leaseUntil: NOW - SECOND }),
      ...(hasExpired && { expiresAt: NOW - SECOND }),
    },
  };
}

function run(message: LockedMessage, ...names: string[]): MessageCase {
  const made = new MessageCase(message);
  for (const name of names) made.apply(FACTS[name] as Fact);
  return made;
}

/** What must hold whatever is applied to whatever, thousands of times: one `expect` for each costs more than all else. */
function check(made: MessageCase): void {
  const { message, events, state, work } = made;
  let status: OutboundStatus = new MessageCase(message).status;
  let time = 0;
  const wrong: string[] = [];
  const holds = (isSo: boolean, what: string): void => void (isSo || wrong.push(what));
  for (const [n, event] of events.entries()) {
    holds(LEGAL.has(`${event.from} > ${event.to}`), `${event.from} > ${event.to}`);
    // Only back to the queue, and to the wire, a message moves without an event.
    if (!['queued', 'processing'].includes(event.from)) holds(event.from === status, `${event.from} after ${status}`);
    holds(event.sequence === message.state.eventCount + n + 1, `sequence ${event.sequence}`);
    holds(event.at >= time, `at ${event.at} after ${time}`);
    // Each retry is behind what was before it, if by a microsecond.
    holds(event.at <= NOW + MAX_FACTS, `at ${event.at}`);
    ({ to: status, at: time } = event);
  }
  holds(state.eventCount === message.state.eventCount + events.length, `${state.eventCount} events`);
  holds((state.status === 'queued') === (work !== null), state.status);
  if (work === null && events.length > 0) holds(state.status === status, `${state.status} after ${status}`);
  // One attempt counts: that of the state, else the one in flight. All others were replaced.
  const counting = [...made.attempts.values()].filter(({ replacedAt }) => replacedAt === null).map(({ id }) => id);
  expect(counting).toEqual(state.attemptId === null ? [] : [state.attemptId]);
  if (work !== null) expect(state).toMatchObject({ attemptId: null, metaMessageId: null, failureCategory: null });
  // Every attempt once, with its own number.
  const numbers = [...made.attempts.values()].map(({ number }) => number);
  holds(new Set(numbers).size === numbers.length, `numbers ${numbers.join()}`);
  expect(wrong).toEqual([]);
}

describe('one fact', () => {
  // What is not listed changes nothing of the message.
  const MOVES: Readonly<Record<Place, Readonly<Record<string, OutboundStatus>>>> = {
    waiting: { expired: 'failed', canceled: 'failed', erased: 'failed', restored: 'outcome_unknown' },
    held: { canceled: 'failed', erased: 'failed', restored: 'outcome_unknown', 'refused at release': 'failed' },
    'in flight': {
      'accepted 1': 'accepted',
      'refused 1': 'failed',
      'not now 1': 'queued',
      'unknown 1': 'outcome_unknown',
      'sent 1': 'sent',
      'delivered 1': 'delivered',
      'read 1': 'read',
      'failed 1': 'failed',
      'lease ended 1': 'outcome_unknown',
      restored: 'outcome_unknown',
    },
    'queued again': {
      'accepted 1': 'accepted',
      'sent 1': 'sent',
      'delivered 1': 'delivered',
      'read 1': 'read',
      expired: 'failed',
      canceled: 'failed',
      erased: 'failed',
      restored: 'outcome_unknown',
    },
    'in flight again': {
      'accepted 1': 'accepted',
      'delivered 1': 'delivered',
      'read 1': 'read',
      'accepted 2': 'accepted',
      'refused 2': 'failed',
      'not now 2': 'queued',
      'sent 2': 'sent',
      'failed 2': 'failed',
      'lease ended 2': 'outcome_unknown',
      restored: 'outcome_unknown',
    },
    unknown: {
      'accepted 1': 'accepted',
      'refused 1': 'failed',
      'not now 1': 'queued',
      'sent 1': 'sent',
      'delivered 1': 'delivered',
      'read 1': 'read',
      'failed 1': 'failed',
      retry: 'queued',
    },
    accepted: { 'sent 1': 'sent', 'delivered 1': 'delivered', 'read 1': 'read', 'failed 1': 'failed' },
    refused: { 'delivered 1': 'delivered', 'read 1': 'read', retry: 'queued' },
    canceled: { retry: 'queued' },
  };

  it.each(Object.keys(PLACES) as Place[])('of a message %s', (place) => {
    const moved = Object.keys(FACTS).flatMap((name) => {
      const message = at(place, name);
      const made = run(message, name);
      check(made);
      return made.status === new MessageCase(message).status ? [] : [[name, made.status]];
    });
    expect(Object.fromEntries(moved)).toEqual(MOVES[place]);
  });

  it.each(Object.keys(PLACES) as Place[])('twice is the same as once, of a message %s', (place) => {
    for (const name of Object.keys(FACTS)) {
      const message = at(place, name);
      const [once, twice] = [run(message, name), run(message, name, name)];
      // An answer that puts a message back comes to another attempt the next time.
      expect([name, twice.status, twice.events]).toEqual([name, once.status, once.events]);
      expect([name, [...twice.attempts.values()]]).toEqual([name, [...once.attempts.values()]]);
    }
  });
});

describe('two facts', () => {
  /** Where the order decides what becomes of the message, as it must: what was decided first stands. */
  const DECIDES = new Set(['retry', 'canceled', 'expired', 'erased', 'restored', 'refused at release']);
  // "sent" of an attempt that failed before cancels no retry; one that comes first does.
  const IN_ORDER = [
    ['sent 1', 'failed 1'],
    ['not now 1', 'failed 1'],
    ['not now 1', 'sent 1'],
    // A response that puts the message back is not that of the attempt that counts any more.
    ['not now 1', 'lease ended 1'],
    ['not now 2', 'lease ended 2'],
    ['not now 2', 'failed 2'],
    ['not now 2', 'sent 2'],
    ['refused 1', 'sent 1'],
    ['refused 2', 'sent 2'],
    ['accepted 1', 'refused 1'],
    ['accepted 1', 'not now 1'],
    ['refused 1', 'not now 1'],
    ['accepted 2', 'refused 2'],
    ['accepted 2', 'not now 2'],
    ['refused 2', 'not now 2'],
    // While a retry is in flight: a late acceptance cancels it, and then what is learned of that attempt counts.
    ['accepted 1', 'sent 1'],
    ['accepted 1', 'failed 1'],
  ];
  // Of two attempts the one that is decided first counts.
  const areOfTwo = (a: string, b: string): boolean => /[12]$/.test(a) && /[12]$/.test(b) && a.at(-1) !== b.at(-1);
  const mayDiffer = (a: string, b: string): boolean =>
    DECIDES.has(a) || DECIDES.has(b) || areOfTwo(a, b) || IN_ORDER.some((pair) => pair.includes(a) && pair.includes(b));

  it.each(Object.keys(PLACES) as Place[])(
    'of a message %s lead to the same in either order, but for those that decide',
    (place) => {
      const names = Object.keys(FACTS);
      const differ: string[] = [];
      for (const a of names) {
        for (const b of names) {
          if (a === b) continue;
          const message = at(place, a, b);
          const [one, other] = [run(message, a, b), run(message, b, a)];
          check(one);
          if (one.status !== other.status && !mayDiffer(a, b))
            differ.push(`${a}, ${b}: ${one.status}; else ${other.status}`);
        }
      }
      expect(differ).toEqual([]);
    },
  );
});

it('any facts in any order make legal moves only, with events in sequence', () => {
  const places = fc.constantFrom(...(Object.keys(PLACES) as Place[]));
  const names = fc.array(fc.constantFrom(...Object.keys(FACTS)), { maxLength: MAX_FACTS });
  fc.assert(
    fc.property(places, names, (place, applied) => check(run(at(place, ...applied), ...applied))),
    { numRuns: 500 },
  );
});

describe('an answer', () => {
  it('of the attempt in flight makes a row of it, and writes back what the queue knew', () => {
    const made = run(PLACES['in flight'], 'accepted 1');
    expect(made.work).toBeNull();
    expect([...made.newAttempts]).toMatchObject([{ id: 'attempt-1', answer: 'accepted', metaMessageId: 'wamid.1' }]);
    expect(made.state).toMatchObject({
      attemptId: 'attempt-1',
      attemptCount: 1,
      acceptedAt: NOW,
      metaMessageId: 'wamid.1',
    });
    expect(made.events).toMatchObject([{ from: 'processing', to: 'accepted', at: NOW, attempt: 1, sequence: 1 }]);
  });

  it('"not now" keeps the place in the queue and the tries; one that comes late gets a new place', () => {
    const now = run(PLACES['in flight'], 'not now 1');
    expect(now.work).toMatchObject({ attemptId: null, leaseUntil: null, tries: 1, newDueAt: NOW + SECOND });
    expect(now.events).toEqual([]);
    const late = run(ended('outcome_unknown', unknownAttempt, { tries: 4, expiresAt: NOW + 7 * SECOND }), 'not now 1');
    expect(late.work).toMatchObject({ attemptNumber: 1, tries: 4, newDueAt: NOW + SECOND, queuedAt: STATE.queuedAt });
    expect(late.message.work).toBeNull();
    expect([now.entered, late.entered]).toEqual([null, 'returned']);
  });

  it.each(['lease ended 1', 'unknown 1', 'restored'])('"not now" after %s leaves it the life that it had', (name) => {
    const expiresAt = NOW + 7 * SECOND;
    const work = { ...inFlight(1), expiresAt, ...(name === 'lease ended 1' && { leaseUntil: NOW - SECOND }) };
    expect(run(known({ work }), name, 'not now 1').work).toMatchObject({ expiresAt });
  });

  it('"not now", or a refusal, of a retry ends the message by an attempt that was accepted meanwhile', () => {
    for (const name of ['not now 2', 'refused 2']) {
      const made = run(PLACES['in flight again'], 'sent 1', name);
      expect([name, made.status]).toEqual([name, 'accepted']);
      expect(made.state).toMatchObject({ attemptId: 'attempt-1', attemptCount: 2, failureCategory: null });
      expect(made.events).toMatchObject([{ from: 'processing', to: 'accepted', attempt: 1 }]);
    }
  });

  it('late "accepted" cancels the retry in flight, whose own answer is still noted', () => {
    const made = run(PLACES['in flight again'], 'accepted 1', 'refused 2');
    expect(made.state).toMatchObject({ status: 'accepted', attemptId: 'attempt-1', metaMessageId: 'wamid.1' });
    expect(made.attempts.get('attempt-2')).toMatchObject({ answer: 'rejected', replacedAt: NOW });
  });

  it('restores nothing of an erased recipient, and does not queue the message again', () => {
    const made = new MessageCase({ ...ended('outcome_unknown', unknownAttempt), recipient: null });
    expect(
      made.apply(answer(1, 'queued', { platformMessage: 'to 15550001234', traceId: 'T', metaMessageId: 'wamid.1' })),
    ).toBe('late');
    expect(made.status).toBe('outcome_unknown');
    expect(made.attempts.get('attempt-1')).toMatchObject({
      answer: 'deferred',
      text: null,
      traceId: null,
      metaMessageId: null,
    });
    made.apply(answer(1, 'accepted', { metaMessageId: 'wamid.1' }));
    expect(made.state).toMatchObject({ status: 'accepted', metaMessageId: null });
  });
});

describe('a report', () => {
  it('takes the platform’s time, no earlier than the state before it and no later than the present', () => {
    const time = (occurredAt: Date | null, change: Partial<MessageState> = {}) => {
      const own = attempt(1, { answer: 'accepted', answeredAt: NOW - 50 * SECOND });
      const made = new MessageCase(ended('accepted', own, change));
      made.apply(reported(1, 'sent', { occurredAt }));
      return made.events[0]?.at;
    };
    expect(time(new Date((NOW - 10 * SECOND) / 1_000))).toBe(NOW - 10 * SECOND);
    const changedAt = NOW - 10 * SECOND + 123_456;
    expect(time(new Date((NOW - 10 * SECOND) / 1_000), { changedAt })).toBe(changedAt);
    expect(time(new Date(NOW / 1_000 + 5_000))).toBe(NOW);
    expect(time(null)).toBe(NOW);
  });

  it('is no earlier than an unknown outcome before it, of a lease that ended or of a restored database', () => {
    for (const [place, first, second] of [
      ['in flight', 'lease ended 1', 'sent 1'],
      ['queued again', 'restored', 'delivered 1'],
    ] as const) {
      const { events } = run(at(place, first), first, second);
      expect(events.map((event) => event.at)).toEqual([NOW, NOW]);
    }
  });

  it.each([
    ['no error at all', null, { category: 'unknown', code: null, message: null }],
    [
      'a title only',
      { code: 131047, title: 'Re-engagement', details: null },
      { code: '131047', message: 'Re-engagement' },
    ],
    [
      'a code that no column takes',
      { code: 2 ** 40, title: 'Odd', details: null },
      { category: 'unknown', code: null },
    ],
    [
      'all',
      { code: 131026, title: 'Undeliverable', details: 'Not on WhatsApp' },
      { category: 'recipient_unreachable', message: 'Not on WhatsApp' },
    ],
  ])('copes with a failure that names %s', (_name, error, failure) => {
    const made = new MessageCase(PLACES.accepted);
    made.apply(reported(1, 'failed', { error }));
    expect(made.events).toMatchObject([{ to: 'failed', failure }]);
  });

  it('of an attempt that was accepted changes no attempt, but for a failure', () => {
    expect(run(PLACES.accepted, 'sent 1', 'delivered 1').changedAttempts.size).toBe(0);
    expect([...run(PLACES.accepted, 'failed 1').changedAttempts]).toMatchObject([
      { failedAt: NOW, failedCategory: 'unknown' },
    ]);
  });

  it('of another attempt is believed about nothing less than delivery, once the message has left the queue', () => {
    const made = run(PLACES['in flight again'], 'accepted 2', 'sent 1', 'failed 1');
    expect(made.status).toBe('accepted');
    made.apply(FACTS['delivered 1'] as Fact);
    expect(made.state).toMatchObject({ status: 'delivered', attemptId: 'attempt-2', metaMessageId: 'wamid.2' });
  });

  it('of another connection finds nothing', () => {
    const made = new MessageCase(PLACES.accepted);
    expect(made.apply(reported(1, 'sent', { connectionId: 'connection-2' }))).toBe('not_found');
  });

  it('says once what the message costs; a price of a message in the queue is not kept', () => {
    const pricing = { billable: true, category: 'utility', type: 'regular', subtype: null, model: 'PMP' };
    const other = { ...pricing, category: 'marketing' };
    const made = new MessageCase(PLACES.accepted);
    made.apply(reported(1, 'sent', { pricing }));
    made.apply(reported(1, 'delivered', { pricing: other }));
    expect(made.state).toMatchObject({ billable: true, pricingCategory: 'utility' });
    const waits = new MessageCase(PLACES['queued again']);
    waits.apply(reported(1, 'failed', { pricing }));
    expect(waits.state).toMatchObject({ status: 'queued', billable: null });
  });
});

it.each(['lease ended 1', 'restored'])('%s is written of an attempt in flight that has a row', (name) => {
  const { work } = at('in flight', name);
  const made = run(known({ work, attempts: [attempt(1)] }), name);
  expect([...made.changedAttempts]).toMatchObject([{ id: 'attempt-1', leaseEndedAt: NOW }]);
});

describe('where an earlier attempt is known to be accepted', () => {
  const retry: Fact = { kind: 'retry', messageId, from: ['failed'], body: null };
  const failed = (): MessageCase => run(PLACES['in flight again'], 'sent 1', 'failed 2');

  it('a retry of the failed message needs the confirmation', () => {
    const made = failed();
    expect([made.status, made.apply(retry), made.status]).toEqual(['failed', 'late', 'failed']);
    expect([made.apply(FACTS.retry as Fact), made.status]).toEqual(['recorded', 'queued']);
    expect([run(PLACES.refused).apply(retry)]).toEqual(['recorded']);
  });

  it.each(['canceled', 'expired'])('a retry that waits and is %s ends by it', (name) => {
    const made = run(at('in flight again', name), 'sent 1', 'failed 2', 'retry');
    if (made.work !== null) made.work.expiresAt = NOW - SECOND;
    expect(made.apply(FACTS[name] as Fact)).toBe('retry_canceled');
    expect(made.state).toMatchObject({ status: 'accepted', attemptId: 'attempt-1', failureCategory: null });
    check(made);
  });

  it('a message whose recipient was erased is not retried', () => {
    const made = new MessageCase({ ...PLACES.refused, recipient: null });
    expect([made.apply(FACTS.retry as Fact), made.status]).toEqual(['late', 'failed']);
  });
});

describe('a report about a restored message', () => {
  it.each(['sent', 'delivered', 'failed'] as const)(
    'that names an attempt which the backup does not know makes a row of it: %s',
    (status) => {
      for (const place of ['waiting', 'in flight', 'queued again'] as const) {
        const made = run(PLACES[place], 'restored');
        const restored = { ...made.message, state: made.state, work: null, attempts: [...made.attempts.values()] };
        const number = made.state.attemptCount + 1;
        const again = new MessageCase(restored);
        expect(again.apply(reported(9, status))).toBe('recorded');
        check(again);
        expect(again.state).toMatchObject({
          status,
          attemptId: 'attempt-9',
          attemptNumber: number,
          attemptCount: number,
        });
        expect([...again.newAttempts]).toMatchObject([{ id: 'attempt-9', number }]);
        expect(again.apply(reported(9, status))).toBe('late');
      }
    },
  );

  it('is not believed where the message was not restored, or is another number’s', () => {
    expect(new MessageCase(PLACES.unknown).apply(reported(9, 'sent'))).toBe('not_found');
    const restored = run(PLACES.waiting, 'restored');
    expect(restored.apply(reported(9, 'sent', { connectionId: 'connection-2' }))).toBe('not_found');
  });
});

it('a retry, and what follows it, is behind all that was before it, although the database’s clock has stepped back', () => {
  const changedAt = NOW + 60 * SECOND;
  const failed = run(ended('failed', attempt(1, { startedAt: changedAt - SECOND }), { changedAt }), 'retry');
  expect(failed.state).toMatchObject({ retriedAt: changedAt + 1, queuedAt: changedAt + 1 });
  expect(failed.work).toMatchObject({ newDueAt: NOW, expiresAt: NOW + 86_400 * SECOND });
  failed.apply(FACTS['canceled'] as Fact);
  expect(failed.state.failedAt).toBe(changedAt + 1);
});

it('a retry forgets the outcome of before, and keeps what was counted', () => {
  const kept = { eventCount: 3, changedAt: NOW - SECOND, attemptNumber: 1, attemptCount: 2 };
  const priced = { billable: true, pricingCategory: 'utility', metaMessageId: 'wamid.1', ...kept };
  const made = run(ended('failed', attempt(1, { answer: 'rejected' }), priced), 'retry');
  expect(made.state).toEqual({ ...STATE, ...kept, queuedAt: NOW, retriedAt: NOW });
  expect(made.work).toMatchObject({ attemptNumber: 2, tries: 0, queuedAt: NOW, newDueAt: NOW });
});

it('a cancel of a tag takes what was accepted, or last retried, before it', () => {
  const cancel: Fact = { kind: 'canceled', messageId, before: NOW - SECOND };
  const statuses = [null, NOW - 2 * SECOND, NOW].map((retriedAt) => {
    const made = new MessageCase(known({ work: WAITS, state: { retriedAt } }));
    made.apply(cancel);
    return made.status;
  });
  expect(statuses).toEqual(['failed', 'failed', 'queued']);
});

it('a report about a message of the app moves it without an event, never back', () => {
  const made = new MessageCase(ended('sent', null, { sentAt: NOW - SECOND }));
  const tell = (status: StatusReport['status']): unknown =>
    made.apply({ kind: 'report_of_app', messageId, report: report(status) });
  tell('read');
  tell('failed');
  tell('delivered');
  expect(made.state).toMatchObject({ status: 'read', failedAt: null, eventCount: 1 });
  expect(made.state.deliveredAt).toBe(NOW - 5 * SECOND);
  expect(made.events).toEqual([]);
});
