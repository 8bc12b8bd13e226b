import { createHash } from 'node:crypto';
import { GraphError } from '../graph-error.js';
import { invalidParam } from '../messages/checks.js';

/** What can be uploaded for templates and profiles. */
const FILE_TYPES = ['application/pdf', 'image/jpeg', 'image/jpg', 'image/png', 'video/mp4'];
const LARGEST_BYTES = 100 * 1024 * 1024;

/** One resumable upload. Its bytes are counted and hashed, not kept: nobody can ask for them again. */
export class UploadSession {
  private readonly hash = createHash('sha256');
  private isBusy = false;
  offset = 0;

  /** @throws GraphError 100 for a file that can't be uploaded */
  constructor(
    readonly id: string,
    readonly signature: string,
    readonly fileLength: number,
    readonly fileType: string,
  ) {
    if (!Number.isInteger(fileLength) || fileLength < 1 || fileLength > LARGEST_BYTES) {
      throw invalidParam(`Param file_length must be a number between 1 and ${LARGEST_BYTES}.`);
    }
    if (!FILE_TYPES.includes(fileType)) {
      throw invalidParam(`Param file_type must be one of {${FILE_TYPES.join(', ')}}.`);
    }
  }

  /**
   * Takes the bytes from an offset on; gives the handle once all are there, null before.
   * @throws GraphError 100 where the offset is not the one that is due, or there are too many bytes
   */
  async take(offset: number, bytes: AsyncIterable<Buffer>): Promise<string | null> {
    if (offset !== this.offset) {
      throw new GraphError(100, {
        message: `(#100) The file_offset is ${offset}, but ${this.offset} bytes are there.`,
      });
    }
    if (this.isBusy) throw new GraphError(100, { message: '(#100) Another request is uploading to this session.' });
    this.isBusy = true;
    try {
      for await (const chunk of bytes) {
        if (this.offset + chunk.length > this.fileLength) {
          throw invalidParam('More bytes came than file_length says.');
        }
        this.hash.update(chunk);
        this.offset += chunk.length;
      }
    } finally {
      this.isBusy = false;
    }
    return this.offset === this.fileLength ? this.handle() : null;
  }

  private handle(): string {
    const type = Buffer.from(this.fileType).toString('base64');
    return `4::${type}:${this.hash.copy().digest('base64url')}:e:${Math.floor(Date.now() / 1000)}:${this.id.slice(7)}`;
  }
}
