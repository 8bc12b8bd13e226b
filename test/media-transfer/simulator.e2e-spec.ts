import { Deadline } from '../../src/common/deadline.js';
import { randomBytes } from 'node:crypto';
import { MediaTransferService } from '../../src/modules/media/media-transfer.service.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { digestOf } from './fixture.js';

interface FileRow extends Record<string, unknown> {
  id: string;
  status: string;
  sha256: string | null;
  tries: number;
  failure: string | null;
}

let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  test = await startTestApp({ env: { MEDIA_MIN_FREE_MIB: '0' } });
  sender = await test.sender();
});

afterAll(() => test.stop());

beforeEach(() => control('faults', { download_failures: 0, download_wrong_bytes: 0 }));

async function control(path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${test.simulatorUrl}/_simulator/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** A customer sends an image; returns its row once there is one. */
async function customerSends(bytes: Buffer): Promise<FileRow> {
  await control('inbound', {
    phone_number_id: sender.connection.phoneNumberId,
    from: testPhone(),
    message: { type: 'image', image: { caption: 'look' } },
    file: { base64: bytes.toString('base64'), mime_type: 'image/jpeg' },
  });
  const announced = digestOf(bytes);
  return waitFor(async () => (await rowsOf('sha256', announced))[0], { what: 'the row of a file' });
}

function rowsOf(column: 'id' | 'sha256', value: string): Promise<FileRow[]> {
  return test.database.query<FileRow>(
    `select id, status, sha256, tries, failure from media_object where ${column} = $1`,
    [value],
  );
}

function stored(id: string): Promise<FileRow> {
  return waitFor(async () => (await rowsOf('id', id)).find((row) => row.status === 'stored'), {
    what: 'a stored file',
  });
}

async function idsAtPlatform(): Promise<string[]> {
  const { data } = await control('media');
  return (data as { id: string }[]).map((file) => file.id);
}

it('what a customer sends can be downloaded by the workspace, to the byte', async () => {
  const bytes = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), randomBytes(200_000)]);
  const { id } = await customerSends(bytes);
  expect(await stored(id)).toMatchObject({ sha256: digestOf(bytes), tries: 1 });
  const link = await sender.api.get(`/media/${id}/url`);
  const { url } = (link.body as { data: { url: string } }).data;
  const response = await fetch(url);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('content-disposition')).toMatch(/^attachment/);
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
});

it.each([
  ['an address that is too old', { download_failures: 1, download_failure: 'not_found' }],
  ['a fault of the platform', { download_failures: 1, download_failure: 'server_error' }],
  ['a file cut half way', { download_failures: 1, download_failure: 'cut' }],
  ['wrong bytes', { download_wrong_bytes: 1 }],
])('%s costs a customer’s file nothing but time', async (_name, faults) => {
  await control('faults', faults);
  const bytes = randomBytes(5_000);
  const { id } = await customerSends(bytes);
  expect(await stored(id)).toMatchObject({ sha256: digestOf(bytes), failure: null });
});

it('a file goes to the platform once, and goes from it with ours', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const form = new FormData();
  form.set('connection_id', sender.connection.id);
  form.set('file', new Blob([new Uint8Array(png)], { type: 'image/png' }), 'dot.png');
  const response = await fetch(`${test.baseUrl}/api/v1/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sender.key.text}` },
    body: form,
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([201, expect.any(String)]);
  const { id } = (JSON.parse(text) as { data: { id: string } }).data;
  const before = await idsAtPlatform();
  const connection = await test.app.get(ConnectionsService, { strict: false }).forSending(sender.connection.id);
  if (connection === null) throw new Error('there is no connection');
  const transfer = test.app.get(MediaTransferService, { strict: false });
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => transfer.platformIdFor(connection, id, Deadline.in(5_000))),
  );
  const added = (await idsAtPlatform()).filter((each) => !before.includes(each));
  expect(added).toHaveLength(1);
  expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
    new Set([JSON.stringify({ kind: 'ready', platformMediaId: added[0] })]),
  );
  const deleted = await sender.api.request({ method: 'DELETE', path: `/media/${id}` });
  expect(deleted.status).toBe(204);
  await waitFor(async () => !(await idsAtPlatform()).includes(added[0] ?? ''));
});
