import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { jest } from '@jest/globals';
import dns from 'node:dns';
import { S3Server } from '../../../test/support/rig/s3.js';
import { Scope } from '../../../test/support/rig/scope.js';
import { TcpProxy } from '../../../test/support/rig/tcp-proxy.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { newId } from '../../common/ids.js';
import type { Config } from '../config/config.js';
import { loadConfig } from '../config/load-config.js';
import { FileGoneError, type FileStorage, StorageUnavailableError } from './file-storage.js';
import { FolderStorage } from './folder-storage.js';
import { MovingStorage } from './moving-storage.js';
import { S3Storage } from './s3-storage.js';

const MIB = 1_048_576;

let scope: Scope;
let server: S3Server;
let root: string;

beforeAll(async () => {
  scope = new Scope();
  server = await S3Server.start(scope);
  root = mkdtempSync(join(tmpdir(), 'herald-storages-'));
});

afterEach(() => {
  server.fault = () => null;
  server.requests.length = 0;
  jest.restoreAllMocks();
});

afterAll(async () => {
  await scope.close();
  rmSync(root, { recursive: true, force: true });
});

function configOf(settings: Record<string, string> = {}): Config {
  const env = { NODE_ENV: 'test', DATA_DIR: root, MEDIA_MIN_FREE_MIB: '0', ...server.settings('p'), ...settings };
  return loadConfig({ env, persistSecrets: false });
}

const s3 = (settings: Record<string, string> = {}): S3Storage => new S3Storage(configOf(settings));

/** Writes in pieces of that many bytes, and uses each piece's memory again. */
async function store(storage: FileStorage, bytes: Buffer, keyOfCopy?: string): Promise<string> {
  const pieceBytes = 65_536;
  const file = await storage.create(keyOfCopy);
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
      await file.write(piece);
      piece.fill(0xee);
    }
    expect(file.sizeBytes).toBe(bytes.length);
    await file.put();
  } finally {
    await file.discard();
  }
  return file.key;
}

const bytesOf = async (storage: FileStorage, key: string, start?: number, end?: number): Promise<Buffer> =>
  buffer(await storage.open(key, start === undefined ? undefined : { start, end: end ?? start }));

