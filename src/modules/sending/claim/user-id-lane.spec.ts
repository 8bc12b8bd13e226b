import { factsOf } from '../../../../test/support/facts.js';
import { LIMITED } from '../../../../test/support/limits.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { Factories } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { AcceptRepository } from '../../messages/accept/accept.repository.js';
import { ContactBook } from '../../../../test/support/contact-book.js';
import { ContactsService } from '../../conversations/contacts/contacts.service.js';
import { ConversationsRepository } from '../../conversations/conversations.repository.js';
import { OutcomeRepository, recordOf } from '../outcome/outcome.repository.js';
import { type ClaimedMessage, ClaimRepository } from './claim.repository.js';
import { newMessage } from '../../../../test/support/new-message.js';

const OWNER = newId();
const PHONE = '15550001234';
const USER_ID = 'US.13491208655302741918';

let opened: OpenTestDatabase;
let accepts: AcceptRepository;
let conversations: ContactsService;
let book: ContactBook;
let connection: { id: string; organizationId: string };

beforeAll(async () => {
  opened = await openTestDatabase(4);
  accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
  conversations = new ContactsService(new ConversationsRepository(opened.database), opened.database);
  book = new ContactBook(opened.database);
});

afterAll(() => opened.close());

beforeEach(async () => {
  const factories = new Factories(opened.database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
});

async function queue(conversationId: string, recipient: string): Promise<string> {
  const id = newId();
  const recipientUserId = recipient === USER_ID ? USER_ID : null;
  await accepts.accept(newMessage(connection, recipient, { id, conversationId, recipientUserId }));
  return id;
}

/** What may go now, as the sender does it: one message to each contact. */
async function claim(): Promise<ClaimedMessage[]> {
  await new LaneRepository(opened.database).ensure(connection.id);
  const limits = { ttlHours: 24, leaseMs: 3_600_000 };
  const request = claimRequest(connection.id, OWNER, 10);
  return (await claimLane(new ClaimRepository(opened.database), request, limits)).items;
}

async function finish(claimed: ClaimedMessage): Promise<void> {
  const outcome = { kind: 'accepted', httpStatus: 200, metaMessageId: `wamid.${claimed.id}` } as const;
  await new OutcomeRepository(opened.database, factsOf(opened.database)).record(
    recordOf(claimed, { ...outcome, waId: null, userId: null }),
  );
}

/** The order in which everything goes, one after the other; two at once fail. */
async function drained(): Promise<string[]> {
  const order: string[] = [];
  for (;;) {
    const claimed = await claim();
    if (claimed.length === 0) return order;
    expect(claimed).toHaveLength(1);
    order.push(...claimed.map(({ id }) => id));
    for (const message of claimed) await finish(message);
  }
}

describe('messages to the number and to the user id of one contact', () => {
  it('go one after the other, in the order in which they were taken', async () => {
    const { id } = await book.resolve(connection, { phone: PHONE, userId: USER_ID });
    const queued = [
      await queue(id, USER_ID),
      await queue(id, PHONE),
      await queue(id, USER_ID),
      await queue(id, USER_ID),
      await queue(id, PHONE),
    ];
    expect(await drained()).toEqual(queued);
  });

  it('and are addressed as they were given', async () => {
    const { id } = await book.resolve(connection, { phone: PHONE, userId: USER_ID });
    await queue(id, USER_ID);
    const [claimed] = await claim();
    expect(claimed).toMatchObject({ recipient: PHONE, recipientUserId: USER_ID });
  });

  it('keep their order when the number becomes known while they wait', async () => {
    const { id } = await book.resolve(connection, { userId: USER_ID });
    const first = await queue(id, USER_ID);
    const second = await queue(id, USER_ID);
    await conversations.adopt({ conversationId: id, waId: PHONE, userId: USER_ID });
    const third = await queue(id, PHONE);
    expect(await drained()).toEqual([first, second, third]);
  });

  it('keep it when two conversations turn out to be one contact, one message being under way', async () => {
    const byNumber = await book.resolve(connection, { phone: PHONE });
    const byUserId = await book.resolve(connection, { userId: USER_ID });
    const first = await queue(byUserId.id, USER_ID);
    const second = await queue(byUserId.id, USER_ID);
    const [claimed] = await claim();
    expect(claimed?.id).toBe(first);
    await conversations.adopt({ conversationId: byUserId.id, waId: PHONE, userId: USER_ID });
    const third = await queue(byNumber.id, PHONE);
    expect(await claim()).toEqual([]);
    if (claimed !== undefined) await finish(claimed);
    expect(await drained()).toEqual([second, third]);
  });
});
