import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The PATH for commands of the documents in `folder`, where `npx herald` starts at once: npm's own start takes six times
 * the processor time of the command.
 */
export function pathWithNpx(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const script =
    '#!/bin/sh\n[ "$1" = herald ] || exit 127\nshift\nexec node "$(dirname "$0")/../scripts/herald.mjs" "$@"\n';
  writeFileSync(join(bin, 'npx'), script, { mode: 0o755 });
  return `${bin}:${process.env.PATH}`;
}

/** What the real npx prints; the commands of the documents run without it. */
export function realNpx(folder: string, ...args: string[]): string {
  return spawnSync('npx', ['herald', ...args], { cwd: folder, encoding: 'utf8' }).stdout;
}
