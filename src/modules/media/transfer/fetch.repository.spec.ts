import { claimRequest } from '../../../../test/support/claim-request.js';
import { grantLane, livingOwner } from '../../../../test/support/grant-lane.js';
import { Factories, type ConnectionRow } from '../../../../test/support/factories.js';
import { listenFor } from '../../../../test/support/webhook-events.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { MediaRepository } from '../media.repository.js';
import { connectionOfLane, fetchLaneOf, FetchRepository, type ClaimedFile } from './fetch.repository.js';

const OWNER = newId();

let opened: OpenTestDatabase;
let fetches: FetchRepository;
let lanes: LaneRepository;
let factories: Factories;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  fetches = new FetchRepository(opened.database);
  lanes = new LaneRepository(opened.database);
  factories = new Factories(opened.database);
});

afterAll(() => opened.close());

async function newConnection(): Promise<ConnectionRow> {
  const { id: organizationId } = await factories.workspace();
  return factories.connection({ organizationId });
}

async function pending(connection: ConnectionRow, dueInSeconds = 0): Promise<string> {
  const id = newId();
  await opened.database.execute(
    `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, status,
       platform_media_id, next_attempt_at)
     values ($1, $2, $3, 'inbound', 'image', 'image/jpeg', 'pending', '4711',
       clock_timestamp() + make_interval(secs => $4))`,
    [id, connection.organizationId, connection.id, dueInSeconds],
  );
  return id;
}

async function claim(connection: ConnectionRow, limit = 10, owner = OWNER): Promise<ClaimedFile[]> {
  const laneKey = fetchLaneOf(connection.id);
  await lanes.ensure(laneKey);
  return (await fetches.claim(claimRequest(laneKey, owner, limit))).items;
}

async function claimed(connection: ConnectionRow): Promise<ClaimedFile> {
  const [file] = await claim(connection, 1);
  if (file === undefined) throw new Error('nothing was claimed');
  return file;
}

interface Facts {
  status: string;
  tries: number;
  failure: string | null;
  lease_owner: string | null;
  due_in: number | null;
}

async function facts(id: string): Promise<Facts | undefined> {
  const [row] = await opened.database.query<Facts & Record<string, unknown>>(
    `select status, tries, failure, lease_owner,
       extract(epoch from next_attempt_at - clock_timestamp())::double precision as due_in
     from media_object where id = $1`,
    [id],
  );
  return row;
}

async function loseLease(id: string): Promise<void> {
  await opened.database.execute(
    `update media_object set lease_until = clock_timestamp() - interval '1 millisecond', next_attempt_at = clock_timestamp() - interval '1 millisecond' where id = $1`,
    [id],
  );
}

it('names its lanes otherwise than those of messages', () => {
  const id = newId();
  expect(fetchLaneOf(id)).not.toBe(id);
  expect(connectionOfLane(fetchLaneOf(id))).toBe(id);
});

