import * as fc from 'fast-check';
import { runs } from '../../../test/support/runs.js';
import { FAILURE_CATEGORIES } from '../../common/failure-category.js';
import { classifyPlatformError } from './graph-error.js';
import { classifyExchange, type SendOutcome } from './outcome.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');

function answered(status: number, body: unknown, headers: Record<string, string> = {}): SendOutcome {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return classifyExchange({ kind: 'answered', status, headers, body: text }, NOW);
}

function refused(status: number, code: unknown, more: object = {}): SendOutcome {
  return answered(status, { error: { message: 'no', code, ...more } });
}

describe('accepted', () => {
  it('is a 200 with the id of the message', () => {
    const body = { contacts: [{ input: '+5511', wa_id: '5511', user_id: 'BR.1' }], messages: [{ id: 'wamid.A==' }] };
    expect(answered(200, body)).toEqual({
      kind: 'accepted',
      metaMessageId: 'wamid.A==',
      waId: '5511',
      userId: 'BR.1',
      httpStatus: 200,
    });
  });

  it.each([
    ['no contacts', { messages: [{ id: 'w' }] }],
    ['contacts of null', { messages: [{ id: 'w' }], contacts: null }],
    ['a contact without a number', { messages: [{ id: 'w' }], contacts: [{ user_id: '' }] }],
    ['a number that is none', { messages: [{ id: 'w' }], contacts: [{ wa_id: '+55 11', user_id: {} }] }],
  ])('with %s knows neither number nor user', (_name, body) => {
    expect(answered(200, body)).toMatchObject({ kind: 'accepted', waId: null, userId: null });
  });

  it.each([
    ['an empty body', ''],
    ['HTML', '<html></html>'],
    ['half an object', '{"messages":[{"id":"w"'],
    ['null', null],
    ['a list', []],
    ['no messages', { messages: [] }],
    ['a message that is null', { messages: [null] }],
    ['an id that is a number', { messages: [{ id: 7 }] }],
    ['an empty id', { messages: [{ id: '' }] }],
    ['an id with a space', { messages: [{ id: 'a b' }] }],
    ['an id with U+0000', { messages: [{ id: 'a\u0000' }] }],
    ['an endless id', { messages: [{ id: 'a'.repeat(513) }] }],
    ['an error', { error: { code: 131026, message: 'no' } }],
  ])('is not a 200 with %s: unknown', (_name, body) => {
    expect(answered(200, body)).toMatchObject({ kind: 'unknown', httpStatus: 200, written: true });
  });
});

describe('a refusal on 4xx', () => {
  it.each([
    [400, 131047, 'rejected', 'service_window_closed'],
    [404, 132001, 'rejected', 'template_unavailable'],
    [400, 190, 'lane_paused', 'authentication'],
    [403, 131031, 'lane_paused', 'account_restricted'],
    [429, 131056, 'recipient_deferred', 'rate_limited'],
    [400, 131056, 'recipient_deferred', 'rate_limited'],
    [400, 131057, 'deferred', 'platform_unavailable'],
    [400, 134101, 'deferred', 'template_unavailable'],
    [400, 131070, 'rejected', 'not_conversation_owner'],
    [429, 131048, 'lane_paused', 'account_restricted'],
    [400, 131000, 'unknown', 'unknown'],
    [400, 1, 'unknown', 'unknown'],
    [429, 2, 'unknown', 'platform_unavailable'],
    [400, 424242, 'rejected', 'unknown'],
    [400, '131026', 'rejected', 'recipient_unreachable'],
    // Unlisted codes: the status names the account.
    [401, 104, 'lane_paused', 'authentication'],
    [429, 17, 'lane_paused', 'rate_limited'],
    // 408 is never an answer.
    [408, 131026, 'unknown', 'platform_unavailable'],
    [408, 190, 'unknown', 'platform_unavailable'],
  ])('%i with code %s: %s, %s', (status, code, kind, category) => {
    expect(refused(status, code)).toMatchObject({ kind, category, httpStatus: status, platformCode: Number(code) });
  });

  it.each([
    [400, 'deferred', 'platform_unavailable'],
    [401, 'lane_paused', 'authentication'],
    [403, 'lane_paused', 'authentication'],
    [404, 'deferred', 'platform_unavailable'],
    [407, 'deferred', 'platform_unavailable'],
    [408, 'unknown', 'platform_unavailable'],
    [413, 'rejected', 'invalid_content'],
    [429, 'lane_paused', 'rate_limited'],
    [499, 'deferred', 'platform_unavailable'],
  ])('%i without the platform’s JSON: %s, %s', (status, kind, category) => {
    for (const body of ['', '<html>', '{"error":', '{"error":"x"}', '{"error":{}}', '[]']) {
      expect(answered(status, body)).toMatchObject({ kind, category, httpStatus: status, platformCode: null });
    }
  });

  it('of the platform without a code refuses this message', () => {
    expect(answered(400, { error: { message: 'Unsupported' } })).toMatchObject({
      kind: 'rejected',
      category: 'unknown',
      platformMessage: 'Unsupported',
    });
  });
});

