import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { invalidParam, unknownObject } from '../graph-error.js';
import { parametersOf } from '../http/parameters.js';
import { letRunOff, pathId, queryParam, type Route } from '../http/route.js';
import type { IdSource } from '../ids.js';
import { SIMULATED_APP } from '../numbers/health.js';

/** What can be uploaded for templates and profiles. */
const FILE_TYPES = ['application/pdf', 'image/jpeg', 'image/jpg', 'image/png', 'video/mp4'];
const LARGEST_BYTES = 100 * 1024 * 1024;
/** The oldest sessions are forgotten beyond it. */
const MOST_SESSIONS = 1_000;

/** One resumable upload. Its bytes are counted and hashed, not kept: no call returns them. */
class UploadSession {
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

  /** The signature is part of the id, although it looks like a query. */
  get name(): string {
    return `${this.id}?sig=${this.signature}`;
  }

  /**
   * Takes the bytes from an offset on; gives the handle once all are there, null before.
   * @throws GraphError 100 where the offset is not the one that is due, or there are too many bytes
   */
  async take(offset: number, bytes: AsyncIterable<Buffer>): Promise<string | null> {
    if (offset !== this.offset) {
      throw invalidParam(`The file_offset is ${offset}, but ${this.offset} bytes are there.`);
    }
    if (this.isBusy) throw invalidParam('Another request is uploading to this session.');
    this.isBusy = true;
    try {
      for await (const chunk of bytes) {
        if (this.offset + chunk.length > this.fileLength) throw invalidParam('More bytes came than file_length says.');
        this.hash.update(chunk);
        this.offset += chunk.length;
      }
    } finally {
      this.isBusy = false;
    }
    if (this.offset < this.fileLength) return null;
    const type = Buffer.from(this.fileType).toString('base64');
    return `4::${type}:${this.hash.copy().digest('base64url')}:e:${Math.floor(Date.now() / 1000)}:${this.id.slice(7)}`;
  }
}

/**
 * The resumable upload, which gives the handles for media headers of templates and for profile pictures. Sessions don't
 * outlive the process.
 */
export class Uploads {
  private readonly sessions = new Map<string, UploadSession>();

  constructor(private readonly ids: IdSource) {}

  has(id: string): boolean {
    return this.sessions.has(id);
  }

  routes(): Route[] {
    const progress = ({ name, offset }: UploadSession) => ({ id: name, file_offset: offset });
    return [
      ['GET', '/:app', () => SIMULATED_APP],
      ['POST', '/:app/uploads', (request) => this.begin(request)],
      ['POST', '/:upload_session', (request) => this.proceed(request), 'stream'],
      ['GET', '/:upload_session', (request) => progress(this.sessionOf(request))],
    ];
  }

  private begin(request: Request): object {
    const { file_type: type, file_length: length } = parametersOf(request);
    const number = this.ids.newObjectId();
    const id = `upload:${Buffer.from(`1:attachment:${number}`).toString('base64url')}`;
    const signature = createHash('sha256').update(`${number} ${this.ids.traceId()}`).digest('base64url').slice(0, 24);
    if (typeof type !== 'string') throw invalidParam('The parameter file_type is required.');
    const session = new UploadSession(id, signature, Number(length ?? Number.NaN), type);
    this.sessions.set(id, session);
    if (this.sessions.size > MOST_SESSIONS) this.sessions.delete(this.sessions.keys().next().value ?? '');
    return { id: session.name };
  }

  private async proceed(request: Request): Promise<object> {
    try {
      const session = this.sessionOf(request);
      const bytes = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      const handle = await session.take(Number(request.headers.file_offset ?? 0), bytes);
      return handle === null ? { id: session.name, file_offset: session.offset } : { h: handle };
    } catch (error) {
      await letRunOff(request);
      throw error;
    }
  }

  private sessionOf(request: Request): UploadSession {
    const id = pathId(request, 'upload_session');
    const session = this.sessions.get(id);
    const signature = queryParam(request, 'sig');
    if (session !== undefined && (signature === null || signature === session.signature)) return session;
    throw unknownObject(request.method, id);
  }
}
