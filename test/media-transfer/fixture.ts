import { Deadline } from '../../src/common/deadline.js';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '../../src/common/ids.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import type { SendingConnection } from '../../src/modules/connections/connections.types.js';
import { MediaTransferService } from '../../src/modules/media/media-transfer.service.js';
import type { PlatformId } from '../../src/modules/media/media.types.js';
import { MediaService } from '../../src/modules/media/media.service.js';
import { FileStorage } from '../../src/infrastructure/storage/file-storage.js';
import { FakeMediaPlatform } from '../support/whatsapp/fake-media-platform.js';
import type { ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

/** The application against a platform whose faults a test makes. */
export interface TransferRig {
  test: TestApp;
  platform: FakeMediaPlatform;
  connection: ConnectionRow;
  transfer: MediaTransferService;
  /** A stored file of the workspace. */
  storedFile(bytes?: Buffer, mimeType?: string): Promise<string>;
  sending(): Promise<SendingConnection>;
  /** Asks for the platform's id, and waits as a message does. */
  idFor(fileId: string, waitMs?: number): Promise<PlatformId>;
  /** Asks for the platform's id as a message does, which is retried when it is due again. */
  readyId(fileId: string): Promise<PlatformId>;
  /** How many uploads the platform was asked for. */
  uploads(): number;
  /** A customer's file, made pending as with its message, and announced to the lane. */
  receive(platformMediaId: string, values?: { sha256?: string | null; mimeType?: string | null }): Promise<string>;
  row(fileId: string): Promise<MediaRowFacts>;
  reaches(fileId: string, status: string): Promise<MediaRowFacts>;
  /** The bytes as they lie in the storage. */
  bytesOf(fileId: string): Promise<Buffer>;
  /** Names of what lies half-written in the storage. */
  temporaryFiles(): string[];
  /** Time passes for a pending file: it is due. */
  makeDue(fileId: string): Promise<void>;
  stop(): Promise<void>;
}

export interface MediaRowFacts {
  status: string;
  mime_type: string;
  size_bytes: string | null;
  sha256: string | null;
  storage_key: string | null;
  tries: number;
  failure: string | null;
  next_attempt_at: Date | null;
  lease_owner: string | null;
}

export async function startRig(options: TestAppOptions = {}): Promise<TransferRig> {
  const platform = await FakeMediaPlatform.start();
  try {
    const test = await startTestApp({
      roles: ['api', 'worker'],
      ...options,
      env: { WHATSAPP_API_URL: platform.url, MEDIA_MIN_FREE_MIB: '0', ...options.env },
    });
    return await rigOf(test, platform);
  } catch (error) {
    await platform.stop();
    throw error;
  }
}

async function rigOf(test: TestApp, platform: FakeMediaPlatform): Promise<TransferRig> {
  const { id: organizationId } = await test.factories.workspace();
  const connection = await test.factories.connection({ organizationId });
  const transfer = test.app.get(MediaTransferService, { strict: false });
  const media = test.app.get(MediaService, { strict: false });
  const connections = test.app.get(ConnectionsService, { strict: false });
  const storage = test.app.get(FileStorage, { strict: false });
  const rig: TransferRig = {
    test,
    platform,
    connection,
    transfer,
    storedFile: async (bytes = randomBytes(20_000), mimeType = 'image/jpeg') => {
      const id = newId();
      const file = await storage.create();
      await file.write(bytes);
      await file.put();
      await test.database.execute(
        `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, size_bytes, sha256,
           filename, status, storage_key)
         values ($1, $2, $3, 'outbound', 'image', $4, $5, $6, 'holiday in secret.jpg', 'stored', $7)`,
        [id, organizationId, connection.id, mimeType, bytes.length, digestOf(bytes), file.key],
      );
      return id;
    },
    sending: async () => {
      const found = await connections.forSending(connection.id);
      if (found === null) throw new Error('there is no connection');
      return found;
    },
    idFor: async (fileId, waitMs = 10_000) => transfer.platformIdFor(await rig.sending(), fileId, Deadline.in(waitMs)),
    readyId: (fileId) =>
      waitFor(
        async () => {
          const id = await rig.idFor(fileId);
          return id.kind !== 'later' && id;
        },
        { what: `an answer about file ${fileId}` },
      ),
    uploads: () => platform.count(/^POST .*\/media$/),
    receive: async (platformMediaId, values = {}) => {
      const id = newId();
      const { sha256 = null, mimeType = 'image/jpeg' } = values;
      const pending = { id, organizationId, connectionId: connection.id, platformMediaId, type: 'image' } as const;
      await media.createPending([{ ...pending, mimeType, sha256, filename: null, voice: false }], test.database);
      transfer.wakeFetch([connection.id]);
      return id;
    },
    row: async (fileId) => {
      const [row] = await test.database.query<MediaRowFacts & Record<string, unknown>>(
        `select status, mime_type, size_bytes, sha256, storage_key, tries, failure, next_attempt_at, lease_owner
         from media_object where id = $1`,
        [fileId],
      );
      if (row === undefined) throw new Error(`there is no file ${fileId}`);
      return row;
    },
    reaches: (fileId, status) =>
      waitFor(
        async () => {
          const row = await rig.row(fileId);
          if (row.status === status) return row;
          throw new Error(`it is ${row.status} after ${row.tries} tries: ${row.failure}`);
        },
        { what: `file ${fileId} to be ${status}` },
      ),
    bytesOf: async (fileId) => {
      const { storage_key: key } = await rig.row(fileId);
      const chunks: Buffer[] = [];
      for await (const chunk of await storage.open(key ?? '')) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
    temporaryFiles: () => {
      const incoming = join(test.config.media.dir, 'incoming');
      return existsSync(incoming) ? readdirSync(incoming) : [];
    },
    makeDue: async (fileId) => {
      await test.database.execute(
        `update media_object set next_attempt_at = clock_timestamp() - interval '1 second'
         where id = $1 and status = 'pending' and (lease_until is null or lease_until < clock_timestamp())`,
        [fileId],
      );
      transfer.wakeFetch([connection.id]);
    },
    stop: async () => {
      await test.stop();
      await platform.stop();
    },
  };
  return rig;
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
