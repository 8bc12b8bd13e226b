import { GuessLimiter, originOf } from './guess-limiter.js';

function limiterAt(clock: { now: number }, perMinute = 20, maxAddresses = 100) {
  return new GuessLimiter(perMinute, { now: () => clock.now, monotonic: () => clock.now }, maxAddresses);
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

describe('originOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
    ['1::4:5:6:7:8', '1:0:0:4::/64'],
    ['', ''],
  ])('%s counts as %s', (address, origin) => {
    expect(originOf(address)).toBe(origin);
  });
});
