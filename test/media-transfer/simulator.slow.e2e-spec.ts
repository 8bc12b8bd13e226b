import { randomBytes } from 'node:crypto';
import { CustomersFiles } from './customers-files.js';
import { digestOf } from './fixture.js';

let files: CustomersFiles;

beforeAll(async () => {
  files = await CustomersFiles.start();
});

afterAll(() => files?.test.stop());

beforeEach(() => files.control('faults', { download_failures: 0, download_wrong_bytes: 0 }));

it.each([
  ['an address that is too old', { download_failures: 1, download_failure: 'not_found' }],
  ['a fault of the platform', { download_failures: 1, download_failure: 'server_error' }],
  ['a file cut half way', { download_failures: 1, download_failure: 'cut' }],
  ['wrong bytes', { download_wrong_bytes: 1 }],
])('%s costs a customer’s file nothing but time', async (_name, faults) => {
  await files.control('faults', faults);
  const bytes = randomBytes(5_000);
  const { id } = await files.sent(bytes);
  expect(await files.stored(id)).toMatchObject({ sha256: digestOf(bytes), failure: null });
});
