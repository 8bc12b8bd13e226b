import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^journal-(\d{6,})\.log$/;

/** The journal's files, `journal-000001.log` and so on: only the newest is written to. */
export class SegmentFiles {
  private descriptor: number | null = null;
  private newest = 0;

  constructor(private readonly dataDir: string) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    this.newest = this.numbers().at(-1) ?? 0;
  }

  /** Oldest first. */
  numbers(): number[] {
    return readdirSync(this.dataDir)
      .map((name) => Number(NAME.exec(name)?.[1]))
      .filter((number) => !Number.isNaN(number))
      .sort((a, b) => a - b);
  }

  path(number: number): string {
    return join(this.dataDir, `journal-${String(number).padStart(6, '0')}.log`);
  }

  size(number: number): number {
    return statSync(this.path(number)).size;
  }

  /** Starts the next file with `head` in it, complete or not at all. Gives its number. */
  begin(head: string): number {
    this.close();
    const path = this.path(++this.newest);
    this.descriptor = openSync(`${path}.new`, 'w', 0o600);
    this.write(head);
    renameSync(`${path}.new`, path);
    return this.newest;
  }

  remove(number: number): void {
    rmSync(this.path(number), { force: true });
  }

  /** Hands the text to the operating system: it survives the process, not a power cut. Gives the bytes written. */
  write(text: string): number {
    if (this.descriptor === null) throw new Error('the journal is closed');
    const bytes = Buffer.from(text, 'utf8');
    for (let at = 0; at < bytes.length;) at += writeSync(this.descriptor, bytes, at);
    return bytes.length;
  }

  close(): void {
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = null;
  }
}
