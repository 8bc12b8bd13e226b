import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/project-files.js';
import { missingFrom, scriptOf, type Step } from './markdown-script.js';

const step = (text: string, until: string[] = []): Step => ({
  where: 'a.md:1',
  text: `${text}\n`,
  prints: [],
  until,
  later: [],
  shown: null,
});

describe('what runs the commands of documents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-runner-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(name: string, steps: Step[]): { outputs: (string | null)[]; ended: boolean } {
    const outputs = join(folder, name);
    spawnSync('mkdir', [outputs]);
    writeFileSync(join(outputs, 'script.sh'), scriptOf(steps, outputs));
    spawnSync('sh', [join(outputs, 'script.sh')]);
    const outputOf = (index: number): string | null => {
      const file = join(outputs, `${index}.out`);
      return existsSync(file) ? readFileSync(file, 'utf8') : null;
    };
    return { outputs: steps.map((_, index) => outputOf(index)), ended: existsSync(join(outputs, 'end')) };
  }

  it('keeps variables from block to block, and repeats a block until it says what is wanted', () => {
    const { outputs, ended } = run('good', [step('N=0'), step('N=$((N + 1)); echo "it is $N"', ['it is 3'])]);
    expect(outputs[1]).toBe('it is 3\n');
    expect(ended).toBe(true);
  });

  it('waits for what a program that is left behind prints, before the next block', () => {
    const late = { ...step('{ sleep 0.5; echo there; } &'), later: ['there'] };
    const { outputs, ended } = run('late', [late, step(`cat ${join(folder, 'late', '0.out')}`)]);
    expect(outputs).toEqual(['there\n', 'there\n']);
    expect(ended).toBe(true);
  });

  it('stops at the first command that fails, in the middle of a block too', () => {
    const { outputs, ended } = run('bad', [step('echo one\nfalse\necho two'), step('echo three')]);
    expect(outputs).toEqual(['one\n', null]);
    expect(ended).toBe(false);
  });

  it('sees where the output is not what is shown', () => {
    const id = '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e';
    expect(missingFrom(`{"id":"${id}",\n "status":"queued"}`, '{"id":"…", "status":"queued"}')).toBeNull();
    expect(missingFrom('one two three', 'one … three')).toBeNull();
    expect(missingFrom('three one', 'one … three')).toBe('three');
    expect(missingFrom('{"status":"failed"}', '{"status":"queued"}')).not.toBeNull();
  });
});

describe('before a start', () => {
  /** In a process of its own, as scripts are not compiled here. */
  function obstacleTo(version: string, isInstalled: boolean): string {
    const code = `import('./scripts/lib/preflight.mjs').then(({ obstacleTo }) =>
      console.log(obstacleTo('${version}', ${isInstalled})))`;
    return spawnSync(process.execPath, ['-e', code], { cwd: ROOT, encoding: 'utf8' }).stdout.trim();
  }

  it.each(['18.20.4', '20.18.3'])('Node %s is too old, and one sentence says so', (version) => {
    expect(obstacleTo(version, true)).toMatch(/^Herald cannot start: it needs Node\.js 20\.19 or newer, and this is /);
  });

  it.each(['20.19.0', '22.1.0'])('Node %s will do', (version) => {
    expect(obstacleTo(version, true)).toBe('null');
  });

  it('packages that are not installed are named with the command that installs them', () => {
    expect(obstacleTo('22.1.0', false)).toContain('npm ci');
  });
});
