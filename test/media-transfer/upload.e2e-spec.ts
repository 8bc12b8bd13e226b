import { Deadline } from '../../src/common/deadline.js';
import { randomBytes } from 'node:crypto';
import { systemClock, type Clock } from '../../src/common/clock.js';
import { newId } from '../../src/common/ids.js';
import { MediaService } from '../../src/modules/media/media.service.js';
import { Counters } from '../../src/infrastructure/operations/counters.js';
import { FileStorage } from '../../src/infrastructure/storage/file-storage.js';
import { bodyOf, sendJson } from '../support/local-server.js';
import { refusal } from '../support/whatsapp/fake-media-platform.js';
import { isRunInS3 } from '../support/s3-run.js';
import { waitFor } from '../support/wait-for.js';
import { startRig, type TransferRig } from './fixture.js';
import { gate } from '../support/gate.js';

let rig: TransferRig;

beforeAll(async () => {
  rig = await startRig();
});

afterAll(() => rig.stop());

afterEach(() => import.meta.jest.restoreAllMocks());

beforeEach(() => rig.platform.reset());

/** Answers every upload so, once it has arrived. */
function answerUploads(status: number, body: unknown): void {
  rig.platform.before = async (request, response) => {
    if (request.method !== 'POST') return false;
    await bodyOf(request);
    sendJson(response, status, body);
    return true;
  };
}

/** From now on the answers that this process remembers age by `pass` only. */
function ownTime(): { pass: (ms: number) => void } {
  let nowMs = systemClock.monotonic();
  const answers = rig.transfer['answers'] as unknown as { clock: Clock };
  import.meta.jest.replaceProperty(answers, 'clock', { monotonic: () => nowMs });
  return { pass: (ms) => void (nowMs += ms) };
}

/** Time passes for a file, and this process looks again instead of remembering its last answer. */
async function age(fileId: string, interval: string): Promise<void> {
  await rig.test.database.execute(
    'update media_platform_id set expires_at = expires_at - $2::interval where media_object_id = $1',
    [fileId, interval],
  );
  await rig.transfer.forget(rig.connection.id, fileId, 'no id of it');
}

describe('the platform’s id of a file', () => {
  it('is made on first use: fifty messages, one upload', async () => {
    const bytes = randomBytes(200_000);
    const fileId = await rig.storedFile(bytes);
    const ids = await Promise.all(Array.from({ length: 50 }, () => rig.readyId(fileId)));
    expect(new Set(ids.map((id) => JSON.stringify(id))).size).toBe(1);
    expect(ids[0]).toEqual({ kind: 'ready', platformMediaId: rig.platform.uploads[0]?.id });
    expect(rig.uploads()).toBe(1);
    const [upload] = rig.platform.uploads;
    expect(upload?.bytes.equals(bytes)).toBe(true);
    expect(upload).toMatchObject({
      phoneNumberId: rig.connection.phoneNumberId,
      token: `Bearer token-${rig.connection.id}`,
      type: 'image/jpeg',
      // What its owner calls it is not for the platform.
      filename: 'file.jpg',
    });
  });

  it('is kept for 29 days, then renewed', async () => {
    const fileId = await rig.storedFile();
    const first = await rig.idFor(fileId);
    await age(fileId, '28 days 23 hours');
    expect(await rig.idFor(fileId)).toEqual(first);
    expect(rig.uploads()).toBe(1);
    await age(fileId, '2 hours');
    const second = await rig.idFor(fileId);
    expect(second).toMatchObject({ kind: 'ready' });
    expect(second).not.toEqual(first);
    expect(rig.uploads()).toBe(2);
  });

  it('is another one for another number', async () => {
    const fileId = await rig.storedFile();
    const first = await rig.idFor(fileId);
    const other = await rig.test.factories.connection({ organizationId: rig.connection.organizationId });
    const sending = { ...(await rig.sending()), id: other.id, phoneNumberId: other.phoneNumberId };
    const second = await rig.transfer.platformIdFor(sending, fileId, Deadline.in(5_000));
    expect(second).toMatchObject({ kind: 'ready' });
    expect(second).not.toEqual(first);
    expect(rig.platform.uploads.map((upload) => upload.phoneNumberId)).toEqual([
      rig.connection.phoneNumberId,
      other.phoneNumberId,
    ]);
  });

  it('is renewed where the platform refused it, once for all messages with the refusal, and a limited number of times', async () => {
    const fileId = await rig.storedFile();
    for (const round of [1, 2, 3]) {
      const id = await rig.idFor(fileId);
      if (id.kind !== 'ready') throw new Error(`round ${round}: ${id.kind}`);
      const { platformMediaId } = id;
      await Promise.all(
        Array.from({ length: 10 }, () => rig.transfer.forget(rig.connection.id, fileId, platformMediaId)),
      );
    }
    expect(rig.uploads()).toBe(3);
    expect(await rig.idFor(fileId)).toMatchObject({ kind: 'failed' });
    expect(rig.uploads()).toBe(3);
  });

  it('that came since stays where an older one is refused', async () => {
    const fileId = await rig.storedFile();
    const id = await rig.idFor(fileId);
    await rig.transfer.forget(rig.connection.id, fileId, 'an-older-one');
    expect(await rig.idFor(fileId)).toEqual(id);
    expect(rig.uploads()).toBe(1);
  });
});

