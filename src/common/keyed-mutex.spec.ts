import { KeyedMutex } from './keyed-mutex.js';

describe('KeyedMutex', () => {
  const aTurn = () => new Promise(setImmediate);

  it('lets work on one key go one after the other, in the order in which it came', async () => {
    const turns = new KeyedMutex(10, () => new Error('full'));
    const seen: string[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} begins`);
      await aTurn();
      seen.push(`${name} ends`);
    };
    await Promise.all([turns.run('a', work('1')), turns.run('a', work('2')), turns.run('a', work('3'))]);
    expect(seen).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
    expect(turns.size).toBe(0);
  });

  it('lets different keys pass each other', async () => {
    const turns = new KeyedMutex(10, () => new Error('full'));
    let open = (): void => undefined;
    const slow = turns.run('slow', () => new Promise<void>((resolve) => (open = resolve)));
    expect(await turns.run('quick', () => Promise.resolve('passed'))).toBe('passed');
    open();
    await slow;
  });

  it('goes on after work that failed', async () => {
    const turns = new KeyedMutex(10, () => new Error('full'));
    const failing = turns.run('a', () => Promise.reject(new Error('broken')));
    const next = turns.run('a', () => Promise.resolve(2));
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe(2);
  });

  it('refuses more than may wait, and takes work again once there is capacity', async () => {
    const turns = new KeyedMutex(2, () => new Error('full'));
    const both = [turns.run('a', aTurn), turns.run('a', aTurn)];
    await expect(turns.run('a', aTurn)).rejects.toThrow('full');
    expect(await turns.run('b', () => Promise.resolve('free'))).toBe('free');
    await Promise.all(both);
    expect(await turns.run('a', () => Promise.resolve('again'))).toBe('again');
  });
});
