import { readFileSync } from 'node:fs';
import { FAILURE_CATEGORIES, FAILURE_MEANINGS } from '../../../common/failure-category.js';
import { newId } from '../../../common/ids.js';
import { meaningOf } from '../../../infrastructure/whatsapp/graph-error.js';
import type { MessageEventDelivery } from '../../webhook/webhook.types.js';
import type { Attempt, DetailedMessage, MessageAct } from '../../message-state/message.types.js';
import type { Waiting, WaitingReason } from '../../sending/sending.types.js';
import { explanationOf, type Explained } from './explanation.js';
import { MAX_ENTRIES, timelineOf, type MessageHistory } from './timeline.js';

const START = Date.parse('2026-11-21T08:00:00.000Z');
const at = (seconds: number): Date => new Date(START + seconds * 1_000);

function message(change: Partial<DetailedMessage> = {}): DetailedMessage {
  return {
    id: newId(),
    organizationId: newId(),
    connectionId: newId(),
    conversationId: null,
    direction: 'outbound',
    type: 'text',
    recipient: '15550001234',
    recipientUserId: null,
    sender: '15550000000',
    body: 'hello',
    content: { body: 'hello' },
    clientMessageId: null,
    tag: null,
    metadata: null,
    replyToMessageId: null,
    mediaObjectId: null,
    status: 'queued',
    metaMessageId: null,
    failureCategory: null,
    errorCode: null,
    errorMessage: null,
    attemptCount: 0,
    createdAt: at(0),
    nextAttemptAt: null,
    scheduledFor: null,
    expiresAt: null,
    queuedAt: at(0),
    processingAt: null,
    acceptedAt: null,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    billable: null,
    pricingCategory: null,
    pricingType: null,
    pricingSubtype: null,
    pricingModel: null,
    failedAt: null,
    contact: { phone: '15550001234', userId: null, name: null },
    standby: false,
    source: 'api',
    inboundContext: {},
    changes: null,
    attempts: [],
    ...change,
  };
}

function attempt(number: number, status: Attempt['status'], change: Partial<Attempt> = {}): Attempt {
  return {
    number,
    status,
    startedAt: at(number * 10),
    finishedAt: status === 'started' ? null : at(number * 10 + 1),
    httpStatus: null,
    platformCode: null,
    platformMessage: null,
    failureCategory: null,
    metaMessageId: null,
    traceId: null,
    ...change,
  };
}

const told = (change: Partial<MessageHistory> & { message: DetailedMessage }) =>
  timelineOf({ sendAt: null, acts: [], changes: [], erasedAt: null, events: [], ...change });
const moves = (change: Parameters<typeof told>[0]) =>
  told(change).map(({ event, status, attempt: n, source }) => [event, status, n, source]);

const KEY = '4fG7kLm2QrT9';
const act = (name: MessageAct['act'], seconds: number, change: Partial<MessageAct> = {}): MessageAct => ({
  at: at(seconds),
  act: name,
  apiKeyId: KEY,
  queuedAt: null,
  failedAt: null,
  failureCategory: null,
  errorCode: null,
  ...change,
});

const event = (status: string, attemptNumber: number, seconds: number): MessageEventDelivery => ({
  type: 'message.status.updated',
  status,
  previousStatus: null,
  attempt: attemptNumber,
  occurredAt: at(seconds),
  state: 'delivered',
  deliveryIds: [`${status}-${attemptNumber}`],
});

