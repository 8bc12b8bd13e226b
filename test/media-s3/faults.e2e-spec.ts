import { S3Server } from '../support/rig/s3.js';
import { Scope } from '../support/rig/scope.js';
import { noTemporaryFiles, refusal, upload, uploaded } from '../media/fixture.js';
import { pdf, png } from '../media/samples.js';
import { startRig, type TransferRig } from '../media-transfer/fixture.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

const scope = new Scope();
let server: S3Server;

beforeAll(async () => {
  server = await S3Server.start(scope);
});

afterEach(() => {
  server.fault = () => null;
});

afterAll(() => scope.close());

describe('a store that can not', () => {
  let test: TestApp;
  let sender: TestSender;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api', 'simulator'], env: server.settings('faults') });
    sender = await test.sender();
  });

  afterAll(() => test?.stop());

  it.each([
    ['is full', { status: 507, code: 'InsufficientStorage' }],
    ['is busy', { status: 503, code: 'SlowDown' }],
    ['refuses the key', { status: 403, code: 'AccessDenied' }],
    ['is broken', { status: 500, code: 'InternalError' }],
  ])(
    '%s: uploads and links are answered 503, nothing stays, the service is ready, and goes on afterwards',
    async (_name, fault) => {
      const { id } = await uploaded(test, sender, { file: png() });
      const { url } = (await sender.api.get(`/media/${id as string}/url`)).body.data as { url: string };
      const before = server.objects('faults').length;
      server.fault = () => ({ ...fault, late: true });
      for (const sizeBytes of [20_000, 9_000_000]) {
        const refused = await upload(test, sender, { file: pdf(sizeBytes) });
        expect(refusal(refused)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
        expect(refused.headers.get('retry-after')).toBe('30');
        // What the store says is for the operator.
        expect(JSON.stringify(refused.body)).not.toMatch(/bucket|S3|store/i);
      }
      expect((await fetch(url)).status).toBe(503);
      expect((await fetch(`${test.baseUrl}/health/ready`)).status).toBe(200);
      server.fault = () => null;
      expect(server.objects('faults')).toHaveLength(before);
      await noTemporaryFiles(test.dataDir);
      expect((await fetch(url)).status).toBe(200);
      expect((await upload(test, sender, { file: pdf(9_000_000) })).status).toBe(201);
    },
  );
});

describe('customers’ files', () => {
  let rig: TransferRig;

  beforeAll(async () => {
    rig = await startRig({ env: server.settings('inbound') });
  });

  afterAll(() => rig?.stop());

  it('wait while the store is away, and come when it is back', async () => {
    server.fault = () => ({ status: 503, code: 'ServiceUnavailable', late: true });
    const bytes = pdf(3_000_000);
    const fileId = await rig.receive(rig.platform.add({ bytes }));
    await waitFor(
      async () => {
        const { failure, lease_owner: owner } = await rig.row(fileId);
        return failure !== null && owner === null;
      },
      { what: 'a try that came to nothing' },
    );
    server.fault = () => null;
    await rig.makeDue(fileId);
    await rig.reaches(fileId, 'stored');
    expect((await rig.bytesOf(fileId)).equals(bytes)).toBe(true);
    expect(server.objects('inbound').map(({ sizeBytes }) => sizeBytes)).toEqual([bytes.length]);
  });
});
