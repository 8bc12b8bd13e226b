import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Server } from '../support/rig/s3.js';
import { Scope } from '../support/rig/scope.js';
import { filesOf, uploaded } from '../media/fixture.js';
import { pdf } from '../media/samples.js';
import { runHerald } from '../support/herald-process.js';
import { ROOT } from '../support/project-files.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A PDF like no other. */
function distinct(sizeBytes: number): Buffer {
  const bytes = pdf(sizeBytes);
  randomBytes(24).copy(bytes, 1_000);
  return bytes;
}

interface Moved {
  copied: number;
  present: number;
  missing: number;
  damaged: number;
  examples: string[];
}

describe('herald media move', () => {
  const scope = new Scope();
  let server: S3Server;
  let test: TestApp;
  let both: TestApp;
  let sender: TestSender;
  let env: Record<string, string>;
  const files = new Map<string, Buffer>();

  beforeAll(async () => {
    server = await S3Server.start(scope);
    test = await startTestApp({ roles: ['api'] });
    env = {
      DATABASE_URL: test.databaseUrl,
      DATA_DIR: test.dataDir,
      ...server.settings('files'),
      MEDIA_STORAGE: 'folder',
    };
    const settings = { ...server.settings('files'), MEDIA_STORAGE: 's3,folder' };
    both = await startTestApp({ shareWith: test, roles: ['api'], env: settings });
    sender = await test.sender();
    for (let n = 0; n < 24; n++) {
      const bytes = distinct(n === 0 ? 12_000_000 : 200_000 + n);
      const { id } = await uploaded(test, sender, { file: bytes });
      files.set(id as string, bytes);
    }
  });

  beforeEach(() => {
    server.fault = () => null;
  });

  afterAll(async () => {
    await both?.stop();
    await test?.stop();
    await scope.close();
  });

  async function move(...args: string[]): Promise<Moved & { code: number | null }> {
    const { code, stdout, stderr } = await runHerald(['media', 'move', '--json', ...args], env);
    if (stdout === '') throw new Error(stderr);
    return { code, ...(JSON.parse(stdout) as Moved) };
  }

  async function keyOf(id: string): Promise<string> {
    const [row] = await test.database.query<{ key: string }>(
      'select storage_key as key from media_object where id = $1',
      [id],
    );
    return row?.key ?? '';
  }

  const objectOf = (key: string): string =>
    join(server.folder, server.bucket, 'files', key.slice(-2), key.slice(-4, -2), `${key}._S3rver_object`);
  const fileOf = (key: string): string => join(test.dataDir, 'media', key.slice(-2), key.slice(-4, -2), key);
  const first = (): [id: string, bytes: Buffer] => [...files][0] ?? ['', Buffer.alloc(0)];

  /** By a link of an app, as its owner gets it. */
  async function downloaded(app: TestApp, id: string): Promise<Buffer> {
    const { body } = await app.api.as(sender.key.text).get(`/media/${id}/url`);
    const { pathname, search } = new URL((body.data as { url: string }).url);
    const response = await fetch(`${app.baseUrl}${pathname}${search}`);
    if (!response.ok) throw new Error(`it was answered ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  }

  it('wants a bucket', async () => {
    const { MEDIA_S3_BUCKET: _bucket, ...without } = env;
    const { code, stderr } = await runHerald(['media', 'move', '--to', 's3'], without);
    expect([code, stderr]).toEqual([1, expect.stringContaining('MEDIA_S3_BUCKET must be set')]);
    expect((await runHerald(['media', 'move', '--to', 'tape'], env)).code).toBe(2);
  });

  it('goes on where it was killed, through a store that is busy, and copies each file once', async () => {
    let asked = 0;
    server.fault = ({ method }) => (method === 'PUT' && ++asked % 5 === 0 ? { status: 503, code: 'SlowDown' } : null);
    const child = spawn(process.execPath, [join(ROOT, 'dist/src/cli/main.js'), 'media', 'move', '--to', 's3'], {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, ...env },
      stdio: 'ignore',
    });
    const ended = once(child, 'close');
    await waitFor(() => server.objects('files').length >= 4, { what: 'some copies', everyMs: 5 });
    child.kill('SIGKILL');
    await ended;
    const before = server.objects('files').length;
    const moved = await move('--to', 's3');
    expect(moved).toMatchObject({ code: 0, missing: 0, damaged: 0 });
    expect(moved.copied + moved.present).toBe(files.size);
    expect(moved.present).toBeGreaterThanOrEqual(4);
    expect(moved.present).toBeLessThanOrEqual(before + 1);
    expect(await move('--to', 's3')).toMatchObject({ code: 0, copied: 0, present: files.size });
    for (const [id, bytes] of files) {
      expect(digest(readFileSync(objectOf(await keyOf(id))))).toBe(digest(bytes));
    }
  });

  it('compares what was there already when it is asked to', async () => {
    const [id, bytes] = first();
    const object = objectOf(await keyOf(id));
    writeFileSync(object, Buffer.alloc(bytes.length));
    expect(await move('--to', 's3')).toMatchObject({ code: 0, copied: 0 });
    expect(await move('--to', 's3', '--verify')).toMatchObject({ code: 0, copied: 1, present: files.size - 1 });
    expect(digest(readFileSync(object))).toBe(digest(bytes));
  });

  it('copies no file whose bytes are missing or damaged, and says which', async () => {
    const [damaged, missing] = await Promise.all(
      [distinct(5_000), distinct(6_000)].map((file) => uploaded(test, sender, { file })),
    );
    writeFileSync(fileOf(await keyOf(damaged?.id as string)), Buffer.alloc(5_000));
    const other = await uploaded(both, sender, { file: distinct(4_000) });
    unlinkSync(fileOf(await keyOf(missing?.id as string)));
    const moved = await move('--to', 's3');
    expect(moved).toMatchObject({ code: 1, copied: 0, present: files.size + 1, missing: 1, damaged: 1 });
    expect(new Set(moved.examples)).toEqual(new Set([damaged?.id, missing?.id]));
    for (const media of [damaged, missing, other]) {
      expect((await sender.api.request({ method: 'DELETE', path: `/media/${media?.id as string}` })).status).toBe(204);
    }
  });

  it('while files move, each is read wherever it is, and a deletion removes both copies', async () => {
    const old = await uploaded(test, sender, { file: distinct(7_000) });
    const young = distinct(8_000);
    const { id } = await uploaded(both, sender, { file: young });
    expect(await downloaded(both, old.id as string)).toHaveLength(7_000);
    expect(digest(await downloaded(both, id as string))).toBe(digest(young));
    const [gone] = first();
    const key = await keyOf(gone);
    const path = (name: string): boolean => name.endsWith(key);
    expect([
      server.objects('files').some(({ name }) => path(name)),
      (await filesOf(test.dataDir)).some((file) => path(file.path)),
    ]).toEqual([true, true]);
    expect((await both.api.as(sender.key.text).request({ method: 'DELETE', path: `/media/${gone}` })).status).toBe(204);
    expect([
      server.objects('files').some(({ name }) => path(name)),
      (await filesOf(test.dataDir)).some((file) => path(file.path)),
    ]).toEqual([false, false]);
    files.delete(gone);
  });

  it('goes back to a folder', async () => {
    const dir = join(test.dataDir, 'back');
    const { code, stdout } = await runHerald(['media', 'move', '--to', 'folder', '--json'], { ...env, MEDIA_DIR: dir });
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { missing: 1 }]); // the one that was never copied to S3
    const [id, bytes] = first();
    const key = await keyOf(id);
    expect(digest(readFileSync(join(dir, key.slice(-2), key.slice(-4, -2), key)))).toBe(digest(bytes));
  });
});

describe('herald doctor', () => {
  const scope = new Scope();
  let server: S3Server;
  let test: TestApp;

  beforeAll(async () => {
    server = await S3Server.start(scope);
    test = await startTestApp({ roles: ['api'] });
  });

  afterAll(async () => {
    await test?.stop();
    await scope.close();
  });

  async function bucket(settings: Record<string, string> = {}): Promise<{ status: string; detail: string }> {
    const env = { DATABASE_URL: test.databaseUrl, DATA_DIR: test.dataDir, ...server.settings('p'), ...settings };
    const { stdout } = await runHerald(['doctor', '--json'], env);
    const findings = JSON.parse(stdout) as { check: string; status: string; detail: string }[];
    expect(findings.some(({ check }) => check === 'disk')).toBe(false);
    return findings.find(({ check }) => check === 'bucket') ?? { status: 'none', detail: stdout };
  }

  it('writes, reads, lists and removes an object, and leaves none', async () => {
    expect(await bucket()).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('media/p/ at http://127.0.0.1:'),
    });
    const asked = new Set(server.requests.map(({ method }) => method));
    expect([...asked].sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PUT']);
    expect(server.objects()).toEqual([]);
  });

  it('says what to do where it can not', async () => {
    expect(await bucket({ MEDIA_S3_SECRET_ACCESS_KEY: 'wrong' })).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('correct MEDIA_S3_SECRET_ACCESS_KEY'),
    });
    server.fault = ({ query }) => (query.has('list-type') ? { status: 403, code: 'AccessDenied' } : null);
    const denied = await bucket();
    expect(denied).toMatchObject({ status: 'fail', detail: expect.stringContaining('s3:ListBucket') });
    expect(server.objects()).toEqual([]);
  });
});