describe('5xx', () => {
  it.each([
    [500, 131045, 'lane_paused', 'sender_not_ready'],
    [500, 133004, 'deferred', 'platform_unavailable'],
    [500, 131057, 'deferred', 'platform_unavailable'],
    [503, 4, 'lane_paused', 'rate_limited'],
    [500, 131056, 'recipient_deferred', 'rate_limited'],
    [500, 131000, 'unknown', 'unknown'],
    [503, 2, 'unknown', 'platform_unavailable'],
    [500, 131026, 'unknown', 'platform_unavailable'],
    [500, 100, 'unknown', 'platform_unavailable'],
    [500, 424242, 'unknown', 'platform_unavailable'],
  ])('%i with code %i: %s, %s', (status, code, kind, category) => {
    expect(refused(status, code)).toMatchObject({ kind, category, platformCode: code });
  });

  it.each(['', '<html>', '{"error":{"message":"no code"}}', '{"messages":[{"id":"w"}]}'])(
    'with %j: unknown',
    (body) => {
      expect(answered(502, body)).toMatchObject({ kind: 'unknown', category: 'platform_unavailable' });
    },
  );
});

describe('any other status', () => {
  it.each([0, 100, 199, 300, 302, 304, 399, 600, 999])('%i: unknown', (status) => {
    expect(refused(status, 190)).toMatchObject({ kind: 'unknown' });
    expect(answered(status, { messages: [{ id: 'w' }] })).toMatchObject({ kind: 'unknown' });
  });
});

describe('no status at all', () => {
  it('after writing: unknown', () => {
    expect(classifyExchange({ kind: 'broken', written: true, timedOut: true, code: 'ANSWER_TIMEOUT' }, NOW)).toEqual({
      kind: 'unknown',
      httpStatus: null,
      platformCode: null,
      platformMessage: 'The request was sent and no answer came in time.',
      category: 'platform_unavailable',
      traceId: null,
      retryAfterMs: null,
      written: true,
    });
  });

  it('before writing: it may go later', () => {
    expect(
      classifyExchange({ kind: 'broken', written: false, timedOut: false, code: 'ECONNREFUSED' }, NOW),
    ).toMatchObject({
      kind: 'deferred',
      platformMessage: 'Nothing was sent: the connection was refused.',
      written: false,
    });
  });
});

it.each([
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'EAI_AGAIN',
  'TOO_LATE',
  'UNKNOWN',
])('a request that broke with %s says so in words, without the code of a library', (code) => {
  for (const written of [true, false]) {
    const outcome = classifyExchange({ kind: 'broken', written, timedOut: false, code }, NOW);
    expect(outcome).toMatchObject({ platformMessage: expect.not.stringContaining(code) });
  }
});

describe('what is kept of a refusal', () => {
  it('is the particular reason beside the general one', () => {
    expect(refused(400, 100, { error_data: { details: 'to is missing' } })).toMatchObject({
      platformMessage: 'no: to is missing',
    });
    expect(refused(400, 100, { error_data: 'plain' })).toMatchObject({ platformMessage: 'no: plain' });
    expect(refused(400, 100, { error_data: { details: 'no' } })).toMatchObject({ platformMessage: 'no' });
    expect(refused(400, 100, { message: 7, error_user_msg: 'for people' })).toMatchObject({
      platformMessage: 'for people',
    });
  });

  it('is the trace id, from the body or else from the header', () => {
    expect(refused(400, 100, { fbtrace_id: 'A1' })).toMatchObject({ traceId: 'A1' });
    expect(answered(500, '', { 'x-fb-trace-id': 'B2' })).toMatchObject({ traceId: 'B2' });
    expect(answered(500, '')).toMatchObject({ traceId: null });
  });

  it('is how long to wait', () => {
    expect(answered(429, '', { 'retry-after': '30' })).toMatchObject({ retryAfterMs: 30_000 });
    expect(answered(503, '', { 'retry-after': 'Sat, 21 Nov 2026 12:00:09 GMT' })).toMatchObject({
      retryAfterMs: 9_000,
    });
    expect(answered(503, '', { 'retry-after': 'Sat, 21 Nov 2020 12:00:09 GMT' })).toMatchObject({ retryAfterMs: 0 });
    expect(answered(503, '', { 'retry-after': '99999999999' })).toMatchObject({ retryAfterMs: 3_600_000 });
    for (const value of ['', 'soon', '-3', '1.5', '1e3']) {
      expect(answered(503, '', { 'retry-after': value })).toMatchObject({ retryAfterMs: null });
    }
  });

  it('can be stored', () => {
    expect(refused(400, 100, { message: 'a\u0000b\ud800' })).toMatchObject({ platformMessage: 'a\uFFFDb\uFFFD' });
  });
});

describe('every exchange', () => {
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({
        code: fc.oneof(fc.integer(), fc.constantFrom(0, 1, 4, 131056, 131057, 190, 'x')),
        message: fc.string(),
      })
      .map((error) => JSON.stringify({ error })),
    fc
      .anything()
      .map((value) =>
        JSON.stringify({ messages: [{ id: value }] }, (_key, item: unknown) =>
          typeof item === 'bigint' ? String(item) : item,
        ),
      ),
  );

  it('has one outcome, and is believed untaken only where it was refused in so many words', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), body, (status, text) => {
        const outcome = classifyExchange({ kind: 'answered', status, headers: {}, body: text }, NOW);
        if (outcome.kind === 'accepted') {
          expect(status).toBeGreaterThanOrEqual(200);
          expect(status).toBeLessThan(300);
          expect(outcome.metaMessageId).not.toBe('');
          return;
        }
        expect(FAILURE_CATEGORIES).toContain(outcome.category);
        expect(outcome.httpStatus).toBe(status);
        if (outcome.kind !== 'unknown') {
          const isRefusal = status >= 400 && status < 500 && status !== 408;
          const saysNotNow =
            status >= 500 &&
            outcome.platformCode !== null &&
            ['pause_lane', 'defer', 'defer_recipient'].includes(classifyPlatformError(outcome.platformCode).action);
          expect(isRefusal || saysNotNow).toBe(true);
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
