import { execFile } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from './folder.js';
import { type Program, programIn } from './next-release.js';
import { ROOT } from './paths.js';
import type { Scope } from './scope.js';

const run = promisify(execFile);

/**
 * Builds the newest release before this commit, from its tag (`v0.2.0`), in a work tree of its own.
 *
 * @returns null where there is no such tag, or no git
 * @throws Error where it does not build
 */
export async function buildPreviousRelease(scope: Scope): Promise<Program | null> {
  const tag = await previousTag().catch(() => null);
  if (tag === null) return null;
  const folder = join(temporaryFolder(scope, 'previous-release'), tag);
  await git('worktree', 'add', '--detach', folder, tag);
  scope.defer(async () => void (await git('worktree', 'remove', '--force', folder)));
  const lock = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8').replace(VERSION, '');
  if (existsSync(join(ROOT, 'node_modules')) && lock(folder) === lock(ROOT)) {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  } else {
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, maxBuffer: 1 << 26 });
  }
  await run(process.execPath, [join(folder, 'scripts/build-if-stale.mjs')], { cwd: folder, maxBuffer: 1 << 26 });
  return programIn(folder, tag);
}

const VERSION = /"name": "herald",\s+"version": "[^"]*"/g;

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: ROOT })).stdout.trim();
}

async function previousTag(): Promise<string | null> {
  const tags = (await git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname')).split('\n');
  const head = await git('rev-parse', 'HEAD');
  for (const tag of tags) {
    // Since 0.2.0 a database of one release serves the next.
    if (!/^v\d+\.\d+\.\d+$/.test(tag) || /^v0\.[01]\./.test(tag)) continue;
    if ((await git('rev-parse', `${tag}^{commit}`)) !== head) return tag;
  }
  return null;
}
