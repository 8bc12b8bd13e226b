import { randomBytes } from 'node:crypto';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { MediaService } from '../../src/modules/media/media.service.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { sendJson } from '../support/local-server.js';
import { refusal } from '../support/whatsapp/fake-media-platform.js';
import { waitFor } from '../support/wait-for.js';
import { digestOf, startRig, type TransferRig } from './fixture.js';

const MIB = 1_024 * 1_024;

/**
 * What was tried in vain rests for an hour more than it would, so that its next try comes when a test says so: on a busy
 * machine a second passes unseen.
 */
const REST_LONGER = `
create function rest_longer() returns trigger language plpgsql as $$
begin
  if old.lease_owner is not null and new.lease_owner is null and new.next_attempt_at > clock_timestamp() then
    new.next_attempt_at = new.next_attempt_at + interval '1 hour';
  end if;
  return new;
end $$;
create trigger rest_longer before update on media_object for each row execute function rest_longer()`;
const HOUR_MS = 3_600_000;

let rig: TransferRig;

beforeAll(async () => {
  rig = await startRig({ env: { MEDIA_MAX_INBOUND_MIB: '1' } });
  await rig.test.database.execute(REST_LONGER);
});

afterAll(() => rig.stop());

beforeEach(() => {
  rig.platform.before = () => false;
  rig.platform.asked.length = 0;
  rig.platform.tokens.length = 0;
});

/** Answers requests to a path so; others as ever. Returns how often it did. */
function answer(path: RegExp, status: number, body: unknown, times = Infinity): { count: number } {
  const answered = { count: 0 };
  rig.platform.before = (request, response) => {
    if (answered.count >= times || !path.test(request.url ?? '')) return false;
    answered.count++;
    sendJson(response, status, body);
    return true;
  };
  return answered;
}

const DESCRIPTION = /^\/v26\.0\/\d+\?/;
const FILE = /^\/files\//;

async function fetched(fileId: string, bytes: Buffer): Promise<void> {
  const row = await rig.reaches(fileId, 'stored');
  expect(row).toMatchObject({ size_bytes: String(bytes.length), sha256: digestOf(bytes), failure: null });
  expect((await rig.bytesOf(fileId)).equals(bytes)).toBe(true);
}

/** Milliseconds until the next try as it was planned. */
async function plannedWaitMs(fileId: string): Promise<number> {
  const { next_attempt_at: next } = await rig.row(fileId);
  return (next?.getTime() ?? 0) - HOUR_MS - Date.now();
}

/** Waits for a try that came to nothing. */
function triedAndBack(fileId: string, tries = 1): Promise<unknown> {
  return waitFor(
    async () => {
      const row = await rig.row(fileId);
      return row.status === 'pending' && row.tries >= tries && row.lease_owner === null && row.failure !== null;
    },
    { what: 'a try that came to nothing' },
  );
}

describe('a file that a customer sent', () => {
  it('is fetched with its number and token, and lies in the storage to the byte', async () => {
    const bytes = randomBytes(500_000);
    const id = rig.platform.add({ bytes, mimeType: 'image/png' });
    const fileId = await rig.receive(id, { sha256: digestOf(bytes), mimeType: 'image/jpeg' });
    await fetched(fileId, bytes);
    expect(rig.platform.asked).toEqual([`GET /v26.0/${id}`, `GET /files/${id}`]);
    expect(new Set(rig.platform.tokens)).toEqual(new Set([`Bearer token-${rig.connection.id}`]));
    // As the notification said it; the platform's word counts only where that said nothing.
    expect(await rig.row(fileId)).toMatchObject({ mime_type: 'image/jpeg', tries: 1, next_attempt_at: null });
    expect(rig.temporaryFiles()).toEqual([]);
  });

  it('has the type that the platform says where the notification said none', async () => {
    const id = rig.platform.add({ mimeType: 'audio/ogg; codecs=opus' });
    const fileId = await rig.receive(id, { mimeType: null });
    expect(await rig.reaches(fileId, 'stored')).toMatchObject({ mime_type: 'audio/ogg; codecs=opus' });
  });

  it('is checked against a digest in base64 as well', async () => {
    const bytes = randomBytes(1_000);
    const sha256 = Buffer.from(digestOf(bytes), 'hex').toString('base64');
    const id = rig.platform.add({ bytes, sha256 });
    await fetched(await rig.receive(id, { sha256 }), bytes);
  });

  it('comes where many come at once, each once', async () => {
    const files = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const bytes = randomBytes(2_000);
        return { bytes, fileId: await rig.receive(rig.platform.add({ bytes })) };
      }),
    );
    for (const { fileId, bytes } of files) await fetched(fileId, bytes);
    expect(rig.platform.count(/files/)).toBe(30);
  });

  it('does not wait for a slow one', async () => {
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const slow = rig.platform.add();
    rig.platform.before = async (request) => {
      if (request.url === `/files/${slow}`) await held;
      return false;
    };
    const slowId = await rig.receive(slow);
    await waitFor(() => rig.platform.count(/files/) === 1);
    const quickId = await rig.receive(rig.platform.add());
    await rig.reaches(quickId, 'stored');
    expect((await rig.row(slowId)).status).toBe('pending');
    letGo();
    await rig.reaches(slowId, 'stored');
  });
});

