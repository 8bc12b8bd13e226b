import { setImmediate as turn } from 'node:timers/promises';
import type { NotAcceptedOutcome } from '../../infrastructure/whatsapp/outcome.js';
import { UploadCache, UploadLimiter, verdictOf } from './media-transfer.service.js';

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

/** Takes places for `count` uploads of a number, and returns how many were held at once. */
async function mostAtOnce(places: UploadLimiter, numbers: readonly string[], count: number): Promise<number> {
  let most = 0;
  const held: (() => void)[] = [];
  const work = (): Promise<void> => new Promise((resolve) => held.push(resolve));
  const all = numbers.flatMap((number) => {
    // `a1` and `a2` are numbers of one workspace.
    const connection = { id: number, organizationId: number.slice(0, 1) };
    return Array.from({ length: count }, () => places.within(connection, work));
  });
  let isOver = false;
  const ended = Promise.all(all).finally(() => (isOver = true));
  while (!isOver) {
    // All that may begin has begun.
    await turn();
    most = Math.max(most, held.length);
    for (const end of held.splice(0)) end();
  }
  await ended;
  return most;
}

describe('places for uploads', () => {
  it('are twelve for one number, 16 for one workspace and 32 for all', async () => {
    const places = new UploadLimiter();
    expect(await mostAtOnce(places, ['a'], 40)).toBe(12);
    expect(await mostAtOnce(places, ['a1', 'a2', 'a3'], 40)).toBe(16);
    expect(await mostAtOnce(places, ['a', 'b', 'c', 'd'], 40)).toBe(32);
  });

  it('are given back where the work fails', async () => {
    const places = new UploadLimiter();
    const fail = () => Promise.reject(new Error('no'));
    await Promise.allSettled(Array.from({ length: 100 }, () => places.within({ id: 'a', organizationId: 'a' }, fail)));
    expect(await mostAtOnce(places, ['a'], 12)).toBe(12);
  });
});

const OUTCOME: NotAcceptedOutcome = {
  kind: 'rejected',
  httpStatus: 400,
  platformCode: 100,
  platformMessage: 'no such type',
  category: 'invalid_content',
  traceId: null,
  retryAfterMs: null,
  written: true,
};

describe('an upload that gave no id', () => {
  it.each(['invalid_content', 'media_error', 'unknown'] as const)(
    'fails its messages where the platform refused it as %s',
    (category) => {
      expect(verdictOf({ ...OUTCOME, category }, 0)).toEqual({
        kind: 'failed',
        message: 'The platform refused the file: no such type',
      });
    },
  );

  it.each([
    ['lane_paused', 'authentication'],
    ['lane_paused', 'rate_limited'],
    ['rejected', 'sender_not_ready'],
    ['rejected', 'account_restricted'],
    ['rejected', 'authentication'],
  ] as const)('is the number’s affair where it is %s for %s', (kind, category) => {
    const outcome = { ...OUTCOME, kind, category };
    expect(verdictOf(outcome, 0)).toEqual({ kind: 'account', outcome });
  });

  it.each([
    ['unknown', 'platform_unavailable'],
    ['unknown', 'unknown'],
    ['deferred', 'platform_unavailable'],
    ['recipient_deferred', 'rate_limited'],
    ['rejected', 'rate_limited'],
    ['rejected', 'platform_unavailable'],
  ] as const)('is made again where it is %s for %s', (kind, category) => {
    expect(verdictOf({ ...OUTCOME, kind, category }, 0, 0.5)).toEqual({ kind: 'later', retryInMs: 1_000 });
  });

  it('is made again later and later, after a minute at the latest', () => {
    const delays = [0, 1, 2, 3, 4, 50].map((failures) => verdictOf({ ...OUTCOME, kind: 'unknown' }, failures, 0.5));
    expect(delays.map((delay) => (delay.kind === 'later' ? delay.retryInMs : null))).toEqual([
      1_000, 4_000, 16_000, 60_000, 60_000, 60_000,
    ]);
  });

  it('waits as long as the platform asks', () => {
    const outcome = { ...OUTCOME, kind: 'unknown', retryAfterMs: 90_000 } as const;
    expect(verdictOf(outcome, 0)).toEqual({ kind: 'later', retryInMs: 90_000 });
  });
});