describe('a claim', () => {
  it('takes due files of its lane, the longest due first, each once', async () => {
    const connection = await newConnection();
    const first = await pending(connection, -20);
    const second = await pending(connection, -10);
    await pending(connection, 60);
    await pending(await newConnection(), -60);
    const files = await claim(connection);
    expect(files.map((file) => file.id)).toEqual(expect.arrayContaining([first, second]));
    expect(files).toHaveLength(2);
    expect(files[0]).toMatchObject({
      organizationId: connection.organizationId,
      connectionId: connection.id,
      platformMediaId: '4711',
      mimeType: 'image/jpeg',
      sha256: null,
      tries: 1,
      owner: OWNER,
    });
    expect(await claim(connection)).toEqual([]);
  });

  it('takes no more than it may', async () => {
    const connection = await newConnection();
    const first = await pending(connection, -20);
    await pending(connection, -10);
    expect((await claim(connection, 1)).map((file) => file.id)).toEqual([first]);
  });

  it('takes nothing where another process holds the lane, or the lane rests', async () => {
    const connection = await newConnection();
    await pending(connection);
    const laneKey = fetchLaneOf(connection.id);
    await grantLane(opened.database, claimRequest(laneKey, (await livingOwner(opened.database)).id, 1));
    expect(await fetches.claim(claimRequest(laneKey, OWNER, 10))).toEqual({ grant: null, items: [] });
    const other = await newConnection();
    await pending(other);
    await lanes.pause(fetchLaneOf(other.id), 'resting', { leastMs: 60_000 });
    expect(await claim(other)).toEqual([]);
  });

  it('is due again once its lease has run out, and the first one can then do nothing more', async () => {
    const connection = await newConnection();
    const id = await pending(connection);
    const lost = await claimed(connection);
    expect((await facts(id))?.due_in).toBeGreaterThan(50);
    await loseLease(id);
    const won = await claimed(connection);
    expect(won.tries).toBe(2);
    expect(await fetches.renew(lost)).toBe(false);
    await fetches.fail(lost, 'too late');
    await fetches.retry(lost, 'too late', 0, null);
    await fetches.release(lost, 'too late');
    expect(await facts(id)).toMatchObject({ status: 'pending', tries: 2, failure: null, lease_owner: OWNER });
    expect(await fetches.renew(won)).toBe(true);
  });
});

describe('the outcome of a fetch', () => {
  it('puts a file back for later', async () => {
    const connection = await newConnection();
    const id = await pending(connection);
    const file = await claimed(connection);
    const startedAt = performance.now();
    await fetches.retry(file, 'no answer', 16_000, null);
    const after = await facts(id);
    const passedSeconds = (performance.now() - startedAt) / 1_000;
    expect(after).toMatchObject({ status: 'pending', tries: 1, failure: 'no answer', lease_owner: null });
    expect(after?.due_in).toBeGreaterThan(15.9 - passedSeconds);
    expect(after?.due_in).toBeLessThanOrEqual(16);
  });

  it('counts no further than the given limit', async () => {
    const connection = await newConnection();
    const id = await pending(connection);
    await opened.database.execute('update media_object set tries = 40 where id = $1', [id]);
    await fetches.retry(await claimed(connection), 'no answer', 0, 6);
    expect(await facts(id)).toMatchObject({ tries: 6 });
  });

  it('fails a file whose next try would come too late', async () => {
    const connection = await newConnection();
    const id = await pending(connection);
    await opened.database.execute(
      `update media_object set created_at = clock_timestamp() - interval '6 days 22 hours 50 minutes' where id = $1`,
      [id],
    );
    await fetches.retry(await claimed(connection), 'no answer', 60_000, null);
    expect(await facts(id)).toMatchObject({ status: 'pending' });
    await loseLease(id);
    await fetches.retry(await claimed(connection), 'no answer', 900_000, null);
    expect(await facts(id)).toMatchObject({ status: 'failed', due_in: null, failure: 'no answer' });
  });

  it('puts a file back as it was', async () => {
    const connection = await newConnection();
    const id = await pending(connection);
    await fetches.release(await claimed(connection), null);
    expect(await facts(id)).toMatchObject({ status: 'pending', tries: 0, failure: null, lease_owner: null });
    expect((await claimed(connection)).tries).toBe(1);
  });

  it('fails a file', async () => {
    const connection = await newConnection();
    const id = await pending(connection);
    await fetches.fail(await claimed(connection), 'too large');
    expect(await facts(id)).toMatchObject({ status: 'failed', failure: 'too large', due_in: null, lease_owner: null });
    expect(await claim(connection)).toEqual([]);
  });
});