/** Temporary files. */
const incoming = (): string[] => readdirSync(join(root, 'media', 'incoming'));

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe.each<[string, () => FileStorage]>([
  ['a folder', () => new FolderStorage(configOf())],
  ['S3', () => s3()],
  ['S3 before a folder', () => new MovingStorage(s3(), new FolderStorage(configOf()))],
  ['a folder before S3', () => new MovingStorage(new FolderStorage(configOf()), s3())],
])('%s keeps files', (_name, make) => {
  let storage: FileStorage;

  beforeAll(() => {
    storage = make();
  });

  it.each([1, 65_536, 65_537, 11 * MIB + 7])('of %d bytes', async (size) => {
    const bytes = randomBytes(size);
    const key = await store(storage, bytes);
    expect(await storage.sizeOf(key)).toBe(size);
    expect(digest(await bytesOf(storage, key))).toBe(digest(bytes));
    expect(incoming()).toEqual([]);
  });

  it('hands out ranges with both ends', async () => {
    const bytes = randomBytes(300_000);
    const key = await store(storage, bytes);
    for (const [start, end] of [
      // Not [0, 0]: the test's S3 server takes an end of 0 for none.
      [0, 1],
      [5, 9],
      [299_999, 299_999],
      [0, 299_999],
    ] as const) {
      expect((await bytesOf(storage, key, start, end)).equals(bytes.subarray(start, end + 1))).toBe(true);
    }
  });

  it('reads a finished file anywhere before it is stored', async () => {
    for (const size of [100_000, 7 * MIB]) {
      const bytes = randomBytes(size);
      const file = await storage.create();
      for (let at = 0; at < size; at += MIB) await file.write(bytes.subarray(at, at + MIB));
      for (const [position, length] of [
        [0, 4_096],
        [size - 10, 100],
        [50_000, 30_000],
        [size, 5],
        [size + 9, 5],
      ] as const) {
        const expected = bytes.subarray(position, position + length);
        expect((await file.read(position, length)).equals(expected)).toBe(true);
      }
      await file.put();
      expect((await bytesOf(storage, file.key)).equals(bytes)).toBe(true);
    }
  });

  it('knows what is not there', async () => {
    const key = newId();
    expect(await storage.sizeOf(key)).toBeNull();
    await expect(storage.open(key)).rejects.toBeInstanceOf(FileGoneError);
    await expect(storage.open(key, { start: 0, end: 5 })).rejects.toBeInstanceOf(FileGoneError);
    await storage.remove(key);
    const kept = await store(storage, Buffer.from('x'));
    await storage.remove(kept);
    await expect(storage.open(kept)).rejects.toBeInstanceOf(FileGoneError);
  });

  it('keeps the key of a copy', async () => {
    const key = newId();
    expect(await store(storage, Buffer.from('copy'), key)).toBe(key);
  });

  it('takes no key that is not its own', async () => {
    for (const key of ['../../etc/passwd', '', 'incoming', `${newId()}/..`]) {
      await expect(storage.open(key)).rejects.toThrow('a storage key is a UUID');
      await expect(storage.remove(key)).rejects.toThrow('a storage key is a UUID');
    }
  });

  it('keeps nothing of what is discarded', async () => {
    const before = server.objects('p').length;
    for (const size of [100, 11 * MIB]) {
      for (const sent of [size, Math.floor(size / 2)]) {
        const file = await storage.create();
        for (let at = 0; at < sent; at += MIB) await file.write(Buffer.alloc(Math.min(MIB, sent - at), 1));
        await file.discard();
        await file.discard();
        expect(await storage.sizeOf(file.key)).toBeNull();
      }
    }
    expect([incoming(), server.objects('p').length]).toEqual([[], before]);
  });

  it('keeps a file that is discarded after it was put', async () => {
    const file = await storage.create();
    await file.write(Buffer.from('kept'));
    await file.put();
    await file.discard();
    expect(String(await bytesOf(storage, file.key))).toBe('kept');
  });

  it('lists the keys of a part that are old enough', async () => {
    const key = await store(storage, Buffer.from('x'));
    const inParts = async (olderThanMs: number): Promise<string[]> => {
      const keys: string[] = [];
      for (let part = 0; part < storage.parts; part++) keys.push(...(await storage.keysOf(part, olderThanMs)));
      return keys;
    };
    expect(await inParts(60_000)).not.toContain(key);
    expect((await inParts(-2_000)).filter((each) => each === key)).toEqual([key]);
    expect(await storage.keysOf(Number.parseInt(key.slice(-2), 16) ^ 1, -2_000)).not.toContain(key);
  });
});

describe('MovingStorage', () => {
  it('reads and removes what is in either, and writes to the first', async () => {
    const [first, second] = [s3(), new FolderStorage(configOf())];
    const storage = new MovingStorage(first, second);
    const old = await store(second, Buffer.from('old'));
    const young = await store(storage, Buffer.from('young'));
    expect(await second.sizeOf(young)).toBeNull();
    expect(String(await bytesOf(storage, old))).toBe('old');
    expect(await storage.sizeOf(old)).toBe(3);
    await store(first, Buffer.from('old'), old);
    await storage.remove(old);
    expect([await first.sizeOf(old), await second.sizeOf(old)]).toEqual([null, null]);
  });
});

