import type { NotAcceptedOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import { UploadCache } from './upload-cache.js';
import { RefusalCounter } from './refusal-counter.js';

class Hands {
  at = 0;
  now = (): number => this.at;
  monotonic = (): number => this.at;
}

const READY = { kind: 'ready', platformMediaId: '1' } as const;

describe('upload cache', () => {
  it('hold for their time', () => {
    const clock = new Hands();
    const answers = new UploadCache(clock);
    expect(answers.get('a', 't')).toBeNull();
    answers.set('a', READY, 100, 't');
    clock.at = 99;
    expect(answers.get('a', 'another token')).toEqual(READY);
    clock.at = 100;
    expect(answers.get('a', 't')).toBeNull();
  });

  it('that ask to wait ask for what is left', () => {
    const clock = new Hands();
    const answers = new UploadCache(clock);
    answers.set('a', { kind: 'later', retryInMs: 1_000 }, 1_000, 't');
    clock.at = 400;
    expect(answers.get('a', 't')).toEqual({ kind: 'later', retryInMs: 600 });
  });

  it('about a token end with it', () => {
    const answers = new UploadCache(new Hands());
    answers.set('a', { kind: 'account', outcome: {} as NotAcceptedOutcome }, 100, 'old');
    expect(answers.get('a', 'old')).toMatchObject({ kind: 'account' });
    expect(answers.get('a', 'new')).toBeNull();
  });

  it('count failures in a row, beyond their own time', () => {
    const clock = new Hands();
    const answers = new UploadCache(clock);
    answers.set('a', { kind: 'later', retryInMs: 1 }, 1, 't');
    clock.at = 10;
    answers.set('a', { kind: 'later', retryInMs: 1 }, 1, 't');
    clock.at = 20;
    expect(answers.failuresOf('a')).toBe(2);
    answers.set('a', READY, 1, 't');
    expect(answers.failuresOf('a')).toBe(0);
  });

  it('are not kept without end', () => {
    const answers = new UploadCache(new Hands());
    for (let index = 0; index <= 20_000; index++) answers.set(String(index), READY, 100, 't');
    expect(answers.get('0', 't')).toBeNull();
    expect(answers.get('1', 't')).toEqual(READY);
  });
});

describe('refused ids', () => {
  it('count while less than an hour lies between them', () => {
    const clock = new Hands();
    const refused = new RefusalCounter(clock);
    refused.add('a');
    clock.at = 3_599_999;
    refused.add('a');
    expect([refused.count('a'), refused.count('b')]).toEqual([2, 0]);
    clock.at += 3_600_000;
    expect(refused.count('a')).toBe(0);
  });
});
