import { createHash } from 'node:crypto';
import { invalidParam, unknownObject } from '../graph-error.js';
import { type Call, GraphNode, letRunOff, type Route } from '../http/call.js';
import { SIMULATED_APP } from '../numbers/numbers.js';
import type { Platform } from '../platform.js';

/** What can be uploaded for templates and profiles. */
const FILE_TYPES = ['application/pdf', 'image/jpeg', 'image/jpg', 'image/png', 'video/mp4'];
const MAX_BYTES = 100 * 1024 * 1024;
/** Limit; beyond it the oldest sessions are dropped. */
const MAX_SESSIONS = 1_000;

/** One resumable upload. Its bytes are counted and hashed, but not stored, because no call returns them. */
class UploadSession {
  private readonly hash = createHash('sha256');
  private isBusy = false;
  private offset = 0;

  constructor(
    readonly id: string,
    readonly signature: string,
    private readonly fileLength: number,
    private readonly fileType: string,
  ) {}

  /** The signature is part of the id, although it looks like a query. */
  get name(): string {
    return `${this.id}?sig=${this.signature}`;
  }

  get progress(): object {
    return { id: this.name, file_offset: this.offset };
  }

  /**
   * Accepts the bytes from an offset on; returns the handle once all have arrived, null before.
   *
   * @throws GraphError 100 for a wrong offset, or too many bytes
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
 * The resumable upload, which returns the handles for templates' media headers and for profile pictures. Sessions end
 * with the process.
 */
export function uploadRoutes({ ids }: Platform): Route[] {
  const sessions = new Map<string, UploadSession>();
  const app = new GraphNode('app', (id) => (id === SIMULATED_APP.id || id === 'app' ? SIMULATED_APP : undefined));
  const upload = new GraphNode('upload_session', (id) => sessions.get(id));
  const begin = (_app: object, { param }: Call) => {
    const number = ids.newObjectId();
    const id = `upload:${Buffer.from(`1:attachment:${number}`).toString('base64url')}`;
    const signature = createHash('sha256').update(`${number} ${ids.traceId()}`).digest('base64url').slice(0, 24);
    const length = Number(param.get('file_length').value ?? Number.NaN);
    param.required('file_type');
    if (!Number.isInteger(length) || length < 1 || length > MAX_BYTES) {
      throw invalidParam(`Param file_length must be a number between 1 and ${MAX_BYTES}.`);
    }
    const session = new UploadSession(id, signature, length, param.oneOf('file_type', FILE_TYPES));
    sessions.set(id, session);
    if (sessions.size > MAX_SESSIONS) sessions.delete(sessions.keys().next().value ?? '');
    return { id: session.name };
  };
  const checkSignature = ({ id, signature }: UploadSession, call: Call) => {
    if ((call.query('sig') ?? signature) !== signature) throw unknownObject(call.request.method, id);
  };
  const proceed = async (session: UploadSession, call: Call) => {
    const { request } = call;
    try {
      checkSignature(session, call);
      const bytes = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      const handle = await session.take(Number(request.headers.file_offset ?? 0), bytes);
      return handle === null ? session.progress : { h: handle };
    } catch (error) {
      await letRunOff(request);
      throw error;
    }
  };
  return [
    app.on('get', '', (found) => found),
    app.on('post', '/uploads', begin),
    upload.on('post', '', proceed, 'stream'),
    upload.on('get', '', (session, call) => {
      checkSignature(session, call);
      return session.progress;
    }),
  ];
}
