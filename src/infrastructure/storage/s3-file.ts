import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { buffer as bytesOf } from 'node:stream/consumers';
import type { CompletedPart } from '@aws-sdk/client-s3';
import { LRUCache } from 'lru-cache';
import { FileLengthError, type NewFile, StorageUnavailableError, type TemporaryFile } from './file-storage.js';
import type { ObjectBody, S3Bucket } from './s3-bucket.js';

/** The least that S3 takes as a part, but for the last. */
export const PART_BYTES = 5 * 1_024 * 1_024;
const FIRST_BUFFER_BYTES = 64 * 1_024;
/** What is looked at of a file that is in the store already comes in such pieces, of which a few are kept. */
const BLOCK_BYTES = 256 * 1_024;
const BLOCKS = 4;

/** Bytes of a file that `S3File` will hold in memory at most. */
export function heldBytes({ atLeastBytes = 0, atMostBytes = Infinity }: NewFile): number {
  if (atLeastBytes === atMostBytes) return 0;
  return Math.min(PART_BYTES, atLeastBytes < PART_BYTES ? atMostBytes : atMostBytes - atLeastBytes);
}

export interface S3FileOptions {
  bucket: S3Bucket;
  known: NewFile;
  timeoutMs: number;
  /** Called once, when it is over: nothing of it is in memory any more. */
  over: () => void;
  /** What could not be tidied up; the sweeps find it. */
  left: (error: unknown) => void;
}

/**
 * A file on its way into a bucket. S3 must be told a length before it takes bytes, so:
 *
 * - a file of known length goes straight through, in one request;
 * - of a file that has at least 5 MiB so many bytes as are certain go straight through as the first part;
 * - the rest, a smaller file, and one whose length was not said are gathered: up to 5 MiB, then that is a part.
 *
 * The object gets its final name at once: no row names it before `put` has returned, and `discard` removes it.
 */
export class S3File implements TemporaryFile {
  sizeBytes = 0;
  private readonly isExact: boolean;
  /** Bytes that go straight through. */
  private readonly straightBytes: number;
  private stream: OutgoingStream | null = null;
  private held = Buffer.alloc(0);
  private heldBytes = 0;
  private uploadId: string | null = null;
  private readonly parts: CompletedPart[] = [];
  /** The store was asked to make the object. */
  private mayExist = false;
  private isStored = false;
  private isOver = false;
  private readonly blocks = new LRUCache<number, Buffer>({ max: BLOCKS });

