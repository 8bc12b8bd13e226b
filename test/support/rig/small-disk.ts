import { execFile } from 'node:child_process';
import { chmodSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LeftOut } from './fault-result.js';
import { temporaryFolder } from './folder.js';
import type { Scope } from './scope.js';

const run = promisify(execFile);
const BALLAST = 'ballast';

/** A small disk in memory (tmpfs), which can be filled and emptied. */
export class SmallDisk {
  private constructor(readonly folder: string) {}

  /** @throws LeftOut where this process may not mount */
  static async mount(scope: Scope, purpose: string, mebibytes: number): Promise<SmallDisk> {
    const folder = temporaryFolder(scope, purpose);
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0755`, 'tmpfs', folder]);
    } catch {
      throw new LeftOut('a small disk cannot be mounted (mount -t tmpfs needs root)');
    }
    scope.defer(() => run('umount', ['--lazy', folder]).then(() => undefined));
    chmodSync(folder, 0o755);
    return new SmallDisk(folder);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }

  /** Takes all space but so much. */
  fill(leaveBytes: number): void {
    writeFileSync(join(this.folder, BALLAST), Buffer.alloc(Math.max(0, this.freeBytes - leaveBytes)));
  }

  /** Gives it back. */
  empty(): void {
    rmSync(join(this.folder, BALLAST), { force: true });
  }
}