describe('S3Storage', () => {
  it('asks once for a file of any size', async () => {
    for (const size of [1_000, 9 * MIB]) {
      server.requests.length = 0;
      await store(s3(), randomBytes(size));
      expect(server.requests.map(({ method }) => method)).toEqual(['PUT']);
      expect(server.requests[0]?.headers['content-length']).toBe(String(size));
    }
  });

  it('asks for encryption as it is set', async () => {
    const encryption = async (settings: Record<string, string>): Promise<unknown[]> => {
      server.requests.length = 0;
      await store(s3(settings), Buffer.from('x'));
      return server.requests.flatMap(({ headers }) => [
        headers['x-amz-server-side-encryption'],
        headers['x-amz-server-side-encryption-aws-kms-key-id'],
      ]);
    };
    expect(await encryption({})).toEqual([undefined, undefined]);
    expect(await encryption({ MEDIA_S3_ENCRYPTION: 'AES256' })).toEqual(['AES256', undefined]);
    const kms = { MEDIA_S3_ENCRYPTION: 'aws:kms', MEDIA_S3_KMS_KEY_ID: 'key-1' };
    expect(await encryption(kms)).toEqual(['aws:kms', 'key-1']);
  });

  it('puts the bucket before the host name where paths do not have it', async () => {
    const lookup = dns.lookup;
    jest.spyOn(dns, 'lookup').mockImplementation((name: string, ...rest: unknown[]) => {
      const known = name.endsWith('.localhost') ? '127.0.0.1' : name;
      return (lookup as (...args: unknown[]) => void)(known, ...rest);
    });
    const storage = s3({ MEDIA_S3_ENDPOINT: `http://s3.localhost:${server.port}`, MEDIA_S3_PATH_STYLE: 'false' });
    const key = await store(storage, Buffer.from('by host name'));
    expect(server.requests.at(-1)?.headers.host).toBe(`media.s3.localhost:${server.port}`);
    expect(String(await bytesOf(s3(), key))).toBe('by host name');
  });

  it('finds keys where the AWS SDK does', async () => {
    const names = { AWS_ACCESS_KEY_ID: server.accessKeyId, AWS_SECRET_ACCESS_KEY: server.secretAccessKey };
    const before = { ...process.env };
    Object.assign(process.env, names);
    try {
      const storage = s3({ MEDIA_S3_ACCESS_KEY_ID: '', MEDIA_S3_SECRET_ACCESS_KEY: '' });
      expect(await storage.sizeOf(await store(storage, Buffer.from('x')))).toBe(1);
    } finally {
      for (const name of Object.keys(names)) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
  });

  it('lists more than a page', async () => {
    const storage = s3({ MEDIA_S3_PREFIX: 'pages' });
    const keys = Array.from({ length: 1_003 }, () => `${newId().slice(0, -2)}7f`);
    for (let at = 0; at < keys.length; at += 50) {
      await Promise.all(keys.slice(at, at + 50).map((key) => store(storage, Buffer.from('x'), key)));
    }
    server.requests.length = 0;
    expect((await storage.keysOf(0x7f, -2_000)).sort()).toEqual(keys.sort());
    expect(server.requests).toHaveLength(2);
  });

  it('leaves alone what is not its own', async () => {
    const other = s3({ MEDIA_S3_PREFIX: 'p/other' });
    const key = await store(other, Buffer.from('x'));
    expect(await s3().keysOf(Number.parseInt(key.slice(-2), 16), -2_000)).not.toContain(key);
  });

  it('removes temporary files whose process is gone, and no others', async () => {
    const storage = s3();
    const file = await storage.create();
    await file.write(Buffer.from('x'));
    const [name = ''] = incoming();
    writeFileSync(join(root, 'media', 'incoming', name.replace(/-[0-9a-f]{8}\./, '-00000000.')), 'x');
    expect(await storage.removeAbandoned()).toBe(1);
    expect(incoming()).toEqual([name]);
    await file.discard();
  });

  it.each([
    ['ahead', 8 * 3_600_000],
    ['behind', -8 * 3_600_000],
  ])("finds what is old by the store's clock where the host's is hours %s", async (_name, aheadMs) => {
    const prefix = `clock-${_name}`;
    const storage = s3({ MEDIA_S3_PREFIX: prefix });
    const stored = await store(storage, Buffer.from('x'));
    const part = Number.parseInt(stored.slice(-2), 16);
    const hostTime = Date.now;
    jest.spyOn(Date, 'now').mockImplementation(() => hostTime() + aheadMs);
    const another = s3({ MEDIA_S3_PREFIX: prefix });
    expect(await another.keysOf(part, 3_600_000)).toEqual([]);
    expect(await another.keysOf(part, -2_000)).toEqual([stored]);
  });

  it('probes a bucket and leaves nothing', async () => {
    const before = server.objects().length;
    expect(await s3().probe()).toBeNull();
    expect(server.objects()).toHaveLength(before);
  });

  it('takes no more than MEDIA_S3_TEMPORARY_MIB on the disk at once', async () => {
    const storage = s3({ MEDIA_S3_TEMPORARY_MIB: '128' });
    const files = [await storage.create(), await storage.create()] as const;
    const chunk = Buffer.alloc(32 * MIB);
    for (let at = 0; at < 4; at++) await files[at % 2 === 0 ? 0 : 1].write(chunk);
    await expect(files[0].write(Buffer.alloc(1))).rejects.toThrow('fill MEDIA_S3_TEMPORARY_MIB');
    await files[0].discard();
    await files[1].write(chunk);
    await files[1].write(chunk);
    await expect(files[1].write(Buffer.alloc(1))).rejects.toBeInstanceOf(StorageUnavailableError);
    await files[1].discard();
    await files[1].discard();
    const third = await storage.create();
    for (let at = 0; at < 4; at++) await third.write(chunk);
    await expect(third.write(Buffer.alloc(1))).rejects.toBeInstanceOf(StorageUnavailableError);
    await third.discard();
  });

  describe('refuses with what to do about it', () => {
    const message = async (storage: FileStorage): Promise<string> => {
      const refused = await store(storage, Buffer.from('x')).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StorageUnavailableError);
      return (refused as Error).message;
    };

    it('wrong keys, a missing bucket, an address where nothing is', async () => {
      expect(await message(s3({ MEDIA_S3_SECRET_ACCESS_KEY: 'wrong' }))).toContain(
        'correct MEDIA_S3_SECRET_ACCESS_KEY',
      );
      expect(await message(s3({ MEDIA_S3_ACCESS_KEY_ID: 'wrong' }))).toContain('correct MEDIA_S3_ACCESS_KEY_ID');
      expect(await message(s3({ MEDIA_S3_BUCKET: 'another' }))).toContain('correct MEDIA_S3_BUCKET');
      expect(await message(s3({ MEDIA_S3_ENDPOINT: 'http://127.0.0.1:1' }))).toContain('nothing listens there');
      expect(await message(s3({ MEDIA_S3_ENDPOINT: 'http://nowhere.invalid' }))).toContain(
        'the host name is not known',
      );
    });

    it('a missing bucket also where it is only asked whether it answers', async () => {
      await s3().check();
      await expect(s3({ MEDIA_S3_BUCKET: 'another' }).check()).rejects.toThrow('correct MEDIA_S3_BUCKET');
    });

    it.each([
      [403, 'AccessDenied', 's3:PutObject'],
      [301, 'PermanentRedirect', 'MEDIA_S3_REGION'],
      [507, 'SomeCode', 'the store is full'],
      [400, 'QuotaExceeded', 'the store is full'],
      [503, 'SlowDown', 'the store has too much to do'],
      [500, 'InternalError', 'InternalError'],
    ])('%d %s', async (status, code, remedy) => {
      server.fault = () => ({ status, code, late: true });
      expect(await message(s3())).toContain(remedy);
      expect(incoming()).toEqual([]);
    });

    it('a refusal of a large file, of which nothing stays', async () => {
      server.fault = ({ method }) => (method === 'PUT' ? { status: 507, code: 'InsufficientStorage' } : null);
      const file = await s3().create();
      for (let at = 0; at < 12; at++) await file.write(Buffer.alloc(MIB));
      await expect(file.put()).rejects.toThrow('the store is full');
      await file.discard();
      expect(incoming()).toEqual([]);
      expect(server.objects('p').filter(({ name }) => name.includes(file.key))).toEqual([]);
    });
  });

  it('asks again where that does no harm: two 503, then an answer', async () => {
    const storage = s3();
    const refuseTwice = (): void => {
      let left = 2;
      server.fault = () => (left-- > 0 ? { status: 503, code: 'SlowDown', late: true } : null);
    };
    const bytes = randomBytes(9 * MIB);
    refuseTwice();
    const key = await store(storage, bytes);
    refuseTwice();
    expect((await bytesOf(storage, key)).equals(bytes)).toBe(true);
    refuseTwice();
    await storage.remove(key);
    expect(await storage.sizeOf(key)).toBeNull();
  });

  describe('on a network that breaks', () => {
    let proxy: TcpProxy;
    const through = (): S3Storage =>
      s3({ MEDIA_S3_ENDPOINT: `http://127.0.0.1:${proxy.port}`, MEDIA_S3_TIMEOUT_MS: '1000' });

    beforeAll(async () => {
      proxy = await TcpProxy.before(scope, server.url);
    });

    afterEach(() => {
      proxy.heal();
      proxy.inspect = null;
    });

    it('an answer that is lost after the bytes were stored: they are sent again', async () => {
      const storage = through();
      const bytes = randomBytes(6 * MIB);
      let lost = 0;
      proxy.inspect = (sent) => {
        const isPut = sent.toString('latin1', 0, 4) === 'PUT ';
        return isPut && lost++ === 0 ? 'lose_answer' : 'pass';
      };
      const key = await store(storage, bytes);
      expect(lost).toBe(2);
      expect((await bytesOf(storage, key)).equals(bytes)).toBe(true);
    });

    it('a connection that is cut within a file: nothing stays', async () => {
      const storage = through();
      const file = await storage.create();
      for (let at = 0; at < 12; at++) await file.write(Buffer.alloc(MIB));
      proxy.inspect = () => {
        proxy.set({ kind: 'refuse' });
        proxy.reset();
        return 'pass';
      };
      await expect(file.put()).rejects.toBeInstanceOf(StorageUnavailableError);
      proxy.inspect = null;
      proxy.heal();
      await file.discard();
      expect(incoming()).toEqual([]);
      expect(await storage.sizeOf(file.key)).toBeNull();
    });

    it('a store that takes nothing more: an end in time', async () => {
      const storage = through();
      const file = await storage.create();
      for (let at = 0; at < 12; at++) await file.write(Buffer.alloc(MIB));
      proxy.set({ kind: 'black_hole' });
      await expect(file.put()).rejects.toThrow('no answer came in time');
      proxy.reset();
      proxy.heal();
      await file.discard();
      expect(await storage.sizeOf(file.key)).toBeNull();
    });

    it('a file that stops coming breaks; a reader may pause for longer', async () => {
      const storage = through();
      const bytes = randomBytes(8 * MIB);
      const key = await store(s3(), bytes);
      const paused = await storage.open(key);
      paused.pause();
      await waitFor(() => paused.readableLength >= paused.readableHighWaterMark);
      // Its time is over after that of the reader that paused before.
      const stopping = await storage.open(key);
      proxy.set({ kind: 'black_hole' });
      await expect(buffer(stopping)).rejects.toThrow('gave no bytes for 1000 ms');
      proxy.heal();
      expect((await buffer(paused)).equals(bytes)).toBe(true);
    });

    it('a file that is cut off breaks, and is never shorter', async () => {
      const key = await store(s3(), randomBytes(8 * MIB));
      const storage = through();
      const reading = await storage.open(key);
      proxy.reset();
      await expect(buffer(reading)).rejects.toThrow();
    });
  });
});
