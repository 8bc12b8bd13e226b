import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { filesUnder, readProjectFile, ROOT } from '../support/project-files.js';

const run = promisify(execFile);
const lines = (path: string): string[] => readProjectFile(path).split('\n').filter(Boolean);

/** As Docker reads .dockerignore: the last line that matches decides. */
function isSent(path: string): boolean {
  const parts = path.split('/');
  const parents = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  return lines('.dockerignore').reduce((sent, line) => {
    const pattern = globOf(line.replace(/^!/, ''));
    return parents.some((each) => pattern.test(each)) ? line.startsWith('!') : sent;
  }, true);
}

/** Of `*` within a name and `**` for any folders. */
function globOf(pattern: string): RegExp {
  const parts = pattern.split('**/').map((part) =>
    part
      .split('*')
      .map((text) => text.replace(/[.+?()[\]{}|^$\\]/g, '\\$&'))
      .join('[^/]*'),
  );
  return new RegExp(`^${parts.join('(?:.*/)?')}$`);
}

/** What the stage `build` copies from the project before it compiles, laid out as the Dockerfile says. */
function copyContext(folder: string): string[] {
  const [, stage = ''] = readProjectFile('Dockerfile').split(/^FROM .*\n/m);
  const copied: string[] = [];
  for (const [, sources = '', target = ''] of stage.matchAll(/^COPY (?!--)(.+) (\S+)$/gm)) {
    for (const source of sources.split(' ')) {
      for (const path of filesUnder('.', (each) => each === source || each.startsWith(`${source}/`))) {
        if (!isSent(path)) continue;
        const inside = path === source ? (path.split('/').at(-1) ?? '') : path.slice(source.length + 1);
        const to = join(folder, target, inside);
        mkdirSync(dirname(to), { recursive: true });
        cpSync(join(ROOT, path), to);
        copied.push(path);
      }
    }
  }
  return copied;
}

/** The installed packages; those of this project itself (links in the lock) come from the copy. */
function linkPackages(folder: string): void {
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const to = name === 'herald-schematics' ? '../schematics' : join(ROOT, 'node_modules', name);
    symlinkSync(to, join(folder, 'node_modules', name));
  }
}

describe('what the container image is built from', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-image-'));

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('suffices for the build', async () => {
    const copied = copyContext(folder);
    for (const source of ['src', 'migrations', 'console', 'clients/typescript']) {
      const wanted = filesUnder(source, (path) => !path.endsWith('.spec.ts'));
      expect(wanted.filter((path) => !copied.includes(path))).toEqual([]);
    }
    linkPackages(folder);
    // One file with its imports: that all of them compile is the business of the other checks.
    const narrow = { extends: './tsconfig.build.json', include: ['src/common/clock.ts'] };
    writeFileSync(join(folder, 'tsconfig.narrow.json'), JSON.stringify(narrow));
    // Not by their real paths, from which the CLI would find the project's own files again.
    const flags = ['--preserve-symlinks', '--preserve-symlinks-main'];
    const build = [join(folder, 'node_modules/@nestjs/cli/bin/nest.js'), 'build', '--path', 'tsconfig.narrow.json'];
    await run(process.execPath, [...flags, ...build], { cwd: folder });
    expect(existsSync(join(folder, 'dist/src/common/clock.js'))).toBe(true);
    await run(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', 'console'], { cwd: folder });
    expect(existsSync(join(folder, 'dist/console/index.html'))).toBe(true);
    await run(process.execPath, [join(folder, 'scripts/pack-client.mjs')], { cwd: folder });
    expect(existsSync(join(folder, 'dist/downloads/client.tgz'))).toBe(true);
  });
});
