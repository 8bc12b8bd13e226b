import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProjectFile, ROOT } from '../support/project-files.js';

const folder = mkdtempSync(join(tmpdir(), 'herald-ran-'));
const page = join(folder, 'page.md');
const BEGIN = '<!-- what ran where: written by .ci/run -->';
const END = '<!-- end of what ran where -->';

function ran(...args: string[]): void {
  const env = { ...process.env, RAN_FILE: join(folder, 'lines') };
  execFileSync(process.execPath, [join(ROOT, 'scripts/ran.mjs'), ...args], { env, stdio: 'pipe' });
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the table of what ran where', () => {
  it('has one row for an environment and its version, by kind and version, in the place of the one before', () => {
    writeFileSync(page, `# Page\n\n${BEGIN}\n\n| old |\n| --- |\n\n${END}\n\nAfter it.\n`);
    ran('add', 'Redis', '7.0.15', 'image');
    ran('add', 'Node.js', '24.1.0', 'unit tests (3)');
    ran('add', 'Node.js', '9.0.0', 'start | stop');
    ran('add', 'Redis', '7.0.15', 'queue');
    ran('add', 'Redis', '7.0.15', 'image');
    ran('add', 'Abacus', '1', 'adds');
    ran('write', page);
    const expected = `# Page

${BEGIN}

| Where   | Version | What ran       |
| ------- | ------- | -------------- |
| Node.js | 9.0.0   | start \\| stop  |
| Node.js | 24.1.0  | unit tests (3) |
| Redis   | 7.0.15  | image; queue   |
| Abacus  | 1       | adds           |

${END}

After it.
`;
    expect(readFileSync(page, 'utf8')).toBe(expected);
    ran('write', page);
    expect(readFileSync(page, 'utf8')).toBe(expected);
  });

  it('fails where the page has no place for it, and its page has one', () => {
    writeFileSync(page, `# Page\n`);
    expect(() => ran('write', page)).toThrow('no place for the table');
    expect(readFileSync(page, 'utf8')).toBe('# Page\n');
    expect(readProjectFile('docs/appendix/what-ran-where.md')).toMatch(new RegExp(`${BEGIN}[\\s\\S]*${END}`));
  });
});
