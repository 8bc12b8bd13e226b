import { Deadline } from '../../src/common/deadline.js';
import { randomBytes } from 'node:crypto';
import { MediaTransferService } from '../../src/modules/media/media-transfer.service.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import type { TestApp, TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { CustomersFiles } from './customers-files.js';
import { digestOf } from './fixture.js';

let files: CustomersFiles;
let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  files = await CustomersFiles.start();
  ({ test, sender } = files);
});

afterAll(() => files?.test.stop());

async function idsAtPlatform(): Promise<string[]> {
  const { data } = await files.control('media');
  return (data as { id: string }[]).map((file) => file.id);
}

it('what a customer sends can be downloaded by the workspace, to the byte', async () => {
  const bytes = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), randomBytes(200_000)]);
  const { id } = await files.sent(bytes);
  expect(await files.stored(id)).toMatchObject({ sha256: digestOf(bytes), tries: 1 });
  const link = await sender.api.get(`/media/${id}/url`);
  const { url } = (link.body as { data: { url: string } }).data;
  const response = await fetch(url);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('content-disposition')).toMatch(/^attachment/);
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
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
