import { newId } from '../../../common/ids.js';
import { claimRequest } from '../../../../test/support/claim-request.js';
import type { LaneParts } from '../../../infrastructure/lanes/lane-processor.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { MessageSender, type SendTask } from './message-sender.js';
import type { Recorded } from './outcome.repository.js';

interface Held<T> {
  promise: Promise<T>;
  resolve(value: T): void;
}

function held<T>(): Held<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}

/** A sender whose connection cannot send, so that it only puts messages back; claims and records end as the test says. */
function senderOf(claim: () => Promise<unknown>, settle: () => Promise<Recorded>): MessageSender {
  const none: unknown[] = [];
  const config = { limits: { messageTtlHours: 24, sendLeaseMs: 20_000 } } as LaneParts['config'];
  const unused = none as never;
  return new MessageSender(
    { claim } as never,
    { settle } as never,
    unused,
    unused,
    { peekSending: () => null, forSending: () => Promise.resolve(null) } as never,
    unused,
    unused,
    unused,
    unused,
    config,
    unused,
    Tracing.OFF,
  );
}

describe('a message that was worked on', () => {
  const connectionId = newId();
  const task = { message: { id: newId(), connectionId, attemptId: newId() } } as SendTask;
  const request = claimRequest(connectionId, newId(), 1);
  const nothing = { hold: null, items: [] };

  it.each([true, false])('asks for another claim where its record says so: %s', async (next) => {
    const sender = senderOf(
      () => Promise.resolve(nothing),
      () => Promise.resolve({ moved: true, next }),
    );
    await sender.claim(request);
    expect(await sender.work(task)).toBe(next);
  });

  it.each(['before', 'while'])(
    'asks for another claim where one was under way that began %s it was recorded',
    async (when) => {
      const claiming = held<unknown>();
      const settling = held<Recorded>();
      const sender = senderOf(
        () => claiming.promise,
        () => settling.promise,
      );
      const claim = when === 'before' ? sender.claim(request) : null;
      const working = sender.work(task);
      await new Promise((resolve) => setImmediate(resolve));
      const beside = claim ?? sender.claim(request);
      claiming.resolve(nothing);
      await beside;
      settling.resolve({ moved: true, next: false });
      expect(await working).toBe(true);
    },
  );
});