describe('a message does not wait for long', () => {
  it('but comes again while the upload goes on', async () => {
    const fileId = await rig.storedFile();
    const { opened, open } = gate();
    rig.platform.before = async () => {
      await opened;
      return false;
    };
    expect(await rig.idFor(fileId, 200)).toMatchObject({ kind: 'later' });
    open();
    await waitFor(async () => (await rig.idFor(fileId)).kind === 'ready');
    expect(rig.uploads()).toBe(1);
  });
});

describe('a file that can’t be sent', () => {
  it('fails the messages, and is asked about once however many there are', async () => {
    const fileId = await rig.storedFile();
    answerUploads(400, refusal(100, { message: '(#100) Param file must be a file with one of the following types' }));
    const ids = await Promise.all(Array.from({ length: 60 }, () => rig.idFor(fileId)));
    for (let index = 0; index < 1_000; index++) ids.push(await rig.idFor(fileId));
    expect(new Set(ids.map((id) => id.kind))).toEqual(new Set(['failed']));
    expect(ids[0]).toEqual({ kind: 'failed', message: expect.stringContaining('Param file must be a file') });
    expect(rig.uploads()).toBe(1);
  });

  it('is one that was deleted, is of another workspace, or is pending', async () => {
    const deleted = await rig.storedFile();
    const { organizationId } = rig.connection;
    await rig.test.app.get(MediaService, { strict: false }).delete(organizationId, deleted);
    expect(await rig.idFor(deleted)).toMatchObject({ kind: 'failed' });
    expect(await rig.idFor(newId())).toMatchObject({ kind: 'failed' });
    expect(await rig.idFor('no id at all')).toMatchObject({ kind: 'failed' });
    const { id: stranger } = await rig.test.factories.workspace();
    const own = await rig.storedFile();
    const foreign = { ...(await rig.sending()), organizationId: stranger };
    expect(await rig.transfer.platformIdFor(foreign, own, Deadline.in(5_000))).toMatchObject({ kind: 'failed' });
    expect(rig.uploads()).toBe(0);
  });

  it('is one whose bytes are lost, until they are restored', async () => {
    const time = ownTime();
    const bytes = randomBytes(20_000);
    const fileId = await rig.storedFile(bytes);
    const key = (await rig.row(fileId)).storage_key ?? '';
    const storage = rig.test.app.get(FileStorage, { strict: false });
    await storage.remove(key);
    const message = expect.stringContaining('missing from the storage') as string;
    expect(await rig.idFor(fileId)).toEqual({ kind: 'failed', message });
    const restored = await storage.create(key);
    await restored.write(bytes);
    await restored.put();
    time.pass(2_000);
    expect(await rig.idFor(fileId)).toMatchObject({ kind: 'ready' });
  });
});

