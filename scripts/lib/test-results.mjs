// What Jest's JSON of a run says, and that of a second run of the files that failed. Paths are relative to `root`.
import { relative } from 'node:path';

const MAX_OF_A_MESSAGE = 300;
// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001B\[[\d;]*m/g;

/** Also a file that crashed, timed out or could not be loaded: Jest gives it no test, and a message. */
export function failedFiles(result) {
  return result.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
}

/** The first run, with the files that ran again as the second run found them. */
export function merged(first, again) {
  const second = new Map(again.flatMap(({ testResults }) => testResults).map((file) => [file.name, file]));
  return { ...first, testResults: first.testResults.map((file) => second.get(file.name) ?? file) };
}

/** How many tests passed, failed and were left out; a file that failed without a test that failed counts as one. */
export function countsOf(result) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { status, assertionResults } of result.testResults) {
    const ended = (wanted) => assertionResults.filter((test) => test.status === wanted).length;
    counts.passed += ended('passed');
    counts.failed += status === 'failed' ? Math.max(1, ended('failed')) : 0;
    counts.skipped += ended('pending') + ended('todo');
  }
  return counts;
}

/** What failed at first and passed when its file ran again, alone. */
export function flakyTests(first, last, root) {
  const failed = new Set(failedFiles(last));
  return first.testResults
    .filter(({ name, status }) => status === 'failed' && !failed.has(name))
    .flatMap(({ name, message, assertionResults }) => {
      const file = relative(root, name);
      const tests = assertionResults.filter((test) => test.status === 'failed');
      if (tests.length === 0) return [{ file, test: 'the whole file', message: oneLine(message) }];
      return tests.map(({ fullName, failureMessages }) => ({
        file,
        test: oneLine(fullName),
        message: oneLine(failureMessages[0] ?? ''),
      }));
    });
}

export function flakyLine({ file, test, message }) {
  return `flaky: ${file}: ${test}: ${message}`;
}

/** Without colours and the stack. */
export function oneLine(message) {
  const text = message
    .replace(COLOURS, '')
    .split(/\n\s+at /)[0]
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > MAX_OF_A_MESSAGE ? `${text.slice(0, MAX_OF_A_MESSAGE - 1)}…` : text;
}

/** The files that took longest, and their seconds. */
export function slowestFiles(result, most, root) {
  return result.testResults
    .map(({ name, startTime, endTime }) => ({ file: relative(root, name), seconds: (endTime - startTime) / 1000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, most);
}

export function slowLine({ file, seconds, part }) {
  return `${seconds.toFixed(1).padStart(6)} s  ${file}${part ? ` (${part})` : ''}`;
}
