import { Factories, type ConnectionRow } from '../../../../test/support/factories.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { type ConversationFilter } from '../dto/conversations.dto.js';
import { ConversationPagesRepository } from './conversation-pages.repository.js';

let test: OpenTestDatabase;
let factories: Factories;
let pages: ConversationPagesRepository;

beforeAll(async () => {
  test = await openTestDatabase();
  factories = new Factories(test.database);
  pages = new ConversationPagesRepository(test.database);
});

afterAll(() => test.close());

const ALL: ConversationFilter = {
  connectionId: null,
  to: null,
  recipient: null,
  unread: false,
  since: null,
  until: null,
  waiting: false,
  closed: null,
  assignee: null,
  assigneeId: null,
  search: null,
  before: null,
  beforeId: null,
  limit: 50,
};

async function newConnection(organizationId?: string): Promise<ConnectionRow> {
  return factories.connection({ organizationId: organizationId ?? (await factories.workspace()).id });
}

/** So many conversations; message n belongs to the conversation that `which`, an SQL expression of n, says. */
async function fill(connection: ConnectionRow, conversations: number, messages: number, which: string): Promise<void> {
  await test.database.execute(
    `with contact as (
       insert into conversation (id, organization_id, connection_id, phone)
       select gen_random_uuid(), $1, $2, (491000000 + n)::text from generate_series(0, $3::integer - 1) n
       returning id, phone::integer - 491000000 as number
     )
     insert into message (id, organization_id, connection_id, conversation_id, direction, type, created_at)
     select gen_random_uuid(), $1, $2, contact.id, case when n % 3 = 0 then 'inbound' else 'outbound' end, 'text',
       timestamptz '2026-01-01 00:00:00Z' + (n / 3) * interval '1 ms'
     from generate_series(1, $4::integer) n join contact on contact.number = ${which}`,
    [connection.organizationId, connection.id, conversations, messages],
  );
  await test.database.execute('analyze message, conversation');
}

describe('conversations by their last message', () => {
  it('reads as few rows of a long journal as of a short one', async () => {
    const read = async (messages: number): Promise<number> => {
      const connection = await newConnection();
      await fill(connection, messages / 10, messages, `(hashint4(n) & 65535) % ${messages / 10}`);
      const places = [{}, { connectionId: connection.id }, { to: '491000001' }];
      const rows = await Promise.all(
        places.map((place) =>
          rowsRead(test.database, 'message', () => pages.page(connection.organizationId, { ...ALL, ...place })),
        ),
      );
      return Math.max(...rows);
    };
    const short = await read(5_000);
    const long = await read(50_000);
    expect(long).toBeLessThan(1.5 * short);
    expect(long).toBeLessThan(6_000);
  });
});
