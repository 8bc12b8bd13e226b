import { Factories, testPhone, type ConnectionRow } from '../../../test/support/factories.js';
import { cancelMessage, factsOf } from '../../../test/support/facts.js';
import { LIMITED } from '../../../test/support/limits.js';
import { newMessage } from '../../../test/support/new-message.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import { AcceptRepository } from '../messages/accept/accept.repository.js';
import { MessagesMaintenanceRepository } from '../messages/maintenance/messages-maintenance.repository.js';
import { HAS_NEW_COUNTS, TagCountsRepository } from './tag-counts.repository.js';

const TAG = 'sale';

let opened: OpenTestDatabase;
let counts: TagCountsRepository;
let accepts: AcceptRepository;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  counts = new TagCountsRepository(opened.database);
  accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
});
afterAll(() => opened.close());
beforeEach(async () => {
  const factories = new Factories(opened.database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await opened.database.execute('delete from message_tag_count');
});

const accept = (recipient: string, change: object = { tag: TAG }) =>
  accepts.accept(newMessage(connection, recipient, change));
const partsOf = async () => (await counts.parts(connection.organizationId, [TAG])).get(TAG) ?? [];
const queued = async (): Promise<number> =>
  (await partsOf()).reduce((sum, { status, messages }) => sum + (status === 'queued' ? messages : 0), 0);
const rows = (condition = 'true'): Promise<number> =>
  opened.database.count(`select count(*)::integer as count from message_tag_count where ${condition}`);
const hasNew = async (): Promise<boolean> =>
  (await opened.database.row<{ has: boolean }>(`select ${HAS_NEW_COUNTS} as has`)).has;

describe('the counts of a tag', () => {
  it('are exact before and after they are added up', async () => {
    for (let n = 0; n < 5; n++) await accept(testPhone());
    await accept(testPhone(), { tag: 'other' });
    expect([await queued(), await rows(), await hasNew()]).toEqual([5, 6, true]);
    expect(await counts.fold()).toBe(6);
    expect([await queued(), await rows(), await rows('is_sum'), await hasNew()]).toEqual([5, 2, 2, false]);
    await accept(testPhone());
    expect(await queued()).toBe(6);
    await counts.fold();
    expect([await queued(), await rows()]).toEqual([6, 2]);
  });

  it('lose nothing where two processes add up while messages come', async () => {
    const work = Array.from({ length: 20 }, () => accept(testPhone()));
    await Promise.all([...work, ...Array.from({ length: 10 }, () => counts.fold())]);
    expect(await queued()).toBe(20);
    await counts.fold();
    expect([await queued(), await rows('not is_sum')]).toEqual([20, 0]);
  });

  it('cost nothing where a message has no tag: no row is written', async () => {
    await accept(testPhone(), {});
    expect([await rows(), await hasNew()]).toEqual([0, false]);
  });

  it('follow an erasure', async () => {
    const phone = testPhone();
    await accept(phone);
    await accept(testPhone());
    const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    const { organizationId } = connection;
    const erased = await maintenance.withdraw({ organizationId, numbers: [phone], userIds: [], conversationIds: [] });
    expect(erased).toBe(1);
    const parts = (await partsOf()).filter(({ messages }) => messages > 0);
    expect(Object.fromEntries(parts.map(({ status, messages }) => [status, messages]))).toEqual({
      failed: 1,
      queued: 1,
    });
  });

  it('say when all has left by what is still scheduled, whatever times were given before', async () => {
    const { organizationId } = connection;
    const sendAt = new Date(Date.now() + 30 * 86_400_000);
    await accept(testPhone());
    const { messageId } = await accept(testPhone(), { tag: TAG, sendAt: sendAt.toISOString() });
    const end = async () =>
      counts.estimateEnd(
        organizationId,
        (await partsOf()).filter(({ status, messages }) => status === 'queued' && messages > 0),
        null,
      );
    expect((await end())?.getTime()).toBeGreaterThanOrEqual(sendAt.getTime());
    await cancelMessage(opened.database, organizationId, messageId);
    expect((await end())?.getTime()).toBeLessThan(sendAt.getTime());
  });

  it('say when all has left where the tag starts later: at the later of its start and the time of a message', async () => {
    const day = (days: number) => new Date(Date.now() + days * 86_400_000);
    await accept(testPhone(), { tag: TAG, sendAt: day(20).toISOString() });
    const endAfter = async (start: Date) => counts.estimateEnd(connection.organizationId, await partsOf(), start);
    expect((await endAfter(day(10)))?.getTime()).toBeLessThan(day(21).getTime());
    expect((await endAfter(day(30)))?.getTime()).toBeGreaterThan(day(29).getTime());
  });
});
