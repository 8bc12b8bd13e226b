import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import type { MediaType } from '../../src/modules/media/media.types.js';
import { FileStorage } from '../../src/infrastructure/storage/file-storage.js';
import type { TestApp } from '../support/test-app.js';
import type { SendingWorkspace } from './fixture.js';

/** How a file of each type begins, as far as the simulator looks. */
const SAMPLES: Record<MediaType, { mimeType: string; head: Buffer }> = {
  image: { mimeType: 'image/png', head: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  video: { mimeType: 'video/mp4', head: Buffer.from('\0\0\0\x18ftypisom', 'latin1') },
  audio: { mimeType: 'audio/ogg', head: Buffer.from('OggS') },
  document: { mimeType: 'application/pdf', head: Buffer.from('%PDF-1.7\n') },
  sticker: { mimeType: 'image/webp', head: Buffer.from('RIFF\x20\0\0\0WEBPVP8 ', 'latin1') },
};

/** Stores a file of the workspace, as an upload leaves it behind. */
export async function storedFile(
  test: TestApp,
  workspace: Pick<SendingWorkspace, 'connection'>,
  type: MediaType,
  values: { filename?: string; voice?: boolean; mimeType?: string; status?: 'stored' | 'pending' } = {},
): Promise<string> {
  const storage = test.app.get(FileStorage, { strict: false });
  const sample = SAMPLES[type];
  const bytes = Buffer.concat([sample.head, randomBytes(2_000)]);
  const { status = 'stored' } = values;
  const id = newId();
  const file = await storage.create();
  await file.write(bytes);
  await file.put();
  await test.database.execute(
    `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, size_bytes, sha256,
       filename, voice, status, storage_key, platform_media_id, next_attempt_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      id,
      workspace.connection.organizationId,
      workspace.connection.id,
      status === 'stored' ? 'outbound' : 'inbound',
      type,
      values.mimeType ?? sample.mimeType,
      bytes.length,
      createHash('sha256').update(bytes).digest('hex'),
      values.filename ?? null,
      values.voice ?? false,
      status,
      status === 'stored' ? file.key : null,
      status === 'stored' ? null : '1003',
      status === 'stored' ? null : new Date(Date.now() + 3_600_000),
    ],
  );
  return id;
}
