import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaRepository } from '../../src/modules/media/media.repository.js';
import { MediaMaintenance } from '../../src/modules/media/media.maintenance.js';
import {
  UPLOADS_AT_ONCE,
  UPLOADS_OF_ONE_WORKSPACE,
  UploadService,
} from '../../src/modules/media/upload/upload.service.js';
import { FileGoneError, FileStorage, StorageUnavailableError } from '../../src/infrastructure/storage/file-storage.js';
import type { TemporaryFile } from '../../src/infrastructure/storage/file-storage.js';
import { itInFolder } from '../support/s3-run.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { filesOf, noTemporaryFiles, upload, uploaded } from './fixture.js';
import * as sample from './samples.js';

describe('uploads when something is short', () => {
  let test: TestApp;
  let sender: TestSender;
  let storage: FileStorage;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api', 'simulator'] });
    sender = await test.sender();
    storage = test.app.get(FileStorage, { strict: false });
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await noTemporaryFiles(test.dataDir);
  });

  afterAll(() => test.stop());

  /** Status, code and Retry-After of an upload that must leave nothing behind. */
  async function refused(): Promise<unknown[]> {
    const before = await filesOf(test.dataDir);
    const response = await upload(test, sender, { file: sample.pdf(2_000_000) });
    await noTemporaryFiles(test.dataDir);
    expect(await filesOf(test.dataDir)).toEqual(before);
    return [response.status, response.body.error.code, response.headers.get('retry-after')];
  }

  /** Changes each file as it is created. */
  function changeFiles(change: (file: TemporaryFile) => void): void {
    const create = storage.create.bind(storage);
    jest.spyOn(storage, 'create').mockImplementation(async (known) => {
      const file = await create(known);
      change(file);
      return file;
    });
  }

  it('503 where the disk fills up in the middle of a file', async () => {
    changeFiles((file) => {
      const write = file.write.bind(file);
      jest.spyOn(file, 'write').mockImplementation((bytes) => {
        if (file.sizeBytes > 1_000_000) return Promise.reject(new StorageUnavailableError('the media folder: ENOSPC'));
        return write(bytes);
      });
    });
    expect(await refused()).toEqual([503, 'SERVICE_UNAVAILABLE', '30']);
  });

  it('503 where the finished file can not be put in its place', async () => {
    changeFiles((file) => {
      jest.spyOn(file, 'put').mockRejectedValue(new StorageUnavailableError('the media folder: EROFS'));
    });
    expect(await refused()).toEqual([503, 'SERVICE_UNAVAILABLE', '30']);
  });

  it('no file stays where its row can not be stored', async () => {
    jest.spyOn(test.app.get(MediaRepository), 'insertUploaded').mockRejectedValue(new Error('a fault of ours'));
    expect(await refused()).toEqual([500, 'INTERNAL_ERROR', null]);
  });

  itInFolder('503 where less is free than MEDIA_MIN_FREE_MIB; files go where MEDIA_DIR says', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'herald-media-'));
    const full = await startTestApp({ shareWith: test, roles: ['api'], env: { MEDIA_MIN_FREE_MIB: '1048576' } });
    const elsewhere = await startTestApp({ shareWith: test, roles: ['api'], env: { MEDIA_DIR: join(dir, 'media') } });
    try {
      const answer = await upload(full, sender, { file: sample.png() });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
      await uploaded(elsewhere, sender, { file: sample.png() });
      expect(await filesOf(dir)).toHaveLength(1);
    } finally {
      await full.stop();
      await elsewhere.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('429 where the workspace has its share of uploads under way, and 201 again afterwards', async () => {
    const slots = test.app.get(UploadService).slots;
    const releases = Array.from({ length: UPLOADS_OF_ONE_WORKSPACE }, () => slots.take(sender.workspace.id));
    expect(await refused()).toEqual([429, 'UPLOAD_LIMIT_REACHED', '2']);
    const other = await test.sender();
    expect((await upload(test, other, { file: sample.png() })).status).toBe(201);
    for (const release of releases) release();
    expect((await upload(test, sender, { file: sample.png() })).status).toBe(201);
  });

  it('503 where the process has as many uploads under way as it takes', async () => {
    const slots = test.app.get(UploadService).slots;
    const releases = Array.from({ length: UPLOADS_AT_ONCE }, (_, at) => slots.take(`workspace ${at % 4}`));
    expect(await refused()).toEqual([503, 'SERVICE_UNAVAILABLE', '2']);
    for (const release of releases) release();
    expect((await upload(test, sender, { file: sample.png() })).status).toBe(201);
  });

  it('a refused upload gives its place back', async () => {
    const refuse = (): Promise<number> =>
      upload(test, sender, { file: Buffer.from('GIF89a') }).then(({ status }) => status);
    for (let round = 0; round < UPLOADS_OF_ONE_WORKSPACE + 2; round++) expect(await refuse()).toBe(400);
  });

  itInFolder('files that no row names are removed after an hour; those with a row stay', async () => {
    const { id } = await uploaded(test, sender, { file: sample.png() });
    const stray = await storage.create();
    await stray.write(sample.png());
    await stray.put();
    const strayKey = stray.key;
    const maintenance = test.app.get(MediaMaintenance);
    const part = Number.parseInt(strayKey.slice(-2), 16);
    expect(await maintenance.removeUnknownIn(part)).toBe(0);
    const twoHoursAgo = new Date(Date.now() - 7_200_000);
    for (const { path } of await filesOf(test.dataDir)) {
      utimesSync(join(test.dataDir, 'media', path), twoHoursAgo, twoHoursAgo);
    }
    let removed = 0;
    for (let each = 0; each < storage.parts; each++) removed += await maintenance.removeUnknownIn(each);
    expect(removed).toBe(1);
    await expect(storage.open(strayKey)).rejects.toBeInstanceOf(FileGoneError);
    const { url } = (await sender.api.get(`/media/${id}/url`)).body.data as { url: string };
    expect((await fetch(url)).status).toBe(200);
  });

  it('a file whose bytes the storage has lost: its link says so, and so does the log', async () => {
    const error = jest.spyOn(Logger.prototype, 'error');
    const { id } = await uploaded(test, sender, { file: sample.png() });
    const [row] = await test.database.query<{ storage_key: string }>(
      'select storage_key from media_object where id = $1',
      [id],
    );
    await storage.remove(String(row?.storage_key));
    const { url } = (await sender.api.get(`/media/${id}/url`)).body.data as { url: string };
    const response = await fetch(url);
    const { error: refusal } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, refusal.code]).toEqual([404, 'MEDIA_NOT_FOUND']);
    expect(refusal.message).toContain('missing from the storage');
    expect(error).toHaveBeenCalledWith(
      expect.stringMatching(`file ${String(id)}: its bytes are missing, restore them`),
    );
    await sender.api.request({ method: 'DELETE', path: `/media/${String(id)}` });
    expect(await (await fetch(url)).json()).toMatchObject({
      error: { code: 'MEDIA_NOT_FOUND', message: 'There is no such media file in this workspace.' },
    });
  });
});