describe('a try that came to nothing', () => {
  it.each([
    ['the platform is out of order', DESCRIPTION, 503, ''],
    ['the platform says that it is', DESCRIPTION, 500, refusal(131000)],
    ['the file does not come', FILE, 500, ''],
    ['the file is not given to us', FILE, 401, ''],
  ])('because %s is followed by another', async (_name, path, status, body) => {
    const bytes = randomBytes(1_000);
    const answered = answer(path, status, body, 2);
    const fileId = await rig.receive(rig.platform.add({ bytes }));
    await triedAndBack(fileId);
    expect(await plannedWaitMs(fileId)).toBeLessThan(1_300);
    await rig.makeDue(fileId);
    await triedAndBack(fileId, 2);
    expect(answered.count).toBe(2);
    await rig.makeDue(fileId);
    await fetched(fileId, bytes);
    expect(rig.temporaryFiles()).toEqual([]);
  });

  it('because its address was too old is followed by one with a new address at once', async () => {
    const bytes = randomBytes(1_000);
    answer(FILE, 404, '', 1);
    const fileId = await rig.receive(rig.platform.add({ bytes }));
    await fetched(fileId, bytes);
    expect((await rig.row(fileId)).tries).toBe(1);
    expect(rig.platform.count(/v26/)).toBe(2);
  });

  it('because it broke off half way is followed by another', async () => {
    const bytes = randomBytes(1_000);
    let cuts = 0;
    rig.platform.before = (request, response) => {
      if (!FILE.test(request.url ?? '') || cuts++ > 0) return false;
      response.writeHead(200, { 'content-length': '1000' }).write(bytes.subarray(0, 500), () => response.destroy());
      return true;
    };
    const fileId = await rig.receive(rig.platform.add({ bytes }));
    await triedAndBack(fileId);
    await rig.makeDue(fileId);
    await fetched(fileId, bytes);
  });

  it.each([
    ['other bytes came than were said', { sha256: digestOf(Buffer.from('other')) }, 'SHA-256'],
    ['fewer bytes came than were said', { fileSize: 1_001 }, '1000 bytes instead of 1001'],
  ])('because %s keeps none of them', async (_name, lie, failure) => {
    const bytes = randomBytes(1_000);
    const id = rig.platform.add({ bytes, ...lie });
    const fileId = await rig.receive(id);
    await triedAndBack(fileId);
    expect(await rig.row(fileId)).toMatchObject({ status: 'pending', storage_key: null });
    expect((await rig.row(fileId)).failure).toContain(failure);
    expect(rig.temporaryFiles()).toEqual([]);
    rig.platform.files.set(id, { bytes, mimeType: 'image/jpeg' });
    await rig.makeDue(fileId);
    await fetched(fileId, bytes);
  });

  it('waits longer each time, up to a quarter of an hour', async () => {
    answer(DESCRIPTION, 503, '');
    const fileId = await rig.receive(rig.platform.add());
    await triedAndBack(fileId);
    await rig.test.database.execute('update media_object set tries = 4 where id = $1', [fileId]);
    await rig.makeDue(fileId);
    await triedAndBack(fileId, 5);
    const waitMs = await plannedWaitMs(fileId);
    expect(waitMs).toBeGreaterThan(150_000);
    expect(waitMs).toBeLessThanOrEqual(900_000);
  });
});

