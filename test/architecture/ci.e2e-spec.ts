import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readProjectFile, ROOT } from '../support/project-files.js';

const STEPS = '.ci/steps';

describe('CI', () => {
  const steps = readdirSync(join(ROOT, STEPS)).sort();

  it('runs the same steps in the same order at both callers, under the same names', () => {
    const workflow = readProjectFile('.github/workflows/ci.yml');
    const called = [...workflow.matchAll(/- name: (.+)\n +run: (\.ci\/steps\/.+)\n/g)].map(([, name, path]) => [
      name,
      path,
    ]);
    const nameOf = (step: string): string => readProjectFile(`${STEPS}/${step}`).split('\n')[1]?.slice(2) ?? '';
    expect(called).toEqual(steps.map((step) => [nameOf(step), `${STEPS}/${step}`]));
    expect(workflow).toMatch(/if: always\(\)\n +run: \.ci\/finish\n/);
    const run = readProjectFile('.ci/run');
    expect(run).toContain('for step in .ci/steps/*; do');
    expect(run).not.toMatch(/npm|node /);
  });

  it.each(steps)('%s can be called alone', (step) => {
    expect(statSync(join(ROOT, STEPS, step)).mode & 0o111).toBe(0o111);
    expect(readProjectFile(`${STEPS}/${step}`)).toMatch(
      /^#!\/usr\/bin\/env bash\n# .+\n(# .+\n)?\. "\$\(dirname "\$0"\)\/\.\.\/common"\n\n/,
    );
  });
});
