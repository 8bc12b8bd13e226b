import { costOf } from '../../../../test/support/rows-read.js';
import { test, newConnection, contact, found } from '../../../../test/support/fixtures/conversation-pages.js';
import { SEARCH } from './conversation-pages.repository.js';

describe('search', () => {
  it('reads at most 100 pages, of a workspace with very many conversations and of a small one beside it', async () => {
    const many = await newConnection();
    const few = await newConnection();
    await contact(few, 'Ana Small', '4915550000001');
    await test.database.execute(
      `insert into conversation (id, organization_id, connection_id, phone, wa_id, profile_name)
       select gen_random_uuid(), $1, $2, (491000000000 + n * 7)::text, (491000000000 + n * 7)::text,
         case when n % 2 = 0 then (array['Ana', 'Änne', 'Bernd', 'Çelik'])[n % 4 + 1] || ' Nr' || n end
       from generate_series(1, 40000) n`,
      [many.organizationId, many.id],
    );
    await test.database.execute('vacuum analyze conversation');
    for (const { organizationId } of [many, few]) {
      for (const [search, digits] of [
        ['a', ''],
        ['ana', ''],
        ['ana nr2', ''],
        ['nr39', ''],
        ['zzz', ''],
        ['4', '4'],
        ['491', '491'],
        ['491000014', '491000014'],
        ['0001', '0001'],
        ['999999999', '999999999'],
      ] as const) {
        const params = digits === '' ? [[], []] : [[digits], [digits]];
        const { pages: read, scans } = await costOf(test.database, 'conversation', () =>
          test.database.query(SEARCH, [organizationId, search, ...params]),
        );
        expect([search, read <= 100, scans]).toEqual([search, true, 0]);
      }
    }
  });
});

describe('waiting', () => {
  it('reads as few messages beside a large campaign as without one', async () => {
    const connection = await newConnection();
    const ids = [await contact(connection, 'A'), await contact(connection, 'B')].toReversed();
    const read = async () =>
      (
        await costOf(test.database, 'message', async () => {
          expect((await found(connection, { waiting: true })).map(({ id }) => id)).toEqual(ids);
        })
      ).pages;
    const before = await read();
    await test.database.execute(
      `with contact as (
         insert into conversation (id, organization_id, connection_id, phone)
         select gen_random_uuid(), $1, $2, (492000000000 + n)::text from generate_series(1, 20000) n returning id
       )
       insert into message (id, organization_id, connection_id, conversation_id, direction, type, created_at)
       select gen_random_uuid(), $1, $2, contact.id, 'outbound', 'template', clock_timestamp() from contact`,
      [connection.organizationId, connection.id],
    );
    await test.database.execute('vacuum analyze message, conversation');
    expect(await read()).toBeLessThan(before + 100);
  });
});
