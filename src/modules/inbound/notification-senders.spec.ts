import { NotificationSenders } from './notification-senders.js';

function sendersAt(clock: { now: number }, maxProven = 100): NotificationSenders {
  return new NotificationSenders(3, { monotonic: () => clock.now }, maxProven);
}

describe('senders of notifications', () => {
  it('are blocked for their minute after too many invalid signatures', () => {
    const clock = { now: 0 };
    const senders = sendersAt(clock);
    const sender = senders.of('192.0.2.1');
    for (let n = 0; n < 3; n++) expect(senders.fail(sender)).toBeNull();
    expect(senders.fail(sender)).toBe(60);
    clock.now = 15_000;
    expect(senders.blockedFor(sender)).toBe(45);
    expect(senders.blockedFor(senders.of('192.0.2.2'))).toBeNull();
    clock.now = 60_000;
    expect(senders.blockedFor(sender)).toBeNull();
  });

  it('are never blocked for ten minutes after a valid one', () => {
    const clock = { now: 0 };
    const senders = sendersAt(clock);
    senders.prove(senders.of('2001:db8::1'));
    expect(senders.of('2001:db8::2')).toEqual({ origin: '2001:db8:0:0::/64', proven: true });
    clock.now = 599_000;
    for (let n = 0; n < 9; n++) senders.fail(senders.of('2001:db8::1'));
    expect(senders.blockedFor(senders.of('2001:db8::1'))).toBeNull();
    clock.now = 600_000;
    expect(senders.of('2001:db8::1').proven).toBe(false);
    expect(senders.blockedFor(senders.of('2001:db8::1'))).toBe(59);
  });

  it('are remembered in a bounded number, the latest', () => {
    const senders = sendersAt({ now: 0 }, 2);
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.3']) senders.prove(senders.of(address));
    expect(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => senders.of(address).proven)).toEqual([
      true,
      false,
      true,
    ]);
  });
});
