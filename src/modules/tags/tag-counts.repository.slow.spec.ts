import { Factories, type ConnectionRow } from '../../../test/support/factories.js';
import { seedFailed, seedQueued } from '../../../test/support/rig/seed-messages.js';
import { rowsRead } from '../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { TagCountsRepository } from './tag-counts.repository.js';

const TAG = 'sale';

let opened: OpenTestDatabase;
let counts: TagCountsRepository;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  counts = new TagCountsRepository(opened.database);
});
afterAll(() => opened.close());
beforeEach(async () => {
  const factories = new Factories(opened.database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await opened.database.execute('delete from message_tag_count');
});
const partsOf = async () => (await counts.parts(connection.organizationId, [TAG])).get(TAG) ?? [];
const queued = async (): Promise<number> =>
  (await partsOf()).reduce((sum, { status, messages }) => sum + (status === 'queued' ? messages : 0), 0);

describe('the counts of a tag', () => {
  it('are read by as few rows at ten thousand messages as at ten', async () => {
    const tables = ['message', 'message_state', 'message_queue', 'message_tag_count'];
    const reads = async (): Promise<number[]> => {
      await counts.fold();
      await opened.database.execute('vacuum analyze message_tag_count');
      const found: number[] = [];
      for (const table of tables) found.push(await rowsRead(opened.database, table, partsOf));
      return found;
    };
    await seedQueued(opened.database, connection, { count: 5, tag: TAG });
    await seedFailed(opened.database, connection, { count: 5, tag: TAG });
    const few = await reads();
    await seedQueued(opened.database, connection, { count: 5_000, tag: TAG });
    await seedFailed(opened.database, connection, { count: 5_000, tag: TAG });
    expect(await queued()).toBe(5_005);
    expect(await reads()).toEqual(few);
    expect(few).toEqual([0, 0, 0, 2]);
  });
});
