import { createHash } from 'node:crypto';
import type { TemporaryFile } from '../../../infrastructure/storage/file-storage.js';
import { mediaErrors } from '../media.errors.js';
import type { MediaType } from '../media.types.js';
import { NotTakenError } from '../sniff/byte-reader.js';
import { type Format, MAX_UPLOAD_BYTES, mimeTypesOf } from '../sniff/formats.js';
import { type Family, firstLook, HEAD_BYTES, recognise, TEXT, TextScan } from '../sniff/recognise.js';

export interface ReceivedFile {
  format: Format;
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
}

/**
 * Takes a file piece by piece into a temporary one, and looks at it on the way: what can't be taken is refused at the
 * first byte that shows it. Keeps 4 KiB of it in memory.
 */
export class FileReception {
  private readonly hash = createHash('sha256');
  private readonly text = new TextScan();
  private head: Buffer[] = [];
  private looked: Family | null = null;

  /** @param wantedType the caller's `type` as far as it is known by now */
  constructor(
    private readonly file: TemporaryFile,
    private readonly wantedType: () => MediaType | null,
  ) {}

  /** @throws MEDIA_TOO_LARGE, MEDIA_TYPE_NOT_SUPPORTED (400), StorageUnavailableError. */
  async push(chunk: Buffer): Promise<void> {
    const sizeBytes = this.file.sizeBytes + chunk.length;
    if (this.looked === null) {
      this.head.push(chunk);
      if (sizeBytes >= HEAD_BYTES) await this.look();
    }
    const limitBytes = this.looked?.limitBytes ?? MAX_UPLOAD_BYTES;
    if (sizeBytes > limitBytes) throw mediaErrors.MEDIA_TOO_LARGE({ limitBytes });
    if ((this.looked === null || this.looked === TEXT) && !this.text.push(chunk) && this.looked !== null) {
      throw this.refusal(null, NO_TEXT);
    }
    this.hash.update(chunk);
    await this.file.write(chunk);
  }

  /**
   * The verdict on the whole file.
   *
   * @throws MEDIA_TYPE_NOT_SUPPORTED, MEDIA_TOO_LARGE (400).
   */
  async finish(): Promise<ReceivedFile> {
    const family = this.looked ?? (await this.look());
    if (family === TEXT && !this.text.finish()) throw this.refusal(null, NO_TEXT);
    const format = await recognise(family, this.file).catch((error: unknown) => {
      throw error instanceof NotTakenError ? this.refusal(error.detected, error.reason) : error;
    });
    if (this.file.sizeBytes > format.limitBytes) throw mediaErrors.MEDIA_TOO_LARGE({ limitBytes: format.limitBytes });
    return { format, sizeBytes: this.file.sizeBytes, sha256: this.hash.digest('hex') };
  }

  private async look(): Promise<Family> {
    const head = Buffer.concat(this.head).subarray(0, HEAD_BYTES);
    const { family, name } = await firstLook(head);
    this.head = [];
    if (family === null) throw this.refusal(name);
    const wanted = this.wantedType();
    if (wanted !== null && !family.types.includes(wanted)) {
      const detected = family === TEXT && !new TextScan().push(head) ? null : name;
      throw this.refusal(detected, `By its bytes the file is no ${wanted}`);
    }
    this.looked = family;
    return family;
  }

  private refusal(detectedType: string | null, reason?: string): Error {
    const allowedTypes = mimeTypesOf(this.wantedType());
    return mediaErrors.MEDIA_TYPE_NOT_SUPPORTED({ detectedType, allowedTypes, reason });
  }
}

const NO_TEXT = 'The file is of no known type, and no text in UTF-8 either';
