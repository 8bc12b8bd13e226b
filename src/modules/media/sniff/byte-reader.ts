import type { TemporaryFile } from '../../../infrastructure/storage/file-storage.js';

/** A file that can be read anywhere. */
export type ByteSource = Pick<TemporaryFile, 'sizeBytes' | 'read'>;

/** The file is not taken: `detected` names its type where that is known, `reason` is a clause for the caller. */
export class NotTakenError extends Error {
  constructor(
    readonly detected: string | null,
    readonly reason?: string,
  ) {
    super(reason ?? detected ?? 'of no known type');
    this.name = 'NotTakenError';
  }
}

/** The bytes break the rules of the format that they begin like, or end too early. */
export class BrokenFileError extends Error {
  override name = 'BrokenFileError';
}

/** @throws BrokenFileError where a rule of the format does not hold. */
export function demand(holds: boolean): asserts holds {
  if (!holds) throw new BrokenFileError();
}

const WINDOW_BYTES = 4_096;
/** More than a real file needs; a file of millions of empty pieces costs no more than this. */
const MAX_LOOKS = 50_000;

/** Reads a file by windows: many small looks cost few reads. */
export class ByteReader {
  private window: Buffer = Buffer.alloc(0);
  private windowAt = 0;
  private looks = 0;

  constructor(private readonly source: ByteSource) {}

  get sizeBytes(): number {
    return this.source.sizeBytes;
  }

  /** Up to `length` bytes from a position on. @throws BrokenFileError after MAX_LOOKS. */
  async look(position: number, length: number): Promise<Buffer> {
    demand(++this.looks <= MAX_LOOKS);
    const from = position - this.windowAt;
    if (from >= 0 && from + length <= this.window.length) return this.window.subarray(from, from + length);
    this.window = await this.source.read(position, Math.max(length, WINDOW_BYTES));
    this.windowAt = position;
    return this.window.subarray(0, length);
  }

  /** All of them. @throws BrokenFileError where the file ends before. */
  async take(position: number, length: number): Promise<Buffer> {
    const bytes = await this.look(position, length);
    demand(bytes.length === length);
    return bytes;
  }
}
