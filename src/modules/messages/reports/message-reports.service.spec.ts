import { factsOf } from '../../../../test/support/facts.js';
import { Factories } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import type { Statements } from '../../../infrastructure/database/database.js';
import type { MediaService } from '../../media/media.service.js';
import { ContactsService } from '../../conversations/contacts/contacts.service.js';
import { ConversationsRepository } from '../../conversations/conversations.repository.js';
import { PlatformNewsRepository } from './platform-news.repository.js';
import { MessageReportsService } from './message-reports.service.js';

type Parameters_ = ConstructorParameters<typeof MessageReportsService>;

let test: OpenTestDatabase;

beforeAll(async () => {
  test = await openTestDatabase();
});
afterAll(() => test?.close());

describe('reports of messages, calls and statuses in one transaction', () => {
  it('lock all connections at once, so that two transactions never wait for each other', async () => {
    const { database } = test;
    const factories = new Factories(database);
    const { id: organizationId } = await factories.workspace();
    const numbers = [await factories.connection({ organizationId }), await factories.connection({ organizationId })];
    const [first, second] = numbers.map(({ id }) => id);
    const contacts = new ContactsService(new ConversationsRepository(database), database);
    const media = { createPending: () => Promise.resolve() } as unknown as MediaService;
    const others = [{}, {}, {}, {}] as unknown as [Parameters_[1], Parameters_[3], Parameters_[4], Parameters_[5]];
    const erased = { find: () => Promise.resolve([]) } as unknown as Parameters_[7];
    const service = new MessageReportsService(
      contacts,
      others[0],
      media,
      others[1],
      others[2],
      others[3],
      factsOf(database),
      erased,
      new PlatformNewsRepository(database),
    );
    const locked: unknown[] = [];
    const statements = {
      query: (sql: string, params: unknown[]) => {
        if (sql.includes('pg_advisory_xact_lock')) locked.push(...params);
        return database.query(sql, params);
      },
      execute: (sql: string, params: unknown[]) => database.execute(sql, params),
    } as unknown as Statements;
    const who = { organizationId, userId: null, profileName: 'Ana', occurredAt: new Date() };
    const inbound = {
      ...who,
      connectionId: second ?? '',
      from: '5511988887777',
      metaMessageId: `wamid.${newId()}`,
      type: 'text',
      content: { body: 'oi' },
      body: 'oi',
      context: {},
      contextMessageId: null,
      opensWindow: true,
      businessNumber: numbers[1]?.phoneNumber ?? '',
    };
    const call = { ...who, connectionId: first ?? '', from: '5511988886666' };
    const apply = () =>
      database.transaction(() =>
        service.applyAll([{ statuses: [], inbound: [inbound], calls: [call], handovers: [], echoes: [] }], statements),
      );
    expect(await apply()).toMatchObject([{ created: 1 }]);
    expect(locked).toEqual([expect.arrayContaining([first, second])]);
    for (const [id, phone] of [
      [first, call.from],
      [second, inbound.from],
    ] as const) {
      expect(await contacts.find(id ?? '', phone)).toMatchObject({ waId: phone });
    }
    expect(await apply()).toMatchObject([{ created: 0 }]);
  });
});
