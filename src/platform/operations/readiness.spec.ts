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
