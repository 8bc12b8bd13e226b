import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { Agent, createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { temporaryFolder } from './folder.js';
import { endProcess } from './programs.js';
import type { Scope } from './scope.js';

/**
 * Two of one program on one folder. The first checks every signature. Where the bucket is in the host name it computes a
 * wrong one itself, so those go to the second, which checks none.
 */
const PROGRAM = `
  const S3rver = require('@20minutes/s3rver');
  const [directory, ...buckets] = process.argv.slice(1);
  const start = (allowMismatchedSignatures) => new S3rver({
    address: '127.0.0.1', port: 0, silent: true, directory, allowMismatchedSignatures, serviceEndpoint: 'localhost',
    configureBuckets: buckets.map((name) => ({ name })),
  }).run();
  Promise.all([start(false), start(true)]).then((at) => console.log(at.map(({ port }) => port).join(' ')));
`;

/** What is answered instead; null: what the server says. `late`: after the body was taken. */
export type S3Fault = { status: number; code: string; late?: boolean } | null;

export interface S3Request {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
}

/**
 * A store that speaks S3: `@20minutes/s3rver` in a process of its own, which checks signatures and bytes, behind a front
 * in this process. The front answers with
 * faults on command, and counts.
 */
export class S3Server {
  readonly bucket = 'media';
  readonly accessKeyId = 'S3RVER';
  readonly secretAccessKey = 'S3RVER';
  /** Asked before each request. */
  fault: (request: S3Request) => S3Fault = () => null;
  readonly requests: S3Request[] = [];
  private received = 0;
  private readonly agent = new Agent({ keepAlive: true });

  private constructor(
    /** Where it keeps objects. */
    readonly folder: string,
    private readonly strictPort: number,
    private readonly mildPort: number,
    private readonly front: Server,
  ) {}

  static async start(scope: Scope): Promise<S3Server> {
    const folder = temporaryFolder(scope, 'herald-s3');
    // Its page tokens are made with DES, which OpenSSL 3 has in the legacy provider only.
    const args = ['--openssl-legacy-provider', '-e', PROGRAM, folder, 'media'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    scope.defer(() => endProcess(child, 'SIGKILL'));
    const [line] = (await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error('the S3 server did not start'))),
    ])) as [Buffer];
    const [strict = 0, mild = 0] = String(line).trim().split(' ').map(Number);
    const front = createServer();
    const server = new S3Server(folder, strict, mild, front);
    front.on('request', (req: IncomingMessage, res: ServerResponse) => {
      server.serve(req, res).catch(() => res.destroy());
    });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    scope.defer(async () => {
      server.agent.destroy();
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    });
    return server;
  }

  get port(): number {
    return (this.front.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Settings of a Herald that keeps its files here. */
  settings(prefix = ''): Record<string, string> {
    return {
      MEDIA_STORAGE: 's3',
      MEDIA_S3_ENDPOINT: this.url,
      MEDIA_S3_BUCKET: this.bucket,
      MEDIA_S3_PREFIX: prefix,
      MEDIA_S3_ACCESS_KEY_ID: this.accessKeyId,
      MEDIA_S3_SECRET_ACCESS_KEY: this.secretAccessKey,
    };
  }

  /** Names and lengths of all objects. */
  objects(prefix = ''): { name: string; sizeBytes: number }[] {
    return s3Objects(this.folder, this.bucket, prefix);
  }

  private async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(req.url ?? '/', 'http://host');
    const asked = { method: req.method ?? '', path: decodeURIComponent(pathname), query, headers: req.headers };
    this.requests.push(asked);
    const fault = this.fault(asked);
    if (fault !== null) {
      if (fault.late === true) await drained(req);
      return refuse(res, fault);
    }
    await this.forward(req, res);
  }

  /** Of a body that breaks off nothing may be there, as at S3: the program would keep a part of it. */
  private async forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const whole = join(this.folder, `.incoming-${++this.received}`);
    await pipeline(req, createWriteStream(whole));
    try {
      await this.pass(req, createReadStream(whole), res);
    } finally {
      rmSync(whole, { force: true });
    }
  }

  private async pass(req: IncomingMessage, body: Readable, res: ServerResponse): Promise<void> {
    const isVirtualHost = (req.headers.host ?? '').includes('.s3.');
    const port = isVirtualHost ? this.mildPort : this.strictPort;
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method: req.method,
      path: req.url,
      headers: req.headers,
      agent: this.agent,
    });
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    const [[answer]] = await Promise.all([answered, pipeline(body, outgoing)]);
    res.writeHead(answer.statusCode ?? 500, answer.headers);
    await pipeline(answer, res);
  }
}

const OBJECT = '._S3rver_object';
/** Again where a folder went while it was read. */
function pathsUnder(root: string): string[] {
  for (;;) {
    try {
      return readdirSync(root, { recursive: true, encoding: 'utf8' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(root)) throw error;
    }
  }
}

/** Objects in the folder of the server. */
export function s3Objects(folder: string, bucket: string, prefix: string): { name: string; sizeBytes: number }[] {
  const root = join(folder, bucket);
  return pathsUnder(root)
    .filter((path) => path.endsWith(OBJECT) && path.startsWith(prefix))
    .flatMap((path) => {
      // Another caller may remove it meanwhile.
      const stats = statSync(join(root, path), { throwIfNoEntry: false });
      return stats === undefined ? [] : [{ name: path.slice(0, -OBJECT.length), sizeBytes: stats.size }];
    });
}

async function drained(req: IncomingMessage): Promise<void> {
  for await (const chunk of req) void chunk;
}

function refuse(res: ServerResponse, { status, code }: { status: number; code: string }): void {
  answerXml(res, status, `<Error><Code>${code}</Code><Message>as the test wants it</Message></Error>`);
}

function answerXml(res: ServerResponse, status: number, body: string): void {
  res.writeHead(status, { 'content-type': 'application/xml', connection: 'close' });
  res.end(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`);
}
