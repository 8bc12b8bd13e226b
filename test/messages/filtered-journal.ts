import type { TestApp } from '../support/test-app.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';

type Row = Record<string, string | null> & { id: string };

export interface FilteredJournal {
  world: SendingWorkspace;
  rows: Row[];
  /** What each filter may be. */
  values: Record<string, [string, ...string[]]>;
}

export const USER_ID = 'DE.17951795';

/** Messages of two numbers with two contacts each, of earlier conversations of theirs too, in every state. */
export async function filteredJournal(test: TestApp): Promise<FilteredJournal> {
  const world = await sendingWorkspace(test);
  const second = await connectionAtSimulator(test, world.organizationId);
  const rows: Row[] = [];
  for (const connection of [world.connection, second]) {
    for (const [phone, knownAs] of [
      ['15550100111', USER_ID],
      ['15550100222', null],
    ] as const) {
      const conversation = await test.factories.conversation({ connection, phone });
      const earlier = await test.factories.conversation({ connection, phone: `${phone}9` });
      await test.database.execute('update conversation set user_id = $2 where id = $1', [conversation.id, knownAs]);
      await test.database.execute('update conversation set merged_into = $2, phone = null where id = $1', [
        earlier.id,
        conversation.id,
      ]);
      for (const status of ['queued', 'processing', 'accepted', 'sent', 'failed', 'received'] as const) {
        const isInbound = status === 'received';
        for (const conversationId of [conversation.id, earlier.id]) {
          const { id } = await test.factories.message({ connection, status, recipient: phone, conversationId });
          rows.push({
            id,
            status,
            connection_id: connection.id,
            conversation_id: conversation.id,
            direction: isInbound ? 'inbound' : 'outbound',
            from: isInbound ? phone : connection.phoneNumber,
            to: isInbound ? null : phone,
            recipient: knownAs,
          });
        }
      }
    }
  }
  const [first] = rows;
  if (first === undefined) throw new Error('there are no messages');
  const values: FilteredJournal['values'] = {
    connection_id: [second.id],
    conversation_id: [first.conversation_id ?? ''],
    direction: ['inbound', 'outbound'],
    status: ['queued', 'processing', 'sent', 'received'],
    from: ['15550100111', world.connection.phoneNumber],
    to: ['15550100111', '15550100222'],
    recipient: [USER_ID],
  };
  return { world, rows, values };
}

/** The journal gives exactly the rows that agree with what is wanted. */
export async function expectFiltered({ world, rows }: FilteredJournal, wanted: Record<string, string>): Promise<void> {
  const query = new URLSearchParams(wanted).toString();
  const response = await world.api.get(`/messages?limit=100&${query}`);
  const expected = rows.filter((row) => Object.entries(wanted).every(([name, value]) => row[name] === value));
  expect({ query, status: response.status, body: response.status === 200 ? {} : response.body }).toEqual({
    query,
    status: 200,
    body: {},
  });
  const found = (response.body.data as { id: string }[]).map((item) => item.id);
  expect({ query, ids: found.sort() }).toEqual({ query, ids: expected.map(({ id }) => id).sort() });
}
