import { filesUnder, readProjectFile } from '../support/project-files.js';

/** Specs that sleep or compare elapsed time for a reason that no event, clock or `bench/` can serve. Sorted by path. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/modules/media/transfer/fetch.repository.spec.ts':
    'a distance by the clock of the database is compared with what it was set to, less the time that passed, however much',
  'src/modules/message-state/message-events.slow.spec.ts':
    'breaks connections while statements run: the pauses only spread the breaks, and no assertion depends on them',
  'test/contract/rate-limits.e2e-spec.ts':
    'a bucket fills by the clock while requests run: the bound grows with the time that passed, however much',
};

const SLEEPS = [
  /\bimport \{[^}]*\b(setTimeout|setInterval)\b[^}]*\} from 'node:timers/,
  /\bimport \{[^}]*\b(pause|sleep|delay)\b[^}]*\} from '/,
  // Not `jest.setTimeout`, the limit of a test.
  /(?<![.\w'])setTimeout\(/,
  /\bglobalThis\.setTimeout\(/,
];

/** Since a moment that has a name; `Date.now() - days * DAY_MS` is a time in the past. */
const ELAPSED = String.raw`(?:performance|Date)\.now\(\) - (?![a-z]\w* \*)[a-z]\w*`;
function sleeps(source: string): boolean {
  return SLEEPS.some((pattern) => pattern.test(source));
}

function comparesElapsed(source: string): boolean {
  const named = [...source.matchAll(new RegExp(String.raw`(\w+) = [^;=]*${ELAPSED}`, 'g'))].map(
    ([, name]) => `${name}`,
  );
  const duration = new RegExp(
    [ELAPSED, String.raw`\w\.ms\b`, ...named.map((name) => String.raw`\b${name}\b`)].join('|'),
  );
  const comparisons = source
    .split(/;\n/)
    .filter((statement) => /\bexpect\([^]*\.toBe(Less|Greater)Than/.test(statement));
  return comparisons.some((statement) => duration.test(statement));
}

describe('time in tests', () => {
  const specs = ['src', 'simulator', 'test', 'bench']
    .flatMap((folder) => filesUnder(folder, (path) => path.endsWith('spec.ts')))
    .filter((path) => path !== 'test/architecture/time.e2e-spec.ts');
  const found = specs.filter((path) => {
    const source = readProjectFile(path);
    return sleeps(source) || comparesElapsed(source);
  });

  it('is made to pass, or an event is waited for: no spec sleeps or asserts a duration', () => {
    expect(found.filter((path) => !(path in EXCEPTIONS))).toEqual([]);
  });

  it('has no exception that is not needed any more', () => {
    expect(Object.keys(EXCEPTIONS).filter((path) => !found.includes(path))).toEqual([]);
    expect(Object.keys(EXCEPTIONS)).toEqual(Object.keys(EXCEPTIONS).toSorted());
  });

  it.each([
    `import { setTimeout as later } from 'node:timers/promises';`,
    `import { once, pause } from './wait.js';`,
    `await new Promise((resolve) => setTimeout(resolve, 5));`,
  ])('%s is a sleep', (source) => {
    expect(sleeps(source)).toBe(true);
  });

  it.each([
    `import { setImmediate as turn } from 'node:timers/promises';`,
    `import.meta.jest.setTimeout(90_000);`,
    `await jest.advanceTimersByTimeAsync(5);`,
    `const later = jest.spyOn(globalThis, 'setTimeout');`,
    `await lanes.pause(lane, 'rate_limited');`,
  ])('%s is none', (source) => {
    expect(sleeps(source)).toBe(false);
  });

  it.each([
    `expect(performance.now() - from).toBeLessThan(5_000);`,
    `expect(Date.now() - startedAt).toBeGreaterThanOrEqual(195);`,
    `const tookMs = performance.now() - from;\nexpect(tookMs).toBeLessThan(8_000);`,
    `quickest = Math.min(quickest, performance.now() - from);\nexpect(quickest).toBeLessThan(1_000);`,
    `expect(ended.ms).toBeLessThan(15_000);`,
    `expect(done).toBeLessThanOrEqual(40 * (performance.now() - from));`,
  ])('%s compares a duration', (source) => {
    expect(comparesElapsed(source)).toBe(true);
  });

  it.each([
    `const past = new Date(Date.now() - daysAgo * DAY_MS);\nexpect(rows).toBeLessThan(past);`,
    `const dueAt = Date.now() - 60_000;\nexpect(dueAt).toBeLessThan(5);`,
    `const seconds = performance.now() - from;\nreport(seconds);\nexpect(rows).toBeLessThan(5);`,
  ])('%s does not', (source) => {
    expect(comparesElapsed(source)).toBe(false);
  });
});