describe('the timeline', () => {
  it('of a message that was read, each move with its deliveries', () => {
    const read = message({
      status: 'read',
      attempts: [attempt(1, 'accepted', { httpStatus: 200 })],
      processingAt: at(10),
      acceptedAt: at(11),
      sentAt: at(12),
      deliveredAt: at(12),
      readAt: at(60),
    });
    const events = [event('accepted', 1, 11), event('sent', 1, 12), event('delivered', 1, 12), event('read', 1, 60)];
    expect(told({ message: read, events }).map((entry) => [entry.event, entry.delivery_ids])).toEqual([
      ['queued', undefined],
      ['attempt_started', undefined],
      ['attempt_accepted', ['accepted-1']],
      ['sent', ['sent-1']],
      ['delivered', ['delivered-1']],
      ['read', ['read-1']],
    ]);
  });

  it('of attempts that were deferred, and of the one under way', () => {
    const waiting = message({
      status: 'processing',
      attempts: [
        attempt(1, 'deferred', { httpStatus: 429, platformCode: 131056, failureCategory: 'rate_limited' }),
        attempt(2, 'deferred', {}),
        attempt(3, 'started'),
      ],
    });
    expect(moves({ message: waiting })).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['attempt_started', 'processing', 1, 'herald'],
      ['attempt_deferred', 'queued', 1, 'whatsapp'],
      ['attempt_started', 'processing', 2, 'herald'],
      ['attempt_deferred', 'queued', 2, 'herald'],
      ['attempt_started', 'processing', 3, 'herald'],
    ]);
    const [, , first, , second] = told({ message: waiting });
    expect(first).toMatchObject({ platform_code: 131056 });
    expect(first?.summary).toContain('to this one recipient');
    expect(second?.summary).toContain('Nothing was written to WhatsApp');
  });

  it('of an unknown outcome that a report settled, where its event is kept', () => {
    const settled = message({
      status: 'sent',
      attempts: [attempt(1, 'accepted', { metaMessageId: 'wamid.1' })],
      sentAt: at(30),
    });
    expect(moves({ message: settled, events: [event('outcome_unknown', 1, 12), event('sent', 1, 30)] })).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['attempt_started', 'processing', 1, 'herald'],
      ['attempt_accepted', undefined, 1, 'whatsapp'],
      ['outcome_unknown', 'outcome_unknown', 1, 'herald'],
      ['sent', 'sent', 1, 'whatsapp'],
    ]);
    // No answer is claimed that never came.
    const [, , taken] = told({ message: settled });
    expect(taken?.summary).toBe('A report of WhatsApp showed that it took the message.');
  });

  it('of a retried message: the attempts before it stay, and what the retry cleared is told by events', () => {
    const retried = message({
      status: 'queued',
      queuedAt: at(40),
      attempts: [
        attempt(1, 'accepted', { httpStatus: 200, failureCategory: 'recipient_unreachable', platformCode: 131026 }),
      ],
    });
    const acts = [act('retried', 40, { queuedAt: at(0), failedAt: at(30), errorCode: '131026' })];
    expect(moves({ message: retried, acts, events: [event('accepted', 1, 11), event('failed', 1, 30)] })).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['attempt_started', 'processing', 1, 'herald'],
      ['attempt_accepted', 'accepted', 1, 'whatsapp'],
      ['failed', 'failed', 1, 'whatsapp'],
      ['retried', 'queued', undefined, 'api'],
    ]);
  });

  it.each([
    ['EXPIRED', 'expired', 'expired', 'herald'],
    ['ERASED', 'unknown', 'erased', 'operator'],
  ])('of one that ended by %s, without an attempt', (errorCode, failureCategory, name, source) => {
    const ended = message({ status: 'failed', failedAt: at(90), errorCode, failureCategory });
    expect(moves({ message: ended }).at(-1)).toEqual([name, 'failed', undefined, source]);
  });

  it('of cancels and retries: each stays, with who asked for it', () => {
    const canceled = message({
      tag: 'spring sale',
      status: 'failed',
      queuedAt: at(200),
      failedAt: at(210),
      failureCategory: 'canceled',
      errorCode: 'CANCELED',
    });
    const acts = [
      act('canceled', 10),
      act('retried', 20, { queuedAt: at(0), failedAt: at(10), failureCategory: 'canceled', errorCode: 'CANCELED' }),
      act('retried', 200, { apiKeyId: null, queuedAt: at(20), failedAt: at(90), errorCode: 'EXPIRED' }),
      act('canceled', 210, { apiKeyId: null }),
    ];
    const events = [event('failed', 0, 10), event('failed', 0, 90), event('failed', 0, 210)];
    const entries = told({ message: canceled, acts, events });
    expect(
      entries.map(({ at: time, event: name, status, by, api_key_id: key }) => [time, name, status, by, key]),
    ).toEqual([
      [at(0), 'queued', 'queued', undefined, undefined],
      [at(10), 'canceled', 'failed', 'caller', KEY],
      [at(20), 'retried', 'queued', 'caller', KEY],
      [at(90), 'expired', 'failed', undefined, undefined],
      [at(200), 'retried', 'queued', 'tag', undefined],
      [at(210), 'canceled', 'failed', 'tag', undefined],
    ]);
    expect(entries.flatMap(({ delivery_ids: ids = [] }) => ids)).toHaveLength(3);
    expect(entries[2]?.summary).toBe('You sent it again with POST /messages/{id}/retry.');
    expect(entries[4]?.summary).toBe('You sent it again with POST /tags/spring%20sale/retry.');
    expect(entries[5]?.summary).toBe('You canceled it with POST /tags/spring%20sale/cancel, before it was sent.');
  });

  it('of a person: by the session, which is no key', () => {
    const person = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea1';
    const canceled = message({
      status: 'failed',
      queuedAt: at(0),
      failedAt: at(10),
      failureCategory: 'canceled',
      errorCode: 'CANCELED',
    });
    const entries = told({ message: canceled, acts: [act('canceled', 10, { apiKeyId: person })] });
    expect(entries.at(-1)).toMatchObject({ event: 'canceled', by: 'caller', person_id: person });
    expect(entries.at(-1)).not.toHaveProperty('api_key_id');
  });

  it('of a retry of what was refused before any attempt', () => {
    const retried = message({ queuedAt: at(20) });
    const acts = [
      act('retried', 20, { queuedAt: at(0), failedAt: at(10), failureCategory: 'opted_out', errorCode: 'OPTED_OUT' }),
    ];
    expect(moves({ message: retried, acts })).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['failed', 'failed', undefined, 'herald'],
      ['retried', 'queued', undefined, 'api'],
    ]);
  });

  it('of a failure that WhatsApp reported after it had taken the message', () => {
    const failed = message({
      status: 'failed',
      acceptedAt: at(11),
      failedAt: at(20),
      failureCategory: 'recipient_unreachable',
      errorCode: '131026',
      errorMessage: 'Message undeliverable',
      attempts: [
        attempt(1, 'accepted', { httpStatus: 200, failureCategory: 'recipient_unreachable', platformCode: 131026 }),
      ],
    });
    const last = told({ message: failed }).at(-1);
    expect(last).toMatchObject({
      event: 'failed',
      status: 'failed',
      attempt: 1,
      source: 'whatsapp',
      platform_code: 131026,
    });
    expect(last?.summary).toContain('Message undeliverable');
  });

  it('of a restored database, a schedule, an erasure and a received message', () => {
    const restored = message({ status: 'outcome_unknown', errorCode: 'RESTORED' });
    expect(moves({ message: restored }).at(-1)).toEqual(['restored', 'outcome_unknown', undefined, 'operator']);
    const released = message({ queuedAt: at(3_600) });
    expect(moves({ message: released, sendAt: at(3_600) })).toEqual([
      ['queued', 'queued', undefined, 'api'],
      ['released', undefined, undefined, 'herald'],
    ]);
    const acts = [act('retried', 4_000, { queuedAt: at(3_600), failedAt: at(3_700) })];
    const again = message({ queuedAt: at(4_000), attempts: [attempt(1, 'rejected', { startedAt: at(3_650) })] });
    expect(moves({ message: again, sendAt: at(3_600), acts }).map(([name]) => name)).toEqual([
      'queued',
      'attempt_rejected',
      'released',
      'attempt_started',
      'retried',
    ]);
    const received = message({ direction: 'inbound', status: 'received', sentAt: at(-1), readAt: at(5) });
    const events = [{ ...event('', 1, 0), type: 'message.received' as const, status: null, attempt: null }];
    const entries = told({ message: received, events, erasedAt: at(9) });
    expect(entries.map((entry) => [entry.event, entry.status, entry.source])).toEqual([
      ['received', 'received', 'whatsapp'],
      ['read', undefined, 'api'],
      ['erased', undefined, 'operator'],
    ]);
    expect(entries[0]?.delivery_ids).toEqual(['-1']);
  });

  it('is bounded', () => {
    const attempts = Array.from({ length: 400 }, (_, n) => attempt(n + 1, 'deferred'));
    const entries = told({ message: message({ attempts }) });
    expect([entries.length, entries.at(-1)?.attempt]).toEqual([MAX_ENTRIES, 400]);
  });
});

