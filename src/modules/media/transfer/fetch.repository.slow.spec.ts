import { Factories, type ConnectionRow } from '../../../../test/support/factories.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { FetchRepository } from './fetch.repository.js';

let opened: OpenTestDatabase;
let fetches: FetchRepository;
let factories: Factories;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  fetches = new FetchRepository(opened.database);
  factories = new Factories(opened.database);
});

afterAll(() => opened.close());

async function newConnection(): Promise<ConnectionRow> {
  const { id: organizationId } = await factories.workspace();
  return factories.connection({ organizationId });
}

describe('the sweeps', () => {
  it('read no backlog to know it', async () => {
    const connection = await newConnection();
    await opened.database.execute(
      `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, status,
         platform_media_id, next_attempt_at)
       select gen_random_uuid(), $1, $2, 'inbound', 'image', 'image/jpeg', 'pending', '1', clock_timestamp()
       from generate_series(1, 20000)`,
      [connection.organizationId, connection.id],
    );
    await opened.database.execute('analyze media_object');
    expect(await rowsRead(opened.database, 'media_object', () => fetches.dueLanes(100, null))).toBeLessThan(200);
  });
});
