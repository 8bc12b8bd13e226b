import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Makes a folder and those above it that are missing. Node's own recursive mkdir never ends where a file system, such as
 * /proc, refuses a new folder as one that does not exist.
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
      // Another process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Makes the folder where it is missing, and writes into it. @throws Error of the operating system */
export function probeFolder(folder: string): void {
  makeFolder(folder, 0o700);
  const probe = join(folder, `.probe-${randomUUID()}`);
  try {
    writeFileSync(probe, 'x', { mode: 0o600 });
  } finally {
    rmSync(probe, { force: true });
  }
}