describe('trouble that is not the file’s', () => {
  it('of the token is the number’s: its outcome is that of a send', async () => {
    const fileId = await rig.storedFile();
    answerUploads(401, refusal(190, { error_subcode: 463 }));
    expect(await rig.idFor(fileId)).toMatchObject({
      kind: 'account',
      outcome: { kind: 'lane_paused', category: 'authentication', platformCode: 190 },
    });
    rig.platform.before = () => false;
    // A new token is tried at once.
    const renewed = { ...(await rig.sending()), token: 'another-token' };
    expect(await rig.transfer.platformIdFor(renewed, fileId, Deadline.in(5_000))).toMatchObject({
      kind: 'ready',
    });
  });

  it.each([
    ['out of order', 500, refusal(131016)],
    ['out of order without words', 503, ''],
    ['telling us to slow down', 429, refusal(130429)],
  ])('the platform is %s: the message comes again, and its file with it', async (_name, status, body) => {
    answerUploads(status, body);
    const { pass } = ownTime();
    const fileId = await rig.storedFile();
    const first = await rig.idFor(fileId);
    expect(['later', 'account']).toContain(first.kind);
    await Promise.all(Array.from({ length: 20 }, () => rig.idFor(fileId)));
    expect(rig.uploads()).toBe(1);
    rig.platform.before = () => false;
    pass(60_000);
    await waitFor(async () => (await rig.idFor(fileId)).kind === 'ready');
    expect(rig.uploads()).toBe(2);
  });

  it('no answer: the message is retried later and later', async () => {
    const fileId = await rig.storedFile();
    rig.platform.before = (request) => {
      request.socket.destroy();
      return true;
    };
    const { pass } = ownTime();
    const waits: number[] = [];
    for (const tries of [1, 2, 3]) {
      const id = await rig.idFor(fileId);
      if (id.kind !== 'later') throw new Error(id.kind);
      expect(rig.uploads()).toBe(tries);
      pass(id.retryInMs - 1);
      expect(await rig.idFor(fileId)).toEqual({ kind: 'later', retryInMs: 1 });
      pass(1);
      waits.push(id.retryInMs);
    }
    expect(waits[1]).toBeGreaterThan((waits[0] ?? 0) * 2);
    expect(waits[2]).toBeGreaterThan((waits[1] ?? 0) * 2);
  });
});

describe('several processes', () => {
  it('upload a file once', async () => {
    const other = await startRig({ roles: ['api'], shareWith: rig.test, env: { WHATSAPP_API_URL: rig.platform.url } });
    try {
      const { opened, open } = gate();
      rig.platform.before = async () => {
        await opened;
        return false;
      };
      const fileId = await rig.storedFile();
      const sending = await rig.sending();
      const asked = new Set<unknown>();
      const ids = await Promise.all(
        [rig, other].map(({ transfer }) =>
          waitFor(async () => {
            const id = await transfer.platformIdFor(sending, fileId, Deadline.in(300));
            // Both have asked while the file was on its way.
            if (id.kind === 'later' && asked.add(transfer).size === 2) open();
            return id.kind !== 'later' && id;
          }),
        ),
      );
      expect(ids[0]).toMatchObject({ kind: 'ready' });
      expect(ids[1]).toEqual(ids[0]);
      expect(rig.uploads()).toBe(1);
    } finally {
      await other.stop();
    }
  });

  it('do not wait for one that died', async () => {
    const fileId = await rig.storedFile();
    await rig.test.database.execute(
      `insert into media_platform_id (media_object_id, connection_id, organization_id, platform_media_id, expires_at)
       values ($1, $2, $3, '', clock_timestamp() + interval '1 second')`,
      [fileId, rig.connection.id, rig.connection.organizationId],
    );
    expect(await rig.readyId(fileId)).toMatchObject({ kind: 'ready' });
  });
});

describe('a deleted file', () => {
  it('is deleted at the platform too', async () => {
    const fileId = await rig.storedFile();
    const id = await rig.idFor(fileId);
    await rig.test.app.get(MediaService, { strict: false }).delete(rig.connection.organizationId, fileId);
    await waitFor(() => rig.platform.deleted.length === 1);
    expect(id).toEqual({ kind: 'ready', platformMediaId: rig.platform.deleted[0] });
    const counters = rig.test.app.get(Counters, { strict: false });
    await waitFor(() => counters.snapshot().media_copies_removed === 1);
  });

  it('while it is on its way leaves no copy there', async () => {
    const fileId = await rig.storedFile();
    rig.platform.before = async (request) => {
      if (request.method === 'POST') {
        await rig.test.app.get(MediaService, { strict: false }).delete(rig.connection.organizationId, fileId);
      }
      return false;
    };
    expect(await rig.idFor(fileId)).toMatchObject({ kind: 'failed' });
    // A folder gives the bytes of an open file to the end; S3 may break off, and then there was no copy.
    await waitFor(() => rig.platform.deleted.length === (isRunInS3 ? rig.platform.uploads.length : 1));
    expect(rig.platform.deleted).toEqual(rig.platform.uploads.map(({ id }) => id));
  });
});
