import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { withHostClock } from '../../../test/support/host-clock.js';
import { newId } from '../../common/ids.js';
import type { Config } from '../config/config.js';
import { FileGoneError, StorageUnavailableError } from './file-storage.js';
import { FolderStorage, isAbandoned, OWNER } from './folder-storage.js';

describe('FolderStorage', () => {
  let root: string;
  let storage: FolderStorage;

  const at = (minFreeBytes: number): FolderStorage =>
    new FolderStorage({ media: { dir: join(root, 'media'), minFreeBytes } } as unknown as Config);
  const temporary = (): string[] => readdirSync(join(root, 'media/incoming'));

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'herald-storage-'));
    storage = at(0);
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  async function store(content: string): Promise<string> {
    const file = await storage.create();
    await file.write(Buffer.from(content));
    await file.put();
    return file.key;
  }

  it('keeps a file under its key, readable by its owner only, in a folder of few', async () => {
    const key = await store('hello');
    const path = join(root, 'media', key.slice(-2), key.slice(-4, -2), key);
    expect(readFileSync(path, 'utf8')).toBe('hello');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, 'media')).mode & 0o777).toBe(0o700);
    expect(temporary()).toEqual([]);
  });

  it('hands out the whole, or a range with both ends', async () => {
    const key = await store('0123456789');
    expect(await text(await storage.open(key))).toBe('0123456789');
    expect(await text(await storage.open(key, { start: 2, end: 4 }))).toBe('234');
    expect(await text(await storage.open(key, { start: 9, end: 9 }))).toBe('9');
  });

  it('knows what is not there', async () => {
    const key = newId();
    await expect(storage.open(key)).rejects.toBeInstanceOf(FileGoneError);
    await storage.remove(key);
    const kept = await store('x');
    await storage.remove(kept);
    await expect(storage.open(kept)).rejects.toBeInstanceOf(FileGoneError);
  });

  it('takes no key that is not its own', async () => {
    for (const key of ['../../etc/passwd', '', 'incoming', `${newId()}/..`]) {
      await expect(storage.open(key)).rejects.toThrow('a storage key is a UUID');
      await expect(storage.remove(key)).rejects.toThrow('a storage key is a UUID');
    }
  });

  it('reads a temporary file anywhere while it is being written', async () => {
    const file = await storage.create();
    await file.write(Buffer.from('abc'));
    await file.write(Buffer.from('def'));
    expect(file.sizeBytes).toBe(6);
    expect((await file.read(2, 2)).toString()).toBe('cd');
    expect((await file.read(4, 100)).toString()).toBe('ef');
    expect((await file.read(6, 1)).toString()).toBe('');
    expect((await file.read(100, 1)).toString()).toBe('');
    await file.discard();
    await file.discard();
    expect(temporary()).toEqual([]);
  });

  it('a discard after the put harms nothing', async () => {
    const file = await storage.create();
    await file.write(Buffer.from('kept'));
    await file.put();
    await file.discard();
    expect(await text(await storage.open(file.key))).toBe('kept');
  });

  it('is unavailable where too little is free, and where the folder is none', async () => {
    await expect(at(Number.MAX_SAFE_INTEGER).create()).rejects.toBeInstanceOf(StorageUnavailableError);
    expect(temporary()).toEqual([]);
    writeFileSync(join(root, 'file'), '');
    const misplaced = new FolderStorage({ media: { dir: join(root, 'file'), minFreeBytes: 0 } } as unknown as Config);
    await expect(misplaced.create()).rejects.toBeInstanceOf(StorageUnavailableError);
  });

  describe('abandoned temporary files', () => {
    it('go when their process is gone; those of the living stay', async () => {
      const mine = await storage.create();
      const [place = '', pid, token = ''] = OWNER.split('-');
      const dead = String(spawnSync(process.execPath, ['-e', '']).pid);
      const folder = join(root, 'media/incoming');
      writeFileSync(join(folder, `${place}-${dead}-${token}.${newId()}`), 'x');
      writeFileSync(join(folder, `${place}-${pid}-00000000.${newId()}`), 'an earlier process with our number');
      writeFileSync(join(folder, `${place}-${process.ppid}-00000000.${newId()}`), 'of a process that lives');
      expect(await storage.removeAbandoned()).toBe(2);
      expect(temporary()).toHaveLength(2);
      await mine.discard();
    });

    it('of other machines go when they are old', async () => {
      mkdirSync(join(root, 'media/incoming'), { recursive: true });
      const foreign = join(root, 'media/incoming', `aaaaaaaaaaaa-1-bbbbbbbb.${newId()}`);
      writeFileSync(foreign, 'x');
      expect(await storage.removeAbandoned()).toBe(0);
      const hourAgo = new Date(Date.now() - 3_600_000);
      // By the clock of the file system: that of this host may be another one.
      for (const days of [400, -400]) {
        await withHostClock(days * 86_400_000, async () => {
          expect(await storage.removeAbandoned()).toBe(0);
          expect(await storage.keysOf(0, 60_000)).toEqual([]);
        });
      }
      utimesSync(foreign, hourAgo, hourAgo);
      expect(await withHostClock(-400 * 86_400_000, () => storage.removeAbandoned())).toBe(1);
      expect(readdirSync(join(root, 'media/incoming'))).toEqual([]);
      expect(isAbandoned('no name of ours', 0)).toBe(false);
    });

    it('are none where nothing was ever stored', async () => {
      expect(await storage.removeAbandoned()).toBe(0);
    });
  });

  it('lists the keys of a part that are old enough', async () => {
    const key = await store('x');
    const part = Number.parseInt(key.slice(-2), 16);
    expect(await storage.keysOf(part, 60_000)).toEqual([]);
    expect(await storage.keysOf(part, -1)).toEqual([key]);
    expect(await storage.keysOf((part + 1) % storage.parts, -1)).toEqual([]);
  });
});
