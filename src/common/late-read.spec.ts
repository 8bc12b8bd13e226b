import { setImmediate as turn } from 'node:timers/promises';
import { ExpiringCache } from './expiring-cache.js';
import { lateSource, onPrimary, readLate } from './late-read.js';

const standby = { name: 'standby' };

describe('a read that may be late', () => {
  it('has its standby in all that it waits for, and nothing else has', async () => {
    const seen = readLate(standby, async () => {
      await turn();
      return lateSource();
    });
    expect(lateSource()).toBeNull();
    expect(await seen).toBe(standby);
    expect(lateSource()).toBeNull();
  });

  it('leaves it for what must not be late, and has it again afterwards', async () => {
    const seen = await readLate(standby, async () => [await onPrimary(async () => lateSource()), lateSource()]);
    expect(seen).toEqual([null, standby]);
  });

  it.each([
    ['ends', false],
    ['fails', true],
  ])('leaves nothing that it began behind at its standby when it %s', async (_how, fails) => {
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const begun: Promise<object | null>[] = [];
    const read = readLate(standby, async () => {
      begun.push(gate.then(() => lateSource()));
      if (fails) throw new Error('a conflict');
    });
    await read.catch(() => undefined);
    go();
    expect(await Promise.all(begun)).toEqual([null]);
  });

  it('loads what a cache keeps from the primary', async () => {
    const cache = new ExpiringCache<string, object | string>({ ttlMs: 1_000, maxEntries: 1 });
    const loaded = await readLate(standby, () => cache.get('a', async () => lateSource() ?? 'primary'));
    expect(loaded).toBe('primary');
  });
});
