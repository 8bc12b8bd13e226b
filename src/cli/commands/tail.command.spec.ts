import { JournalTail } from './tail.command.js';
import type { HeraldClient } from '../../../clients/typescript/src/client.js';
import type { MessageListItem } from '../../../clients/typescript/src/resources.js';

/** A journal in memory, behind the two calls that the tail makes. */
class FakeJournal {
  readonly messages: MessageListItem[] = [];
  calls = 0;

  add(status: MessageListItem['status'], count = 1): MessageListItem[] {
    const added = Array.from({ length: count }, (_, index) => message(this.messages.length + index, status));
    this.messages.push(...added);
    return added;
  }

  get client(): Pick<HeraldClient, 'messages'> {
    const get = (wanted: string): Promise<unknown> => {
      this.calls++;
      return Promise.resolve(this.messages.find(({ id }) => id === wanted));
    };
    const list = ({ limit }: { limit: number }) => ({
      page: (cursor: string | null): Promise<unknown> => {
        this.calls++;
        const newest = this.messages.toReversed();
        const from = cursor === null ? 0 : newest.findIndex(({ id }) => id === cursor) + 1;
        const items = newest.slice(from, from + limit).map((each) => ({ ...each }));
        return Promise.resolve({
          items,
          next: from + items.length < newest.length ? (items.at(-1)?.id ?? null) : null,
        });
      },
    });
    return { messages: { get, list } } as unknown as Pick<HeraldClient, 'messages'>;
  }
}

function message(number: number, status: MessageListItem['status']): MessageListItem {
  return {
    id: `m${number}`,
    connection_id: 'c',
    conversation_id: null,
    direction: 'outbound',
    from: null,
    to: null,
    recipient: null,
    contact: { phone: null, user_id: null, name: null },
    type: 'text',
    body: null,
    content: {},
    media_object_id: null,
    reply_to_message_id: null,
    tag: null,
    metadata: null,
    status,
    failure_category: null,
    pricing: null,
    client_message_id: null,
    meta_message_id: null,
    standby: false,
    source: 'api',
    created_at: new Date(number).toISOString(),
  };
}

describe('JournalTail', () => {
  it('begins with what comes after its first look, oldest first', async () => {
    const journal = new FakeJournal();
    journal.add('read', 3);
    const tail = new JournalTail(journal.client);
    expect(await tail.look()).toEqual([]);
    journal.add('queued', 2);
    const events = await tail.look();
    expect(events.map(({ event, message: { id } }) => [event, id])).toEqual([
      ['message', 'm3'],
      ['message', 'm4'],
    ]);
    expect(await tail.look()).toEqual([]);
  });

  it('says what a status was and what it is', async () => {
    const journal = new FakeJournal();
    const tail = new JournalTail(journal.client);
    const [first] = journal.add('queued');
    await tail.look();
    if (first !== undefined) first.status = 'delivered';
    expect(await tail.look()).toMatchObject([
      { event: 'status', previous_status: 'queued', message: { id: 'm0', status: 'delivered' } },
    ]);
  });

  it('notices a change of a message that newer ones have pushed from the first page', async () => {
    const journal = new FakeJournal();
    const tail = new JournalTail(journal.client);
    const [old] = journal.add('queued');
    await tail.look();
    journal.add('read', 150);
    await tail.look();
    if (old !== undefined) old.status = 'failed';
    expect(await tail.look()).toMatchObject([{ event: 'status', message: { id: 'm0', status: 'failed' } }]);
  });

  it('reads on to what it knows, and says so where a burst is too long for one look', async () => {
    const journal = new FakeJournal();
    const tail = new JournalTail(journal.client);
    journal.add('read');
    await tail.look();
    journal.add('read', 320);
    expect(await tail.look()).toHaveLength(320);
    expect(tail.isBehind).toBe(false);
    journal.add('read', 900);
    expect(await tail.look()).toHaveLength(500);
    expect(tail.isBehind).toBe(true);
  });
});
