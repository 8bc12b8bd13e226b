// The order of the test files. On a machine that has not run them before, Jest goes by their size; then one that takes
// a minute may begin last, while the other workers have nothing left to do.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/** What those import that start processes of the built program, databases or a browser: they take longest. */
const STARTS_PROCESSES = /from '.*\/(herald-process|embedded-site|embedded-clone|fleet|chromium)\.js'/;
/** After each of them come this many others, as too many processes at once would disturb one another. */
const OTHERS_BETWEEN = 3;

// Jest takes it by this name only.
// oxlint-disable-next-line import/no-default-export
export default class TestSequencer extends Sequencer {
  sort(tests) {
    const [long, others] = [[], []];
    for (const test of super.sort(tests)) (startsProcesses(test) ? long : others).push(test);
    return [...long.flatMap((test) => [test, ...others.splice(0, OTHERS_BETWEEN)]), ...others];
  }
}

function startsProcesses({ path }) {
  return STARTS_PROCESSES.test(readFileSync(path, 'utf8'));
}
