import { jest } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { commandsOf, GUIDES } from './guides.js';
import { buildProgram } from './program.js';

const commands = commandsOf(buildProgram());

describe('the command herald', () => {
  it('has its commands', () => {
    expect(commands.map(([words]) => words)).toEqual(expect.arrayContaining(['key create', 'message send', 'demo']));
  });

  it.each(commands)('%s: says what it action, with an example that is its own, and speaks JSON', (words, command) => {
    const guide = GUIDES[words];
    const lines = (guide?.examples ?? []).map((example) => (typeof example === 'string' ? example : example[0]));
    expect(command.description()).toMatch(/^[a-z].{10,}/);
    expect(lines.filter((line) => line.includes(`herald ${words}`))).not.toEqual([]);
    expect(command.options.map((option) => option.long)).toContain('--json');
  });

  it('has no guide for a command that is not there', () => {
    const known = new Set(commands.map(([words]) => words));
    expect(Object.keys(GUIDES).filter((words) => !known.has(words))).toEqual([]);
  });

  it('examples name only options that there are', () => {
    const unknown = commands.flatMap(([words, command]) => {
      const known = new Set(command.options.flatMap((option) => [option.long, option.short]));
      const lines = (GUIDES[words]?.examples ?? []).map((each) => (typeof each === 'string' ? each : each[0]));
      return lines
        .map((line) => line.split(`herald ${words}`)[1]?.split(' | ')[0] ?? '')
        .flatMap((rest) => rest.match(/(?<=\s)--?[a-z][a-z-]*/g) ?? [])
        .filter((option) => !known.has(option))
        .map((option) => `${words}: ${option}`);
    });
    expect(unknown).toEqual([]);
  });

  // Only where it is installed.
  const hasFish = spawnSync('fish', ['--version']).status === 0;
  (hasFish ? it : it.skip)('completes commands and options in fish', async () => {
    const written: string[] = [];
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    await buildProgram().parseAsync(['completion', 'fish'], { from: 'user' });
    write.mockRestore();
    const ask = (line: string): string[] => {
      const script = `${written.join('')}\ncomplete -C ${JSON.stringify(line)}`;
      return spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' }).stdout.trim().split('\n');
    };
    expect(ask('herald ke')).toEqual(['key']);
    expect(ask('herald key ')).toEqual(expect.arrayContaining(['create', 'list', 'revoke', 'rotate']));
    expect(ask('herald message send --te').sort()).toEqual(['--template', '--text']);
  });

  it('completes commands and options in bash', async () => {
    const written: string[] = [];
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    await buildProgram().parseAsync(['completion', 'bash'], { from: 'user' });
    write.mockRestore();
    const ask = (line: string): string[] => {
      const words = `COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _herald; echo "\${COMPREPLY[@]}"`;
      const { stdout } = spawnSync('bash', ['-c', `${written.join('')}\n${words}`], { encoding: 'utf8' });
      return stdout.trim().split(' ');
    };
    expect(ask('herald ke')).toEqual(['key']);
    expect(ask("herald key ''")).toEqual(expect.arrayContaining(['create', 'list', 'revoke', 'rotate']));
    expect(ask('herald message send --te')).toEqual(['--text', '--template']);
  });
});
