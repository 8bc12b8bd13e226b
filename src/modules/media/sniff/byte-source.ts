/** A file that can be looked into anywhere. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Up to `length` bytes from `position`; fewer at the end. */
  read(position: number, length: number): Promise<Buffer>;
}

/** What the bytes of a file turned out to be. */
export type Finding<F> =
  | { readonly format: F }
  /** Not taken: `detected` names the type where it is known, `reason` is a clause for the caller. */
  | { readonly format: null; readonly detected: string | null; readonly reason?: string };

/** Reads a file forwards in windows, so that many small looks cost few reads. */
export class Cursor {
  private window: Buffer = Buffer.alloc(0);
  private windowAt = 0;

  constructor(
    private readonly source: ByteSource,
    public position: number,
    private readonly windowBytes = 4_096,
  ) {}

  get left(): number {
    return this.source.sizeBytes - this.position;
  }

  /** The next bytes without taking them; null where fewer are left. `length` is at most the window's. */
  async peek(length: number): Promise<Buffer | null> {
    if (this.left < length) return null;
    const from = this.position - this.windowAt;
    if (from < 0 || from + length > this.window.length) {
      this.window = await this.source.read(this.position, Math.max(length, this.windowBytes));
      this.windowAt = this.position;
      if (this.window.length < length) return null;
      return this.window.subarray(0, length);
    }
    return this.window.subarray(from, from + length);
  }

  async take(length: number): Promise<Buffer | null> {
    const bytes = await this.peek(length);
    if (bytes !== null) this.position += length;
    return bytes;
  }
}
