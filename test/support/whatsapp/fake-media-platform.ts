import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LocalServer, sendJson } from '../local-server.js';

export interface TakenUpload {
  phoneNumberId: string;
  token: string;
  type: string;
  filename: string;
  bytes: Buffer;
  id: string;
}

export interface FakeFile {
  bytes: Buffer;
  mimeType: string;
  /** Said instead of the true one. */
  sha256?: string;
  fileSize?: number;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/**
 * The media endpoints of the platform, for faults that no proper one has: `before` sees each request first and answers
 * it, or returns false.
 */
export class FakeMediaPlatform {
  readonly uploads: TakenUpload[] = [];
  readonly deleted: string[] = [];
  /** `METHOD path` of everything that was asked. */
  readonly asked: string[] = [];
  /** Authorization headers as they came. */
  readonly tokens: (string | undefined)[] = [];
  readonly files = new Map<string, FakeFile>();
  before: Answer = () => false;
  private next = 1_000;

  private server!: LocalServer;

  static async start(): Promise<FakeMediaPlatform> {
    const platform = new FakeMediaPlatform();
    platform.server = await LocalServer.start((request, response) =>
      platform.serve(request, response).catch(() => response.destroy()),
    );
    return platform;
  }

  get url(): string {
    return this.server.url;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Adds a file that a customer sent; returns its id. */
  add(file: Partial<FakeFile> = {}): string {
    const id = String(this.next++);
    this.files.set(id, { bytes: Buffer.from(`file ${id}`), mimeType: 'image/jpeg', ...file });
    return id;
  }

  /** Answers by itself again, and forgets what was asked. */
  reset(): void {
    this.before = () => false;
    for (const list of [this.uploads, this.asked, this.deleted]) list.length = 0;
  }

  count(pattern: RegExp): number {
    return this.asked.filter((each) => pattern.test(each)).length;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    this.asked.push(`${request.method} ${url.pathname}`);
    this.tokens.push(request.headers.authorization);
    if (await this.before(request, response)) return;
    const upload = /^\/v26\.0\/([^/]+)\/media$/.exec(url.pathname)?.[1];
    if (request.method === 'POST' && upload !== undefined) return this.takeUpload(upload, request, response);
    const id = /([^/]+)$/.exec(url.pathname)?.[1] ?? '';
    const file = this.files.get(id);
    if (request.method === 'DELETE') {
      this.deleted.push(id);
      return sendJson(response, 200, { success: true });
    }
    if (file === undefined) return sendJson(response, 400, refusal(100, { error_subcode: 33 }));
    if (url.pathname.startsWith('/files/')) {
      response.writeHead(200, { 'content-type': file.mimeType, 'content-length': file.bytes.length }).end(file.bytes);
      return;
    }
    sendJson(response, 200, {
      messaging_product: 'whatsapp',
      url: `${this.url}/files/${id}`,
      mime_type: file.mimeType,
      sha256: file.sha256 ?? createHash('sha256').update(file.bytes).digest('hex'),
      file_size: file.fileSize ?? file.bytes.length,
      id,
    });
  }

  private async takeUpload(phoneNumberId: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': request.headers['content-type'] ?? '' },
    }).formData();
    const file = form.get('file') as File;
    const id = String(this.next++);
    const type = form.get('type');
    this.uploads.push({
      phoneNumberId,
      token: request.headers.authorization ?? '',
      type: typeof type === 'string' ? type : '',
      filename: file.name,
      bytes: Buffer.from(await file.arrayBuffer()),
      id,
    });
    sendJson(response, 200, { id });
  }
}

/** The platform's error envelope. */
export function refusal(code: number, more: Record<string, unknown> = {}): unknown {
  return { error: { message: `(#${code}) Refused`, type: 'OAuthException', code, fbtrace_id: 'Az8', ...more } };
}