describe('the sweeps', () => {
  it('know every lane with due files, and no other', async () => {
    await opened.database.execute("update media_object set status = 'failed' where status = 'pending'");
    const connections = await Promise.all([newConnection(), newConnection(), newConnection()]);
    const [due, later, both] = connections;
    await pending(due, -30);
    await pending(later, 30);
    await pending(both, 30);
    await pending(both, -30);
    const { lanes: lanesDue, next } = await fetches.dueLanes(1_000, null);
    expect(next).toBeNull();
    expect([...lanesDue].sort()).toEqual([due, both].map(({ id }) => fetchLaneOf(id)).sort());
    const paged: string[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = await fetches.dueLanes(1, after ?? null);
      paged.push(...page.lanes);
      after = page.next;
    }
    expect(paged).toEqual(lanesDue);
  });

  it('fail files that the platform has forgotten, but none that is just being fetched', async () => {
    const connection = await newConnection();
    const [old, busy, young] = [await pending(connection), await pending(connection), await pending(connection)];
    await opened.database.execute(
      `update media_object set created_at = clock_timestamp() - interval '7 days' where id = any($1)`,
      [[old, busy]],
    );
    await opened.database.execute(
      `update media_object set lease_owner = $2, lease_until = clock_timestamp() + interval '1 minute' where id = $1`,
      [busy, OWNER],
    );
    expect(await fetches.expire(10)).toBe(1);
    const states = await Promise.all([old, busy, young].map(async (id) => (await facts(id))?.status));
    expect(states).toEqual(['failed', 'pending', 'pending']);
  });
});

describe('the end of the tries', () => {
  const eventsOf = (id: string) =>
    opened.database.query<{ type: string; data: Record<string, unknown> & { media: Record<string, unknown> } }>(
      `select type, data from webhook_event where data #>> '{media,id}' = $1`,
      [id],
    );

  it.each([
    ['a refusal for good', (file: ClaimedFile) => fetches.fail(file, 'The file is larger than 5 bytes.')],
    ['a wait beyond its time', (file: ClaimedFile) => fetches.retry(file, 'Gone.', 8 * 86_400_000, null)],
  ])('is an event: %s', async (_, end) => {
    const connection = await newConnection();
    await listenFor(opened.database, connection.organizationId, ['media.failed', 'media.ready']);
    const [ended, waiting] = [await pending(connection), await pending(connection)];
    const files = await claim(connection, 2);
    for (const file of files) {
      if (file.id === ended) await end(file);
      else await fetches.retry(file, 'Later.', 1_000, null);
    }
    const { status, failure } = (await facts(ended)) ?? {};
    expect(status).toBe('failed');
    expect(await eventsOf(waiting)).toEqual([]);
    const [event, ...more] = await eventsOf(ended);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: 'media.failed',
      data: { reason: failure, media: { id: ended, connection_id: connection.id, status: 'failed', type: 'image' } },
    });
    // A second end of the same claim finds it ended.
    await fetches.fail(files.find(({ id }) => id === ended) as ClaimedFile, 'Again.');
    expect(await eventsOf(ended)).toHaveLength(1);
  });

  it('is an event for files that the platform has forgotten', async () => {
    const connection = await newConnection();
    await listenFor(opened.database, connection.organizationId, ['media.failed']);
    const old = await pending(connection);
    await opened.database.execute(
      `update media_object set created_at = clock_timestamp() - interval '7 days' where id = $1`,
      [old],
    );
    expect(await fetches.expire(1_000)).toBeGreaterThan(0);
    expect(await eventsOf(old)).toMatchObject([{ type: 'media.failed' }]);
  });
});

it('the gauge finds the file that is due for longest, however many wait', async () => {
  const crowded = await newConnection();
  await opened.database.execute(
    `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, status,
       platform_media_id, next_attempt_at)
     select gen_random_uuid(), $1, $2, 'inbound', 'image', 'image/jpeg', 'pending', '4711', clock_timestamp()
     from generate_series(1, 10000)`,
    [crowded.organizationId, crowded.id],
  );
  const DAYS = 2 * 86_400;
  await pending(await newConnection(), -DAYS);
  const files = await new MediaRepository(opened.database).readBacklog();
  expect(files?.oldestDueSeconds).toBeGreaterThanOrEqual(DAYS);
  expect(files?.oldestDueSeconds).toBeLessThan(DAYS + 3_600);
});
