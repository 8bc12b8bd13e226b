import { cancelMessage } from '../../../../test/support/facts.js';
import { ContactBook } from '../../../../test/support/contact-book.js';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { LIMITED } from '../../../../test/support/limits.js';
import { newMessage } from '../../../../test/support/new-message.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { LimitBook } from '../../billing/limits.service.js';
import { AcceptRepository, type Accepted, type NewMessage } from './accept.repository.js';
import { countedMessage } from './counted-messages.js';

let opened: OpenTestDatabase;
let factories: Factories;
let accepts: AcceptRepository;
let contacts: ContactBook;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  factories = new Factories(opened.database);
  accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
  contacts = new ContactBook(opened.database);
});
afterAll(() => opened.close());

beforeEach(async () => {
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await opened.database.execute('update organization set marketing_per_recipient_per_week = 1 where id = $1', [
    connection.organizationId,
  ]);
});

const marketingTo = (recipient: string, of = connection): NewMessage =>
  newMessage(of, recipient, {
    lookUp: 'contact',
    templateCategory: 'MARKETING',
    recipientUserId: recipient.includes('.') ? recipient : null,
  });

const send = (recipient: string, of = connection): Promise<Accepted> =>
  accepts.accept(marketingTo(recipient, of), true);

async function usedFor(recipient: string): Promise<number | undefined> {
  const message = await countedMessage(marketingTo(recipient), opened.database);
  return (await LimitBook.look(message, opened.database)).states[0]?.used;
}

/** The end of a number that no other test has. */
const digits = (count: number): string => testPhone().slice(-count);

describe('a limit of marketing for one recipient', () => {
  it.each([
    { country: 'Brazil', long: '55119', short: '5511', rest: () => `8${digits(7)}` },
    { country: 'Mexico', long: '521', short: '52', rest: () => `55${digits(8)}` },
    { country: 'Argentina', long: '549', short: '54', rest: () => `11${digits(8)}` },
  ])('counts both spellings of a number as one: $country', async ({ long, short, rest }) => {
    for (const spellings of [
      [long, short],
      [short, long],
    ]) {
      const end = rest();
      const [first, second] = spellings.map((beginning) => `${beginning}${end}`) as [string, string];
      const { kind, messageId } = await send(first);
      expect(kind).toBe('inserted');
      expect((await send(second)).kind).toBe('limited');
      expect([await usedFor(first), await usedFor(second)]).toEqual([1, 1]);
      await cancelMessage(opened.database, connection.organizationId, messageId);
      expect([await usedFor(first), await usedFor(second)]).toEqual([0, 0]);
      const together = await accepts.acceptTogether(
        [second, first].map((each) => marketingTo(each)),
        false,
        true,
      );
      expect(together.map((each) => each.kind)).toEqual(['inserted', 'limited']);
    }
  });

  it('counts a mobile number and the landline that its digits would be as two', async () => {
    expect((await send('551133334444')).kind).toBe('inserted');
    expect((await send('5511933334444')).kind).toBe('inserted');
  });

  it('counts the number and the user id of a contact as one', async () => {
    const [waId, other] = [testPhone(), testPhone()];
    await contacts.resolve(connection, { waId, userId: `DE.${waId}` });
    expect((await send(waId)).kind).toBe('inserted');
    expect((await send(`DE.${waId}`)).kind).toBe('limited');
    await contacts.resolve(connection, { waId: other, userId: `DE.${other}` });
    expect((await send(`DE.${other}`)).kind).toBe('inserted');
    expect((await send(other)).kind).toBe('limited');
  });

  it('counts what was sent to a user id for the number that turns out to be the same contact', async () => {
    const waId = testPhone();
    expect((await send(`DE.${waId}`)).kind).toBe('inserted');
    await contacts.resolve(connection, { waId, userId: `DE.${waId}` });
    expect((await send(waId)).kind).toBe('limited');
    expect((await send(`DE.${waId}`)).kind).toBe('limited');
  });

  it('counts what was sent to a former name of the contact', async () => {
    const waId = testPhone();
    const { id } = await contacts.resolve(connection, { waId: null, userId: `DE.${waId}a` });
    expect((await send(`DE.${waId}a`)).kind).toBe('inserted');
    await opened.database.execute('update conversation set user_id = $2 where id = $1', [id, `DE.${waId}b`]);
    await opened.database.execute(
      `insert into conversation_alias (connection_id, name, conversation_id, organization_id, replaced_at)
       values ($1, $2, $3, $4, clock_timestamp())`,
      [connection.id, `DE.${waId}a`, id, connection.organizationId],
    );
    expect((await send(`DE.${waId}b`)).kind).toBe('limited');
    // It is addressed to the new name.
    expect((await send(`DE.${waId}a`)).kind).toBe('limited');
  });

  it('is for a number over all numbers of the workspace, in every spelling', async () => {
    const second = await factories.connection({ organizationId: connection.organizationId });
    const end = `55${digits(8)}`;
    expect((await send(`52${end}`)).kind).toBe('inserted');
    expect((await send(`521${end}`, second)).kind).toBe('limited');
  });
});
