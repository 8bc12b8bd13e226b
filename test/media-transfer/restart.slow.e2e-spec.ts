import { randomBytes } from 'node:crypto';
import { HeraldProcess } from '../support/herald-process.js';
import { waitFor } from '../support/wait-for.js';
import { digestOf, startRig, type TransferRig } from './fixture.js';

const BYTES = randomBytes(300_000);

let rig: TransferRig;
/** While true the platform gives a file's first half and then nothing. */
let held = false;
const workers: HeraldProcess[] = [];

beforeAll(async () => {
  rig = await startRig({ roles: ['api'] });
  rig.platform.before = (request, response) => {
    if (!held || request.url?.startsWith('/files/') !== true) return false;
    response.writeHead(200, { 'content-length': BYTES.length }).write(BYTES.subarray(0, 150_000));
    return true;
  };
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.end('SIGKILL').catch(() => undefined)));
  await rig.stop();
});

/** A worker in a process of its own, on the same database and folder. */
async function startWorker(): Promise<HeraldProcess> {
  const worker = await HeraldProcess.startWorker(rig.test, {
    DATABASE_POOL_SIZE: '3',
    WHATSAPP_API_URL: rig.platform.url,
    MEDIA_MIN_FREE_MIB: '0',
    // A stop that waits for files under way outlasts the test.
    SHUTDOWN_TIMEOUT_MS: '300000',
    LOG_LEVEL: 'info',
  });
  workers.push(worker);
  return worker;
}

const onItsWay = (): Promise<unknown> =>
  waitFor(() => rig.temporaryFiles().length === 1, { what: 'a file on its way' });

async function fetched(fileId: string): Promise<void> {
  expect(await rig.reaches(fileId, 'stored')).toMatchObject({ sha256: digestOf(BYTES) });
  expect((await rig.bytesOf(fileId)).equals(BYTES)).toBe(true);
  // What a dead process left is removed beside the start.
  await waitFor(() => rig.temporaryFiles().length === 0, { what: 'no temporary file' });
}

it('a stop puts files on their way back at once, and they lose no try', async () => {
  held = true;
  const worker = await startWorker();
  const fileId = await rig.receive(rig.platform.add({ bytes: BYTES }));
  await onItsWay();
  const ended = await worker.end();
  expect(ended.code).toBe(0);
  expect(await rig.row(fileId)).toMatchObject({ status: 'pending', tries: 0, lease_owner: null, failure: null });
  expect(rig.temporaryFiles()).toEqual([]);
  held = false;
  const next = await startWorker();
  await fetched(fileId);
  await next.end();
});

it('after a kill the file is fetched by another process, and what was half-written is gone', async () => {
  held = true;
  const worker = await startWorker();
  const fileId = await rig.receive(rig.platform.add({ bytes: BYTES }));
  await onItsWay();
  await worker.end('SIGKILL');
  expect(await rig.row(fileId)).toMatchObject({ status: 'pending', tries: 1, storage_key: null });
  expect(rig.temporaryFiles()).toHaveLength(1);
  held = false;
  await rig.test.database.execute(
    `update media_object set lease_until = clock_timestamp(), next_attempt_at = clock_timestamp() where id = $1`,
    [fileId],
  );
  const next = await startWorker();
  await fetched(fileId);
  await next.end();
});
