import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Makes a folder and its missing parents. Node's recursive mkdir never returns on a file system, such as /proc, that
 * answers ENOENT for a new folder.
 *
 * @throws Error of the operating system
 */
export function makeFolder(folder: string, mode?: number): void {
  const missing: string[] = [];
  for (let each = resolve(folder); !existsSync(each); each = dirname(each)) missing.unshift(each);
  for (const each of missing) {
    try {
      mkdirSync(each, { mode });
    } catch (error) {
      // Another process made it first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Makes the folder if it is missing, and tests that it can be written. */
export function probeFolder(folder: string): void {
  makeFolder(folder, 0o700);
  const probe = join(folder, `.probe-${randomUUID()}`);
  try {
    writeFileSync(probe, 'x', { mode: 0o600 });
  } finally {
    rmSync(probe, { force: true });
  }
}
