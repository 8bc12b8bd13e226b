import { chown, copyFile, type FileHandle, open, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';

const LIMIT_BYTES = 8 * 1_048_576;
const LOOK_EVERY_MS = 60_000;

/** The server's log file, and one before it (`.1`), each of 8 MB at the most, give or take a minute's writing. */
export class ServerLog {
  private timer: NodeJS.Timeout | undefined;

  constructor(readonly path: string) {}

  /** Opens it for appending; the server writes to it itself, also when Herald is gone. */
  async open(): Promise<FileHandle> {
    const handle = await open(this.path, 'a', 0o600);
    if (process.getuid?.() === 0) {
      // Root running in someone's folder must not leave a log there that its owner cannot continue.
      const { uid, gid } = await stat(dirname(this.path));
      await chown(this.path, uid, gid);
    }
    return handle;
  }

  async size(): Promise<number> {
    return (await stat(this.path)).size;
  }

  /** What was written from that size on, 64 kB at the most. */
  async since(mark: number): Promise<string> {
    const handle = await open(this.path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(65_536), 0, 65_536, mark);
      return buffer.subarray(0, bytesRead).toString('utf8');
    } finally {
      await handle.close();
    }
  }

  /** Keeps it short from now on, without holding the process. */
  keepShort(onError: (error: unknown) => void): void {
    this.timer = setInterval(() => void this.shorten().catch(onError), LOOK_EVERY_MS);
    this.timer.unref();
  }

  /** Where it is over the limit, puts it aside and begins anew. The server appends, so it goes on at the new end. */
  async shorten(limitBytes: number = LIMIT_BYTES): Promise<void> {
    const size = await this.size().catch(() => 0);
    if (size <= limitBytes) return;
    await copyFile(this.path, `${this.path}.1`);
    await truncate(this.path);
  }

  close(): void {
    clearInterval(this.timer);
  }
}
