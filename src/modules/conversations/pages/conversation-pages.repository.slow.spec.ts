import { rowsRead } from '../../../../test/support/rows-read.js';
import { test, pages, ALL, newConnection, fill } from '../../../../test/support/fixtures/conversation-pages.js';

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
