import type { TemporaryFile } from '../../infrastructure/storage/file-storage.js';
import { FileStorage } from '../../infrastructure/storage/file-storage.js';
import type { Config } from '../../infrastructure/config/config.js';
import type { Database } from '../../infrastructure/database/database.js';
import { MediaFiles } from './media-files.js';
import type { MediaRepository } from './media.repository.js';

const FACTS = { mimeType: 'image/jpeg', sizeBytes: 1, sha256: '0'.repeat(64) };

/** Stores a fetched file while the row's statement ends so; returns how many files stayed in the storage. */
async function keysAfter(setStored: () => Promise<boolean>): Promise<number> {
  const keys = new Set<string>();
  const storage = {
    remove: (key: string) => Promise.resolve(void keys.delete(key)),
  } as unknown as FileStorage;
  const file = { key: 'k', put: () => Promise.resolve(void keys.add('k')) } as unknown as TemporaryFile;
  const usageOf = () => Promise.resolve({ usedBytes: 1, limitBytes: 1 });
  const media = { setStored, usageOf } as unknown as MediaRepository;
  const database = { transaction: (work: () => Promise<boolean>) => work() } as unknown as Database;
  const files = new MediaFiles(media, storage, database, {} as Config);
  await files.keepFetched(file, { organizationId: 'o', id: 'i' }, FACTS).catch(() => undefined);
  return keys.size;
}

describe('bytes of a fetched file', () => {
  it('stay where the row has them, or may have them', async () => {
    expect(await keysAfter(() => Promise.resolve(true))).toBe(1);
    // The statement was sent, and its answer never came: the row may say `stored`.
    expect(await keysAfter(() => Promise.reject(new Error('Connection terminated unexpectedly')))).toBe(1);
  });

  it('are removed where the row definitely does not have them', async () => {
    expect(await keysAfter(() => Promise.resolve(false))).toBe(0);
    expect(await keysAfter(() => Promise.reject(Object.assign(new Error('check'), { code: '23514' })))).toBe(0);
  });
});
