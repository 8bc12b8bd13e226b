import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.js';
import { TokenBucket } from '../../common/token-bucket.js';
import { type Ask, type Grant, LeasedBuckets } from './leased-buckets.js';

/** The shared bucket as the database keeps it, without the database. */
class Shared {
  private readonly buckets = new Map<string, { tokens: number; at: number }>();
  exchanges = 0;
  failing = false;
  hanging = false;
  delay: () => Promise<void> = () => Promise.resolve();

  constructor(private readonly clock: { now: number }) {}

  async exchange(asks: Ask[]): Promise<Grant[]> {
    this.exchanges += 1;
    if (this.hanging) await new Promise(() => undefined);
    await this.delay();
    if (this.failing) throw new Error('away');
    return asks.map(({ key, limits, want, held }) => {
      const bucket = this.buckets.get(key) ?? { tokens: limits.burst, at: this.clock.now };
      const flowedIn = ((this.clock.now - bucket.at) / 1_000) * limits.ratePerSecond;
      const level = Math.min(limits.burst - held, bucket.tokens + flowedIn + Math.max(-want, 0));
      const granted = Math.max(Math.min(want, Math.floor(level)), 0);
      this.buckets.set(key, { tokens: level - granted, at: this.clock.now });
      return { granted, left: level - granted };
    });
  }
}

function setup(processes = 1, timeoutMs = 1_000) {
  const clock = { now: 0 };
  const shared = new Shared(clock);
  const away: unknown[] = [];
  const all = Array.from(
    { length: processes },
    () =>
      new LeasedBuckets({
        clock: { monotonic: () => clock.now },
        exchange: (asks) => shared.exchange(asks),
        onAway: (error) => void away.push(error),
        timeoutMs,
      }),
  );
  const first = all[0] as LeasedBuckets;
  const advance = (ms: number): void => {
    clock.now += ms;
  };
  return { clock, shared, all, first, away, advance };
}

/** Resolves when another process has closed its output, which it does once the file `<file>.go` is there; then it makes the file. */
async function answerOverSocket(file: string): Promise<void> {
  const script = 'until [ -e "$1.go" ]; do :; done; exec >&-; : > "$1"';
  const child = spawn('sh', ['-c', script, 'sh', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout.resume(), 'end');
}

const LIMITS = { ratePerSecond: 50, burst: 100 };

async function allowedOf(bucket: LeasedBuckets, count: number, limits = LIMITS): Promise<number> {
  const decisions = await Promise.all(Array.from({ length: count }, async () => bucket.take('key', limits)));
  return decisions.filter((decision) => decision.allowed).length;
}

describe('several tokens at once', () => {
  const take = async (bucket: LeasedBuckets, count: number) => bucket.take('key', LIMITS, count);

  it('are taken all or none, and a refusal says when they will be there', async () => {
    const { first, advance } = setup();
    expect(await take(first, 100)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await take(first, 60)).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 2 });
    advance(1_000);
    expect(await take(first, 60)).toMatchObject({ allowed: false, remaining: 50, resetSeconds: 1 });
    // Nothing was taken by those that were refused.
    expect(await take(first, 50)).toMatchObject({ allowed: true });
    expect(await allowedOf(first, 5)).toBe(0);
  });

  it('that were not needed are given back, and are there for another process at once', async () => {
    const { all, shared, first } = setup(2);
    const [, second] = all as [LeasedBuckets, LeasedBuckets];
    expect(await take(first, 90)).toMatchObject({ allowed: true, remaining: 10 });
    expect(first.giveBack('key', LIMITS, 80)).toMatchObject({ allowed: true, remaining: 90 });
    const exchanges = shared.exchanges;
    while (shared.exchanges === exchanges) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    // But for what a process holds.
    expect(await take(second, 65)).toMatchObject({ allowed: true });
    expect(await take(second, 100)).toMatchObject({ allowed: false });
    expect(await take(first, 25)).toMatchObject({ allowed: true });
  });

  it('that were not needed are given back to a bucket of its own while the shared one is away', async () => {
    const { shared, first } = setup();
    shared.failing = true;
    expect(await take(first, 90)).toMatchObject({ allowed: true, remaining: 10 });
    first.giveBack('key', LIMITS, 80);
    expect(await take(first, 91)).toMatchObject({ allowed: false, remaining: 90 });
    expect(await take(first, 90)).toMatchObject({ allowed: true });
  });

  it('are there after the time that a refusal names, at another process too', async () => {
    const { all, first, advance } = setup(3);
    const [, second, third] = all as [LeasedBuckets, LeasedBuckets, LeasedBuckets];
    expect(await allowedOf(first, 30)).toBe(30);
    const refused = await take(second, 100);
    expect(refused.allowed).toBe(false);
    await new Promise((resolve) => setImmediate(resolve)); // what it got is given back
    advance(refused.resetSeconds * 1_000);
    expect(await take(third, 100)).toMatchObject({ allowed: true });
  });

  it('never pass the limits, whatever is asked for', async () => {
    const asked = fc.array(fc.tuple(fc.integer({ min: 1, max: 100 }), fc.nat(1), fc.nat(900)), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(asked, async (steps) => {
        const { all, clock, advance } = setup(2);
        let given = 0;
        for (const [count, process, pauseMs] of steps) {
          if ((await take(all[process] as LeasedBuckets, count)).allowed) given += count;
          advance(pauseMs);
        }
        // Each process may hold a quarter of the burst beside the shared bucket.
        expect(given).toBeLessThanOrEqual(LIMITS.burst * 1.5 + (clock.now / 1_000) * LIMITS.ratePerSecond);
      }),
      { numRuns: runs(50) },
    );
  });

  it('come from a bucket of its own while the shared one is away', async () => {
    const { first, shared } = setup();
    shared.failing = true;
    expect(await take(first, 80)).toMatchObject({ allowed: true });
    expect(await take(first, 80)).toMatchObject({ allowed: false, remaining: 20, resetSeconds: 2 });
    expect(await take(first, 20)).toMatchObject({ allowed: true });
  });
});

