import { GuessLimiter } from './guess-limiter.js';

function limiterAt(clock: { now: number }, perMinute = 20, maxAddresses = 100) {
  return new GuessLimiter(perMinute, { monotonic: () => clock.now }, maxAddresses);
}

describe('GuessLimiter', () => {
  it('lets an address fail 20 times a minute', () => {
    const clock = { now: 0 };
    const limiter = limiterAt(clock);
    for (let i = 0; i < 20; i++) expect(limiter.fail('192.0.2.1')).toBeNull();
    expect(limiter.fail('192.0.2.1')).toBe(60);
    clock.now = 45_500;
    expect(limiter.fail('192.0.2.1')).toBe(15);
    expect(limiter.fail('192.0.2.2')).toBeNull();
    clock.now = 60_000;
    expect(limiter.fail('192.0.2.1')).toBeNull();
  });

  it('remembers a bounded number of addresses, the latest', () => {
    const limiter = limiterAt({ now: 0 }, 1, 3);
    for (const last of [1, 2, 3, 4]) limiter.fail(`192.0.2.${last}`);
    expect(limiter.fail('192.0.2.4')).not.toBeNull();
    expect(limiter.fail('192.0.2.1')).toBeNull();
  });
});