describe('a file that can’t be had', () => {
  it.each([
    ['said', {}],
    ['not said', { fileSize: 10 }],
  ])('is one that is too large, where that is %s', async (_name, lie) => {
    const id = rig.platform.add({ bytes: Buffer.alloc(MIB + 1), ...lie });
    const fileId = await rig.receive(id);
    expect(await rig.reaches(fileId, 'failed')).toMatchObject({
      failure: expect.stringContaining('larger than 1048576 bytes'),
      storage_key: null,
    });
    expect(rig.temporaryFiles()).toEqual([]);
  });

  it('is one that the platform does not know, after some tries', async () => {
    const fileId = await rig.receive('4711');
    await triedAndBack(fileId);
    await rig.test.database.execute('update media_object set tries = 8 where id = $1', [fileId]);
    await rig.makeDue(fileId);
    expect(await rig.reaches(fileId, 'failed')).toMatchObject({ failure: expect.stringContaining('(#100)') });
    expect(rig.platform.count(/4711/)).toBe(2);
  });

  it('is not given up for an outage, however long, before the platform forgets it', async () => {
    answer(DESCRIPTION, 503, '');
    const fileId = await rig.receive(rig.platform.add());
    await triedAndBack(fileId);
    const age = (hours: number) =>
      rig.test.database.execute(
        'update media_object set tries = 400, created_at = clock_timestamp() - make_interval(hours => $2) where id = $1',
        [fileId, hours],
      );
    await age(6 * 24);
    await rig.makeDue(fileId);
    await waitFor(async () => (await rig.row(fileId)).tries === 6);
    await age(7 * 24 - 1);
    await rig.makeDue(fileId);
    await rig.reaches(fileId, 'failed');
  });

  it('is one that could not be fetched in seven days', async () => {
    const lost = await rig.test.factories.connection({
      organizationId: rig.connection.organizationId,
      status: 'disconnected',
    });
    const fileId = await rig.receive(rig.platform.add());
    await rig.reaches(fileId, 'stored');
    await rig.test.database.execute(
      `update media_object set status = 'pending', connection_id = $2, next_attempt_at = clock_timestamp(),
         created_at = clock_timestamp() - interval '7 days' where id = $1`,
      [fileId, lost.id],
    );
    await rig.test.app.get(Sweeps, { strict: false }).runNow('media_expiry');
    expect(await rig.row(fileId)).toMatchObject({ status: 'failed', next_attempt_at: null });
  });

  it('is one that was deleted meanwhile', async () => {
    const id = rig.platform.add();
    rig.platform.before = async (request) => {
      if (FILE.test(request.url ?? '')) {
        await rig.test.app.get(MediaService, { strict: false }).delete(rig.connection.organizationId, fileId);
      }
      return false;
    };
    const fileId = await rig.receive(id);
    await waitFor(() => rig.platform.count(/files/) === 1);
    await waitFor(() =>
      rig.row(fileId).then(
        () => false,
        () => true,
      ),
    );
    await waitFor(() => rig.temporaryFiles().length === 0);
    await expect(rig.row(fileId)).rejects.toThrow('there is no file');
  });
});

describe('a number whose token is no longer taken', () => {
  it('rests with all its files, which lose no try', async () => {
    const { connection, transfer } = rig;
    const bytes = randomBytes(100);
    const answered = answer(DESCRIPTION, 401, refusal(190));
    const fileIds = await Promise.all(Array.from({ length: 20 }, () => rig.receive(rig.platform.add({ bytes }))));
    await triedAndBack(fileIds[0] ?? '', 0);
    const lane = `media:${connection.id}`;
    await waitFor(async () => {
      const rows = await rig.test.database.query('select 1 from lane where key = $1 and pause_count > 0', [lane]);
      return rows.length === 1;
    });
    for (const fileId of fileIds) expect((await rig.row(fileId)).tries).toBeLessThanOrEqual(1);
    // What was in flight meets the refusal, and after each pause as much again.
    const [pauses] = await rig.test.database.query<{ count: number }>(
      'select pause_count as count from lane where key = $1',
      [lane],
    );
    expect(answered.count).toBeLessThanOrEqual(16 * ((pauses?.count ?? 0) + 1));
    const connections = rig.test.app.get(ConnectionsService, { strict: false });
    expect((await connections.getById(connection.organizationId, connection.id)).status).toBe('disconnected');
    rig.platform.before = () => false;
    // What is still under way would pause the lane once more.
    await waitFor(async () => {
      const rows = await Promise.all(fileIds.map((fileId) => rig.row(fileId)));
      return rows.every((row) => row.lease_owner === null);
    });
    await connections.setStatus(connection.organizationId, connection.id, 'connected');
    await rig.test.database.execute('update lane set paused_until = null where key = $1', [lane]);
    transfer.wakeFetch([connection.id]);
    for (const fileId of fileIds) expect((await rig.reaches(fileId, 'stored')).tries).toBe(1);
    // The lane's pauses do not add up over the years.
    await waitFor(async () => {
      const rows = await rig.test.database.query('select 1 from lane where key = $1 and pause_count = 0', [lane]);
      return rows.length === 1;
    });
  });

  it('and the lane of its messages is another one', async () => {
    const rows = await rig.test.database.query('select key from lane where key = $1', [rig.connection.id]);
    expect(rows).toEqual([]);
  });
});

describe('nothing is lost', () => {
  it('where the file was not reported to any caller', async () => {
    const bytes = randomBytes(100);
    const id = rig.platform.add({ bytes });
    const fileId = await rig.receive(id);
    await fetched(fileId, bytes);
    await rig.test.database.execute(
      `update media_object set status = 'pending', storage_key = null, next_attempt_at = clock_timestamp() where id = $1`,
      [fileId],
    );
    await fetched(fileId, bytes);
  });

  it('where the process died in the middle: the lease runs out, and the file is fetched again', async () => {
    const bytes = randomBytes(100);
    const fileId = await rig.receive(rig.platform.add({ bytes }));
    await fetched(fileId, bytes);
    await rig.test.database.execute(
      `update media_object set status = 'pending', storage_key = null, tries = 1, lease_owner = gen_random_uuid(),
         lease_until = clock_timestamp() + interval '1 second', next_attempt_at = clock_timestamp() + interval '1 second'
       where id = $1`,
      [fileId],
    );
    await fetched(fileId, bytes);
    expect((await rig.row(fileId)).tries).toBe(2);
  });
});
