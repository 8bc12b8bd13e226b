import { Counters } from '../counters.js';
import { Metrics, type GaugeSource, type Sample } from './metrics.js';

/** The samples of what was measured, as Prometheus reads them. */
async function samplesOf(...sources: GaugeSource[]): Promise<string[]> {
  const metrics = new Metrics(new Counters());
  for (const source of sources) metrics.add(source);
  const text = await metrics.render();
  return text.split('\n').filter((line) => line.startsWith('herald_tried'));
}

const measure = (collect: () => Promise<Sample[]>, labelNames?: string[]): GaugeSource => ({
  name: `tried${labelNames === undefined ? '' : '_by_label'}`,
  help: 'Of this test.',
  labelNames,
  collect,
});

describe('Metrics', () => {
  it('show what was measured', async () => {
    const plain = measure(() => Promise.resolve([{ value: 0 }]));
    const labelled = measure(() => Promise.resolve([{ labels: { queue: 'a' }, value: 2 }]), ['queue']);
    expect(await samplesOf(plain, labelled)).toEqual(['herald_tried 0', 'herald_tried_by_label{queue="a"} 2']);
  });

  it('have no sample of what cannot be read, with or without labels: 0 would say that all is well', async () => {
    const fails = () => Promise.reject(new Error('the database is away'));
    expect(await samplesOf(measure(fails), measure(fails, ['queue']))).toEqual([]);
  });

  it('have no sample of what measured nothing', async () => {
    const nothing = () => Promise.resolve([]);
    expect(await samplesOf(measure(nothing), measure(nothing, ['queue']))).toEqual([]);
  });

  it('are measured one after another, so that they hold one connection', async () => {
    let [running, most] = [0, 0];
    const counts = async (): Promise<Sample[]> => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return [{ value: 1 }];
    };
    expect(await samplesOf(measure(counts), measure(counts, ['queue']))).toHaveLength(2);
    expect(most).toBe(1);
  });

  it('behind one that hangs have a sample of what needs no wait', async () => {
    import.meta.jest.useFakeTimers();
    try {
      const hangs = measure(() => new Promise(() => undefined));
      const known = measure(() => Promise.resolve([{ labels: { queue: 'a' }, value: 2 }]), ['queue']);
      const asked = samplesOf(hangs, known);
      await import.meta.jest.advanceTimersByTimeAsync(5_000);
      expect(await asked).toEqual(['herald_tried_by_label{queue="a"} 2']);
    } finally {
      import.meta.jest.useRealTimers();
    }
  });

  it('have no sample of what hangs', async () => {
    import.meta.jest.useFakeTimers();
    try {
      const asked = samplesOf(measure(() => new Promise(() => undefined)));
      await import.meta.jest.advanceTimersByTimeAsync(5_000);
      expect(await asked).toEqual([]);
    } finally {
      import.meta.jest.useRealTimers();
    }
  });
});
