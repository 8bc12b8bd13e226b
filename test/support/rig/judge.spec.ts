import { judge, type JudgedMessage } from './judge.js';

function message(id: string, status: string, ...attempts: string[]): JudgedMessage {
  return { id, status, attempts: attempts.map((state, i) => ({ id: `${id}.${i + 1}`, status: state })) };
}

const good = message('a', 'accepted', 'accepted');

describe('judge', () => {
  it('finds nothing where every message was taken once', () => {
    const messages = [good, message('b', 'read', 'deferred', 'accepted'), message('c', 'outcome_unknown', 'unknown')];
    expect(judge({ acknowledged: ['a', 'b', 'c'], messages, taken: ['a.1', 'b.2'] })).toEqual({
      acknowledged: 3,
      lost: 0,
      duplicated: 0,
      unknown: 1,
      unknownButTaken: 0,
      unfinished: 0,
      violations: [],
    });
  });

  it.each([
    ['acknowledged and gone', { acknowledged: ['a', 'b'], messages: [good], taken: ['a.1'] }],
    ['said to be sent and never seen', { acknowledged: ['a'], messages: [good], taken: [] }],
    ['failed', { acknowledged: ['a'], messages: [message('a', 'failed', 'rejected')], taken: [] }],
  ])('counts as lost: %s', (_, evidence) => {
    expect(judge(evidence)).toMatchObject({ lost: 1, duplicated: 0, violations: [expect.any(String)] });
  });

  it.each([
    ['one attempt taken twice', { acknowledged: ['a'], messages: [good], taken: ['a.1', 'a.1'] }],
    [
      'two attempts taken',
      { acknowledged: ['a'], messages: [message('a', 'sent', 'deferred', 'accepted')], taken: ['a.1', 'a.2'] },
    ],
    ['taken without an attempt', { acknowledged: ['a'], messages: [good], taken: ['a.1', 'x.1'] }],
    ['taken without callback data', { acknowledged: ['a'], messages: [good], taken: ['a.1', null] }],
    [
      'a blind second attempt, whatever its outcome',
      { acknowledged: ['a'], messages: [message('a', 'sent', 'unknown', 'accepted')], taken: ['a.2'] },
    ],
  ])('counts as duplicated: %s', (_, evidence) => {
    expect(judge(evidence)).toMatchObject({ lost: 0, duplicated: 1, violations: [expect.any(String)] });
  });

  it('reports what is still open, and unknown outcomes that the platform could have resolved', () => {
    const messages = [
      message('a', 'queued'),
      message('b', 'processing', 'started'),
      message('c', 'outcome_unknown', 'unknown'),
    ];
    expect(judge({ acknowledged: ['a', 'b', 'c'], messages, taken: ['c.1'] })).toMatchObject({
      unfinished: 2,
      unknown: 1,
      unknownButTaken: 1,
      lost: 0,
      duplicated: 0,
    });
  });
});
