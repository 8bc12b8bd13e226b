import { Readiness, ReadinessCheck, type ReadinessPart } from './readiness.js';

class Check extends ReadinessCheck {
  constructor(
    readonly name: string,
    readonly check: () => Promise<ReadinessPart>,
  ) {
    super();
  }
}

function readinessOf(checks: Record<string, () => Promise<ReadinessPart>>): Readiness {
  const readiness = new Readiness();
  for (const [name, check] of Object.entries(checks)) readiness.register(new Check(name, check));
  return readiness;
}

describe('Readiness', () => {
  it('is ready when every part is', async () => {
    const report = await readinessOf({
      a: () => Promise.resolve({ ok: true }),
      b: () => Promise.resolve({ ok: true, detail: '3 sweeps' }),
    }).report();
    expect(report).toEqual({ status: 'ready', parts: { a: { ok: true }, b: { ok: true, detail: '3 sweeps' } } });
  });

  it('is not ready when one part is not, and tells of all', async () => {
    const report = await readinessOf({
      a: () => Promise.resolve({ ok: false, detail: 'stopping' }),
      b: () => Promise.resolve({ ok: true }),
    }).report();
    expect(report.status).toBe('not_ready');
    expect(report.parts.b).toEqual({ ok: true });
  });

  it('looks once for all that ask within half a second, but at once where a change must be seen', async () => {
    let looks = 0;
    let stopping = false;
    const readiness = readinessOf({ dear: () => Promise.resolve({ ok: true, detail: String(++looks) }) });
    const cheap = Object.assign(new Check('accepting', () => Promise.resolve({ ok: !stopping })), {
      mayBeRemembered: false,
    });
    readiness.register(cheap);
    import.meta.jest.useFakeTimers();
    try {
      const reports = await Promise.all([readiness.report(), readiness.report()]);
      expect(reports.map(({ status, parts }) => [status, parts.dear?.detail])).toEqual([
        ['ready', '1'],
        ['ready', '1'],
      ]);
      stopping = true;
      expect(await readiness.report()).toMatchObject({ status: 'not_ready', parts: { dear: { detail: '1' } } });
      import.meta.jest.advanceTimersByTime(500);
      expect((await readiness.report()).parts.dear?.detail).toBe('2');
    } finally {
      import.meta.jest.useRealTimers();
    }
  });

  it('counts a part that fails or hangs as not ready, and repeats nobody’s message', async () => {
    import.meta.jest.useFakeTimers();
    const reporting = readinessOf({
      fails: () => Promise.reject(new Error('connect to db.internal as herald')),
      hangs: () => new Promise(() => undefined),
    }).report();
    await import.meta.jest.advanceTimersByTimeAsync(1_000);
    import.meta.jest.useRealTimers();
    expect(await reporting).toEqual({
      status: 'not_ready',
      parts: { fails: { ok: false, detail: 'failed' }, hangs: { ok: false, detail: 'no answer' } },
    });
  });
});