describe('LeasedBuckets', () => {
  it('gives the burst at once, and then what flows in', async () => {
    const { first, advance } = setup();
    expect(await allowedOf(first, 150)).toBe(100);
    advance(1_000);
    expect(await allowedOf(first, 150)).toBe(50);
    advance(10_000);
    expect(await allowedOf(first, 150)).toBe(100);
  });

  it('reports what is left as if there were one bucket', async () => {
    const { first } = setup();
    const remaining: number[] = [];
    for (let i = 0; i < 5; i++) remaining.push((await first.take('key', LIMITS)).remaining);
    expect(remaining).toEqual([99, 98, 97, 96, 95]);
    expect(await first.take('key', LIMITS)).toEqual({ allowed: true, remaining: 94, resetSeconds: 1 });
  });

  it('says of a refusal when the next request is allowed', async () => {
    const { first, advance } = setup();
    const slow = { ratePerSecond: 1, burst: 3 };
    expect(await allowedOf(first, 3, slow)).toBe(3);
    expect(await first.take('key', slow)).toEqual({ allowed: false, remaining: 0, resetSeconds: 1 });
    advance(999);
    expect((await first.take('key', slow)).allowed).toBe(false);
    advance(30);
    expect((await first.take('key', slow)).allowed).toBe(true);
  });

  it('answers without waiting while tokens are at hand', async () => {
    const { first } = setup();
    await first.take('key', LIMITS);
    expect(first.take('key', LIMITS)).not.toBeInstanceOf(Promise);
  });

  it('asks seldom under a high limit: the lease grows with the use', async () => {
    const { first, shared, advance } = setup();
    const wide = { ratePerSecond: 1_000_000, burst: 1_000_000 };
    let waited = 0;
    for (let ms = 0; ms < 5_000; ms++) {
      advance(1);
      for (let i = 0; i < 10; i++) {
        const decision = first.take('key', wide);
        if (decision instanceof Promise) waited += 1;
        await decision;
      }
      if (ms % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (ms % 1_000 === 999) first.tick();
    }
    expect(waited).toBeLessThan(10);
    expect(shared.exchanges).toBeLessThan(40);
  });

  it('exceeds no burst by what several processes held before they were idle', async () => {
    const { all, advance } = setup(4);
    for (const one of all) await one.take('key', LIMITS);
    for (let second = 0; second < 60; second++) {
      advance(1_000);
      for (const one of all) one.tick();
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    }
    let allowed = 0;
    for (const one of all) allowed += await allowedOf(one, 150);
    expect(allowed).toBe(LIMITS.burst);
  });

  it('costs far less than one exchange a request, at most one where they are seconds apart, and nothing where there are none', async () => {
    const { first, shared, advance } = setup();
    const after = async (requests: number, everySeconds: number): Promise<number> => {
      const before = shared.exchanges;
      for (let second = 0; second < requests * everySeconds; second++) {
        if (second % everySeconds === 0) expect(await first.take('key', LIMITS)).toMatchObject({ allowed: true });
        advance(1_000);
        first.tick();
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      }
      return shared.exchanges - before;
    };
    expect(await after(100, 1)).toBeLessThanOrEqual(10);
    // What it would keep for requests so far apart, other processes could spend as well.
    expect(await after(100, 30)).toBeLessThanOrEqual(100);
    expect(await after(1, 3_600)).toBeLessThanOrEqual(1);
    // What it let go was never given back, and is still there.
    expect(await allowedOf(first, 150)).toBe(100);
  });

  it('refuses a flood over the limit without asking for each request', async () => {
    const { first, shared, advance } = setup();
    await allowedOf(first, 150);
    const before = shared.exchanges;
    for (let ms = 0; ms < 1_000; ms++) {
      advance(1);
      await first.take('key', LIMITS);
    }
    expect(shared.exchanges - before).toBeLessThanOrEqual(60);
  });

  it('gives back what it does not use, so that another process can have it all', async () => {
    const { all, advance } = setup(2);
    const [one, other] = all as [LeasedBuckets, LeasedBuckets];
    await one.take('key', LIMITS);
    advance(1_000);
    one.tick();
    one.tick();
    await one.close();
    advance(1_000);
    expect(await allowedOf(other, 150)).toBe(100);
  });

  it('keeps the rate over any number of processes, and exceeds the burst by no more than they hold', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 4 }),
        fc.record({ ratePerSecond: fc.integer({ min: 1, max: 200 }), burst: fc.integer({ min: 1, max: 200 }) }),
        fc.array(
          fc.record({
            process: fc.nat(3),
            waitMs: fc.integer({ min: 0, max: 700 }),
            tries: fc.integer({ min: 1, max: 40 }),
          }),
          { maxLength: 40 },
        ),
        async (processes, limits, steps) => {
          const { all, clock, advance } = setup(processes);
          const yardstick = new TokenBucket(
            { ...limits, burst: limits.burst + processes * Math.max(1, Math.ceil(limits.burst / 4)) + 1 },
            0,
          );
          let sinceTick = 0;
          for (const { process, waitMs, tries } of steps) {
            advance(waitMs);
            sinceTick += waitMs;
            if (sinceTick >= 1_000) {
              for (const bucket of all) bucket.tick();
              sinceTick = 0;
            }
            const allowed = await allowedOf(all[process % processes] as LeasedBuckets, tries, limits);
            expect(allowed === 0 || yardstick.take(clock.now, allowed)).toBe(true);
          }
        },
      ),
      { numRuns: runs(30) },
    );
  });

  describe('when the shared bucket is out of reach', () => {
    it('goes on with a full bucket of its own, and says so', async () => {
      const { first, shared, away, advance } = setup();
      shared.failing = true;
      expect(await allowedOf(first, 150)).toBe(100);
      expect(away.length).toBeGreaterThan(0);
      advance(1_000);
      expect(await allowedOf(first, 150)).toBe(50);
    });

    it('waits no longer than its time for an answer', async () => {
      const { first, shared, away } = setup(1, 150);
      shared.hanging = true;
      expect((await first.take('key', LIMITS)).allowed).toBe(true);
      expect(away).toHaveLength(1);
    });

    it('believes an answer that came while the loop was held up, and has no bucket of its own', async () => {
      const { first, shared, away } = setup(1, 500);
      const folder = mkdtempSync(join(tmpdir(), 'herald-answer-'));
      const answered = join(folder, 'answered');
      // As a socket's data: read only after the timers of the same turn.
      shared.delay = () => answerOverSocket(answered);
      const allowed = allowedOf(first, 150);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      // Holds up the loop, for longer than is waited for an answer, until the answer is there for sure.
      writeFileSync(`${answered}.go`, '');
      const longer = performance.now() + 600;
      while (performance.now() < longer || !existsSync(answered));
      rmSync(folder, { recursive: true });
      expect(await allowed).toBe(100);
      expect(away).toEqual([]);
    });

    it('shares again with an answer that comes late, and what it granted is not lost', async () => {
      const { first, shared, away } = setup(1, 150);
      let answer = (): void => undefined;
      shared.delay = () => new Promise((resolve) => (answer = resolve));
      expect((await first.take('key', LIMITS)).allowed).toBe(true);
      expect(away).toHaveLength(1);
      shared.delay = () => Promise.resolve();
      answer();
      await new Promise((resolve) => setImmediate(resolve));
      // Its own bucket is gone: what is left is the shared one's hundred.
      expect(await allowedOf(first, 150)).toBe(100);
    });

    it('asks again after a second and shares again', async () => {
      const { first, shared, advance } = setup();
      shared.failing = true;
      await allowedOf(first, 10);
      shared.failing = false;
      advance(1_001);
      await first.take('key', LIMITS);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      first.tick();
      first.tick();
      await first.close();
      advance(10_000);
      expect(await allowedOf(first, 150)).toBe(100);
      expect(await first.take('key', LIMITS)).toEqual({ allowed: false, remaining: 0, resetSeconds: 1 });
    });
  });

  it('takes new limits at once', async () => {
    const { first } = setup();
    await allowedOf(first, 20);
    expect(await allowedOf(first, 50, { ratePerSecond: 1, burst: 5 })).toBeLessThanOrEqual(5);
  });
});
