import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/project-files.js';

interface Flaky {
  file: string;
  test: string;
  message: string;
}
interface Run {
  testResults: object[];
}
interface TestResults {
  countsOf: (run: Run) => { passed: number; failed: number; skipped: number };
  failedFiles: (run: Run) => string[];
  flakyTests: (first: Run, last: Run, root: string) => Flaky[];
  merged: (first: Run, again: Run[]) => Run;
  slowestFiles: (run: Run, most: number, root: string) => { file: string; seconds: number }[];
}

const results = (await import(
  pathToFileURL(join(ROOT, 'scripts/lib/test-results.mjs')).href
)) as unknown as TestResults;

const RED = '\u001B[31m';
const passed = (fullName: string) => ({ fullName, status: 'passed', failureMessages: [] });
const failed = (fullName: string, ...failureMessages: string[]) => ({ fullName, status: 'failed', failureMessages });
const file = (name: string, assertionResults: { status: string }[], more = {}) => ({
  name: `/project/${name}`,
  status: assertionResults.some(({ status }) => status === 'failed') ? 'failed' : 'passed',
  message: '',
  assertionResults,
  startTime: 1_000,
  endTime: 3_500,
  ...more,
});
const crashed = (name: string) =>
  file(name, [], { status: 'failed', message: `${RED}  ● Test suite failed to run\n\n    ended\n` });

describe('the second look at files that failed', () => {
  const first = {
    testResults: [
      file('a.spec.ts', [
        passed('one'),
        failed('two', `${RED}Error: expected 1\nReceived: 2\n    at file.ts:3:4\n    at b`),
      ]),
      file('b.spec.ts', [passed('three'), { fullName: 'later', status: 'todo', failureMessages: [] }]),
      crashed('c.spec.ts'),
    ],
  };

  it('is taken at files with a test that failed, and at those without tests that could not be run', () => {
    expect(results.failedFiles(first)).toEqual(['/project/a.spec.ts', '/project/c.spec.ts']);
    expect(results.countsOf(first)).toEqual({ passed: 2, failed: 2, skipped: 1 });
  });

  it('names what passed the second time, one line each', () => {
    const last = results.merged(first, [
      { testResults: [file('a.spec.ts', [passed('one'), passed('two')])] },
      { testResults: [file('c.spec.ts', [passed('four')])] },
    ]);
    expect(results.flakyTests(first, last, '/project')).toEqual([
      { file: 'a.spec.ts', test: 'two', message: 'Error: expected 1 Received: 2' },
      { file: 'c.spec.ts', test: 'the whole file', message: '● Test suite failed to run ended' },
    ]);
    expect(results.countsOf(last)).toEqual({ passed: 4, failed: 0, skipped: 1 });
  });

  it('leaves a failure where the second run fails too, or did not come to an end', () => {
    const last = results.merged(first, [
      { testResults: [file('a.spec.ts', [failed('one', 'Error: late'), passed('two')])] },
    ]);
    expect(results.flakyTests(first, last, '/project')).toEqual([]);
    expect(results.failedFiles(last)).toEqual(['/project/a.spec.ts', '/project/c.spec.ts']);
  });

  it('cuts a long message', () => {
    const long = { testResults: [file('a.spec.ts', [failed('one', `Error: ${'x'.repeat(1_000)}`)])] };
    const last = { testResults: [file('a.spec.ts', [passed('one')])] };
    expect(results.flakyTests(long, last, '/project')[0]?.message).toMatch(/^Error: x{292}…$/);
  });
});

it('the files that took longest come first', () => {
  const run = { testResults: [file('a', []), file('b', [], { endTime: 9_000 }), file('c', [], { endTime: 1_100 })] };
  expect(results.slowestFiles(run, 2, '/project')).toEqual([
    { file: 'b', seconds: 8 },
    { file: 'a', seconds: 2.5 },
  ]);
});

it('CI prints them at its end, and what was flaky, which are no rows of the table of what ran', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-ran-'));
  try {
    const env = { ...process.env, RAN_FILE: join(folder, 'lines') };
    const lines = [
      { slow: { file: 'test/a.spec.ts', seconds: 2, part: 'e2e tests' } },
      { slow: { file: 'test/b.spec.ts', seconds: 61.25, part: 'slow tests' } },
      { flaky: { file: 'test/a.spec.ts', test: 'one', message: 'Error: late' } },
    ];
    writeFileSync(env.RAN_FILE, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const ran = (...args: string[]) =>
      execFileSync(process.execPath, [join(ROOT, 'scripts/ran.mjs'), ...args], {
        env,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    expect(ran('slowest')).toBe('  61.3 s  test/b.spec.ts (slow tests)\n   2.0 s  test/a.spec.ts (e2e tests)\n');
    expect(ran('flaky')).toBe('flaky: test/a.spec.ts: one: Error: late\n');
    expect(() => ran('write', join(folder, 'page.md'))).toThrow('nothing was noted');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
