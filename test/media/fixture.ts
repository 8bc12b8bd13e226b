import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../src/common/ids.js';
import { MediaService } from '../../src/modules/media/media.service.js';
import type { PendingMedia } from '../../src/modules/media/media.types.js';
import { Database } from '../../src/infrastructure/database/database.js';
import type { ApiBody, ApiResponse } from '../support/api-client.js';
import { filesInS3 } from '../support/s3-run.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

export interface UploadOptions {
  file?: Uint8Array | null;
  filename?: string;
  /** Content-Type of the part; as `FormData` sends it without: application/octet-stream. */
  contentType?: string;
  fields?: Record<string, string>;
  /** The file is before the fields. */
  fileFirst?: boolean;
  key?: string | null;
}

/** Uploads as a browser or `fetch` does. */
export async function upload(
  test: Pick<TestApp, 'baseUrl'>,
  sender: Pick<TestSender, 'key' | 'connection'>,
  options: UploadOptions = {},
): Promise<ApiResponse> {
  const { file = null, filename = 'file.bin', contentType, fileFirst = false, key = sender.key.text } = options;
  const form = new FormData();
  const addFile = (): void => {
    if (file !== null) form.append('file', new Blob([new Uint8Array(file)], { type: contentType ?? '' }), filename);
  };
  if (fileFirst) addFile();
  const fields = { connection_id: sender.connection.id, ...options.fields };
  for (const [name, value] of Object.entries(fields)) if (value !== '') form.append(name, value);
  if (!fileFirst) addFile();
  const response = await fetch(`${test.baseUrl}/api/v1/media`, {
    method: 'POST',
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
    body: form,
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as ApiBody };
}

/** Uploads what must be taken, and returns it. */
export async function uploaded(
  test: Pick<TestApp, 'baseUrl'>,
  sender: TestSender,
  options: UploadOptions,
): Promise<ApiBody['data']> {
  const response = await upload(test, sender, options);
  if (response.status !== 201) throw new Error(`not taken: ${JSON.stringify(response.body)}`);
  return response.body.data;
}

/** Every file under the media folder, or below the prefix in S3, with its path from there and its size. */
export async function filesOf(dataDir: string): Promise<{ path: string; sizeBytes: number; mode: number }[]> {
  const inS3 = filesInS3(dataDir);
  if (inS3 !== null) return inS3;
  const root = join(dataDir, 'media');
  const names = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return Promise.all(
    names
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        const { size, mode } = await stat(path);
        return { path: path.slice(root.length + 1), sizeBytes: size, mode: mode & 0o777 };
      }),
  );
}

export async function temporaryFilesOf(dataDir: string): Promise<string[]> {
  return (await filesOf(dataDir)).map(({ path }) => path).filter((path) => path.startsWith('incoming/'));
}

/** Waits until no upload has a temporary file any more. */
export async function noTemporaryFiles(dataDir: string): Promise<void> {
  await waitFor(async () => (await temporaryFilesOf(dataDir)).length === 0, { what: 'no temporary file' });
}

/** Codes and fields of an error, as one comparable thing. */
export function refusal({ status, body }: ApiResponse): Record<string, unknown> {
  const { code, details } = body.error;
  return { status, code, fields: details?.map(({ field, rule }) => `${field}: ${rule}`) };
}

/** A customer's file as its notification announces it. */
export function pending(sender: TestSender, values: Partial<PendingMedia> = {}): PendingMedia {
  return {
    id: newId(),
    organizationId: sender.workspace.id,
    connectionId: sender.connection.id,
    platformMediaId: '1037543291543636',
    type: 'image',
    mimeType: 'image/jpeg',
    sha256: null,
    filename: null,
    voice: false,
    ...values,
  };
}

/** Adds files that are to be fetched, as the module of messages does. */
export async function addPending(test: TestApp, items: readonly PendingMedia[]): Promise<void> {
  await test.app.get(MediaService).createPending(items, test.app.get(Database));
}

export interface UploadStage {
  readonly test: TestApp;
  readonly sender: TestSender;
}

/** An application for the tests of a file, which leave no temporary file. */
export function uploadStage(): UploadStage {
  let test: TestApp;
  let sender: TestSender;

  beforeAll(async () => {
    test = await startTestApp();
    sender = await test.sender();
  });

  afterAll(async () => {
    await noTemporaryFiles(test.dataDir);
    await test.stop();
  });

  return {
    get test() {
      return test;
    },
    get sender() {
      return sender;
    },
  };
}
