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

/** Reads a file from `position` on, by windows: many small looks cost few reads. */
export class ByteReader {
  position = 0;
  private window: Buffer = Buffer.alloc(0);
  private windowAt = 0;

  constructor(private readonly source: ByteSource) {}

  get sizeBytes(): number {
    return this.source.sizeBytes;
  }

  /** Bytes between the position and the end. */
  get left(): number {
    return this.source.sizeBytes - this.position;
  }

  /** Up to `length` of the next bytes; the position stays. */
  async look(length: number): Promise<Buffer> {
    const from = this.position - this.windowAt;
    if (from < 0 || from + length > this.window.length) {
      this.window = await this.source.read(this.position, Math.max(length, WINDOW_BYTES));
      this.windowAt = this.position;
      return this.window.subarray(0, length);
    }
    return this.window.subarray(from, from + length);
  }

  /** The next `length` bytes; the position stays. @throws BrokenFileError where fewer are left. */
  async peek(length: number): Promise<Buffer> {
    const bytes = await this.look(length);
    demand(bytes.length === length);
    return bytes;
  }

  /** As `peek`, and moves on behind them. */
  async take(length: number): Promise<Buffer> {
    const bytes = await this.peek(length);
    this.position += length;
    return bytes;
  }

  /** Moves to a position. */
  at(position: number): this {
    this.position = position;
    return this;
  }
}
