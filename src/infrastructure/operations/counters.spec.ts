import { filesUnder, readProjectFile } from '../../../test/support/project-files.js';
import { COUNTER_FAMILIES, COUNTERS, LABELLED, Counters, countersText } from './counters.js';

describe('Counters', () => {
  it('adds up by name and lists names in order', () => {
    const counters = new Counters();
    counters.increment('wake_failed');
    counters.increment('sent', 3);
    counters.increment('sent');
    expect(Object.entries(counters.snapshot())).toEqual([
      ['sent', 4],
      ['wake_failed', 1],
    ]);
  });

  it('hands out a copy', () => {
    const counters = new Counters();
    counters.increment('sent');
    counters.snapshot().sent = 100;
    expect(counters.snapshot().sent).toBe(1);
  });
});

describe('counters as Prometheus reads them', () => {
  it('shows every counter from the start, so that its first event is a rise', () => {
    const text = countersText({});
    expect(text).toContain('# TYPE herald_send_accepted_total counter\nherald_send_accepted_total 0\n');
    expect(text).not.toContain('herald_send_outcomes_total');
  });

  it('heads the series of one name once', () => {
    const counters = new Counters();
    counters.incrementBy('send_outcomes', { outcome: 'rejected', category: 'media_error' });
    counters.incrementBy('send_outcomes', { outcome: 'accepted', category: 'none' }, 2);
    const lines = countersText(counters.snapshot()).split('\n');
    expect(lines.filter((line) => line.includes('herald_send_outcomes_total'))).toEqual([
      '# HELP herald_send_outcomes_total Outcomes of sends by category; none: accepted.',
      '# TYPE herald_send_outcomes_total counter',
      'herald_send_outcomes_total{outcome="accepted",category="none"} 2',
      'herald_send_outcomes_total{outcome="rejected",category="media_error"} 1',
    ]);
  });

  it('knows every counter that the sources count', () => {
    const sources = filesUnder('src', (path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'));
    const calls = sources.flatMap((path) => [
      ...readProjectFile(path).matchAll(/\.increment(?:By)?\(\s*(['`])([a-z_]+)(\$\{)?/g),
    ]);
    expect(calls.length).toBeGreaterThan(30);
    const unknown = calls
      .map(([, , name = '', open]) => ({ name, isFamily: open !== undefined }))
      .filter(({ name, isFamily }) =>
        isFamily
          ? COUNTER_FAMILIES[name] === undefined && !Object.keys(COUNTERS).some((known) => known.startsWith(name))
          : COUNTERS[name] === undefined,
      );
    expect(unknown).toEqual([]);
  });

  it('has no label on a counter that is said to have none', () => {
    for (const name of LABELLED) expect(COUNTERS[name]).toBeDefined();
  });
});