describe('the explanation', () => {
  const explained = (change: Partial<DetailedMessage>, marks: Partial<Explained> = {}) =>
    explanationOf({
      message: message(change),
      waiting: null,
      changes: [],
      isErased: false,
      isCleared: false,
      now: at(60),
      ...marks,
    });

  it.each(FAILURE_CATEGORIES)(
    'of a failure by %s: its words, who can mend it, and when to retry',
    (failureCategory) => {
      const { summary, responsible, retryAfterMinutes } = FAILURE_MEANINGS[failureCategory];
      expect(explained({ status: 'failed', failedAt: at(50), failureCategory })).toEqual({
        summary,
        responsible,
        retry:
          retryAfterMinutes === null
            ? { advised: false, not_before: null }
            : { advised: true, not_before: retryAfterMinutes === 0 ? null : at(50 + retryAfterMinutes * 60) },
      });
      const cleared = explained({ status: 'failed', failedAt: at(50), failureCategory }, { isCleared: true });
      expect(cleared.retry.advised).toBe(false);
      expect(cleared.summary).toContain('no longer kept');
    },
  );

  it('of a platform code that says more than its category', () => {
    const failed = { status: 'failed' as const, failedAt: at(50), failureCategory: 'recipient_limit' };
    expect(explained({ ...failed, errorCode: '130472' })).toMatchObject({ retry: { advised: false } });
    for (const [failureCategory, responsible] of [
      ['opted_out', 'recipient'],
      ['not_conversation_owner', 'operator'],
    ]) {
      expect(explained({ ...failed, failureCategory: failureCategory ?? '' })).toMatchObject({
        responsible,
        retry: { advised: false },
      });
    }
    expect(explained({ ...failed, errorCode: '131049' })).toMatchObject({
      responsible: 'whatsapp',
      retry: { advised: true, not_before: at(50 + 86_400) },
    });
    // Of another category: a code whose subcode is not kept.
    expect(meaningOf('sender_not_ready', 100)).toEqual(FAILURE_MEANINGS.sender_not_ready);
  });

  it.each([
    ['received', null],
    ['processing', null],
    ['accepted', null],
    ['sent', null],
    ['delivered', null],
    ['read', null],
    ['outcome_unknown', 'whatsapp'],
  ] as const)('of a message that is %s', (status, responsible) => {
    const { summary, ...rest } = explained({ status, sentAt: at(0) });
    expect(summary).toMatch(/^[A-Z].*\.$/);
    expect(rest).toEqual({ responsible, retry: { advised: false, not_before: null } });
  });

  it('of a phone that has been away for more than a day', () => {
    expect(explained({ status: 'sent', sentAt: at(0) }, { now: at(90_000) }).responsible).toBe('recipient');
  });

  it.each<[WaitingReason, Partial<Waiting>, string | null, RegExp]>([
    ['scheduled', { until: at(90) }, null, /the time that you or its tag gave it/],
    ['scheduled', { until: at(90), estimatedSendAt: at(90) }, null, /gave it\. It leaves at about 2026-11-21T08:01:30/],
    ['earlier_message_to_recipient', { ahead: 1 }, null, /Ahead of it: 1\./],
    ['number_pace', { ahead: 30, estimatedSendAt: at(63) }, null, /leaves at about 2026-11-21T08:01:03/],
    ['pair_limit', { until: at(90) }, null, /Until 2026-11-21T08:01:30/],
    ['retry', { until: at(90) }, null, /deferred/],
    ['number_paused', { until: at(90), pauseReason: 'authentication (190)' }, 'operator', /expired or was revoked/],
    ['number_paused', { until: at(90), pauseReason: 'rate_limited (130429)' }, null, /more messages a second/],
    ['number_paused', { until: null }, 'operator', /herald restore/],
    ['number_disconnected', {}, 'operator', /cannot send/],
    ['due', { estimatedSendAt: at(60) }, null, /as soon as a worker takes it/],
    ['due', {}, 'operator', /no worker takes/],
  ])('of one that waits: %s', (reason, change, responsible, words) => {
    const waiting = { reason, until: null, ahead: 0, estimatedSendAt: null, expiresAt: at(3_600), pauseReason: null };
    const found = explained({ status: 'queued' }, { waiting: { ...waiting, ...change } });
    expect(found).toMatchObject({ responsible, retry: { advised: false } });
    expect(found.summary).toMatch(words);
    expect(found.summary).toContain('It expires at 2026-11-21T09:00:00.000Z.');
  });

  it('names the same people as the page on statuses', () => {
    const page = readFileSync('docs/statuses-and-retries.md', 'utf8');
    const people = {
      you: 'you',
      recipient: 'the recipient',
      operator: 'the operator',
      whatsapp: 'WhatsApp',
      none: 'time',
    };
    for (const category of FAILURE_CATEGORIES) {
      const [, who] = new RegExp(`^\\| \`${category}\`\\s*\\| ([^|]+?)\\s*\\|`, 'm').exec(page) ?? [];
      const expected = FAILURE_MEANINGS[category].responsible;
      expect([category, who]).toEqual([category, category === 'unknown' ? '-' : people[expected ?? 'none']]);
    }
  });
});