  constructor(
    readonly key: string,
    private readonly options: S3FileOptions,
  ) {
    const { atLeastBytes = 0, atMostBytes } = options.known;
    this.isExact = atLeastBytes > 0 && atLeastBytes === atMostBytes;
    this.straightBytes = this.isExact || atLeastBytes >= PART_BYTES ? atLeastBytes : 0;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.isStored || this.isOver) throw new TypeError('the file is finished');
    const straight = Math.min(bytes.length, Math.max(0, this.straightBytes - this.sizeBytes));
    if (straight > 0) await this.passOn(bytes.subarray(0, straight));
    // More than was said of an exact length is only counted: who put it in compares.
    if (!this.isExact) await this.gather(bytes.subarray(straight));
    this.sizeBytes += bytes.length;
  }

  async read(position: number, length: number): Promise<Buffer> {
    const end = Math.min(this.sizeBytes, position + length);
    if (position >= end) return Buffer.alloc(0);
    if (!this.isStored && this.uploadId === null && this.stream === null) return this.held.subarray(position, end);
    await this.finish();
    const pieces: Buffer[] = [];
    for (let at = position; at < end;) {
      const from = at - (at % BLOCK_BYTES);
      const piece = (await this.blockAt(from)).subarray(at - from, end - from);
      if (piece.length === 0) throw new StorageUnavailableError(`${this.options.bucket.name}: a range came too short`);
      pieces.push(piece);
      at += piece.length;
    }
    return pieces.length === 1 ? (pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(pieces);
  }

  async put(): Promise<void> {
    if (this.isOver) throw new TypeError('the file was discarded');
    await this.finish();
    this.end();
  }

  async discard(): Promise<void> {
    if (this.isOver) return;
    const { bucket, left } = this.options;
    this.end();
    await this.stream?.abort();
    if (this.uploadId !== null && !this.isStored) await bucket.abortParts(this.key, this.uploadId).catch(left);
    // Also where the answer was an error: it may have come after the bytes were stored.
    if (this.mayExist) await bucket.remove(this.key).catch(left);
  }

  private end(): void {
    this.isOver = true;
    this.held = Buffer.alloc(0);
    this.blocks.clear();
    this.options.over();
  }

  private async passOn(bytes: Uint8Array): Promise<void> {
    this.stream ??= await this.begin();
    await this.stream.write(bytes);
    if (this.stream.leftBytes > 0) return;
    const part = await this.stream.end();
    if (part !== null) this.parts.push(part);
  }

  private async begin(): Promise<OutgoingStream> {
    const { bucket, timeoutMs } = this.options;
    const uploadId = this.isExact ? null : await bucket.beginParts(this.key);
    this.uploadId = uploadId;
    this.mayExist = this.isExact;
    const send = (body: ObjectBody) =>
      uploadId === null ? bucket.put(this.key, body).then(() => null) : bucket.putPart(this.key, uploadId, 1, body);
    return new OutgoingStream(send, this.straightBytes, timeoutMs);
  }

  private async gather(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      if (this.heldBytes === PART_BYTES) await this.sendPart();
      const count = Math.min(bytes.length - at, PART_BYTES - this.heldBytes);
      this.makeRoom(this.heldBytes + count);
      this.held.set(bytes.subarray(at, at + count), this.heldBytes);
      this.heldBytes += count;
      at += count;
    }
  }

  private makeRoom(neededBytes: number): void {
    if (neededBytes <= this.held.length) return;
    const room = Math.min(PART_BYTES, Math.max(FIRST_BUFFER_BYTES, neededBytes, this.held.length * 2));
    const larger = Buffer.allocUnsafeSlow(room);
    larger.set(this.held.subarray(0, this.heldBytes));
    this.held = larger;
  }

  private async sendPart(): Promise<void> {
    const { bucket } = this.options;
    this.uploadId ??= await bucket.beginParts(this.key);
    const bytes = this.held.subarray(0, this.heldBytes);
    this.parts.push(await bucket.putPart(this.key, this.uploadId, this.parts.length + 1, bytes));
    this.heldBytes = 0;
  }

  private async finish(): Promise<void> {
    if (this.isStored) return;
    const { bucket } = this.options;
    const isOfAnotherLength = this.isExact && this.sizeBytes !== this.straightBytes;
    if (isOfAnotherLength || this.sizeBytes < this.straightBytes) {
      throw new FileLengthError(this.straightBytes, this.sizeBytes);
    }
    if (!this.isExact && this.uploadId === null) {
      this.mayExist = true;
      await bucket.put(this.key, this.held.subarray(0, this.heldBytes));
    } else if (this.uploadId !== null) {
      if (this.heldBytes > 0) await this.sendPart();
      this.mayExist = true;
      await bucket.endParts(this.key, this.uploadId, this.parts, this.sizeBytes);
    }
    this.isStored = true;
  }

  private async blockAt(from: number): Promise<Buffer> {
    const known = this.blocks.get(from);
    if (known !== undefined) return known;
    const { bucket, timeoutMs } = this.options;
    const end = Math.min(this.sizeBytes, from + BLOCK_BYTES) - 1;
    const body = await bucket.open(this.key, { start: from, end });
    const timer = setTimeout(() => body.destroy(new Error('no answer came in time')), timeoutMs);
    const block = await bytesOf(body)
      .catch((error: unknown) => {
        throw new StorageUnavailableError(`${bucket.name}: ${String(error)}`, { cause: error });
      })
      .finally(() => clearTimeout(timer));
    this.blocks.set(from, block);
    return block;
  }
}

/** A request whose body comes in pieces; its length is said beforehand. It can't be sent a second time. */
class OutgoingStream {
  leftBytes: number;
  private readonly body = new PassThrough();
  private readonly controller = new AbortController();
  /** Aborted when the body takes nothing more. */
  private readonly closed = new AbortController();
  private readonly answer: Promise<CompletedPart | null>;
  private fault: Error | null = null;

  constructor(
    send: (body: ObjectBody) => Promise<CompletedPart | null>,
    sizeBytes: number,
    private readonly timeoutMs: number,
  ) {
    this.leftBytes = sizeBytes;
    // What breaks off is said by the answer.
    this.body.on('error', () => undefined);
    // It may be closed without an error, and then no `drain` comes.
    this.body.on('close', () => {
      const cause = this.body.errored;
      if (!this.body.writableFinished)
        this.fault ??= new StorageUnavailableError('the bucket took no more bytes', { cause });
      this.closed.abort();
    });
    this.answer = send({ stream: this.body, sizeBytes, signal: this.controller.signal });
    this.answer.catch((error: unknown) => {
      this.fault ??= error instanceof Error ? error : new Error(String(error));
      // Ends the wait for room.
      this.body.destroy(this.fault);
    });
  }

  /** Only the store's time counts: who brings the bytes may pause. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.fault !== null) throw this.fault;
    this.leftBytes -= bytes.length;
    if (this.body.write(Buffer.from(bytes))) return;
    await this.inTime(once(this.body, 'drain', { signal: this.closed.signal }));
  }

  async end(): Promise<CompletedPart | null> {
    this.body.end();
    return this.inTime(this.answer);
  }

  async abort(): Promise<void> {
    this.controller.abort();
    this.body.destroy(new Error('discarded'));
    await this.answer.catch(() => undefined);
  }

  private async inTime<T>(work: Promise<T>): Promise<T> {
    const late = new StorageUnavailableError(`the bucket took no bytes for ${this.timeoutMs} ms`);
    const timer = setTimeout(() => {
      this.fault ??= late;
      this.controller.abort();
      this.body.destroy(late);
    }, this.timeoutMs);
    try {
      return await work;
    } catch (error) {
      throw this.fault ?? error;
    } finally {
      clearTimeout(timer);
    }
  }
}
