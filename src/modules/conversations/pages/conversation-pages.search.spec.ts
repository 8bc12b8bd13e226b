import { newId } from '../../../common/ids.js';
import { type ConnectionRow } from '../../../../test/support/factories.js';
import {
  test,
  factories,
  pages,
  ALL,
  newConnection,
  contact,
  found,
} from '../../../../test/support/fixtures/conversation-pages.js';
import type { ConversationFilter } from '../dto/conversations.dto.js';

describe('search', () => {
  it.each([
    ['Ana Müller', ['ana', 'ANA M', 'ana muller', 'Müller', 'MULL', 'mül'], ['na', 'ller', 'anna', 'b']],
    ['José Ñandú', ['jose', 'JOSÉ', 'nandu', 'ñan'], ['osé']],
    ['ИВАН Петров', ['иван', 'Пет'], ['етр']],
    ['Straße 7', ['strasse', 'STRASSE 7', 'straße'], ['tra']],
    ['🌸 (Li) O’Brien-Łukasz', ['li', 'lukasz', 'li o’brien', "Li O'Brien"], ['🌸x']],
    ['100% _ok', ['100', '100%', '_ok', 'ok'], ['k', '_2']],
    ['Ɐ'.repeat(3_000), ['ⱯⱯ'], []],
  ])('finds %s by the beginning of the name or the last name', async (name, words, others) => {
    const connection = await newConnection();
    const id = await contact(connection, name);
    await contact(connection, 'Zoe');
    await contact(connection, null);
    for (const search of words) {
      expect([search, (await found(connection, { search })).map((one) => one.id)]).toEqual([search, [id]]);
    }
    for (const search of others) expect([search, await found(connection, { search })]).toEqual([search, []]);
  });

  it('finds a number by its beginning, its end and as it is dialled within the country, whatever stands between digits', async () => {
    const connection = await newConnection();
    const second = await newConnection(connection.organizationId);
    const id = await contact(second, 'Ana', '4917612345678');
    await contact(connection, 'Ben', '4917700000001');
    for (const search of [
      '+49 176',
      '49176',
      '0049 176 1234',
      '5678',
      '0176 / 1234-5678',
      '(176) 12345678',
      '4917612345678',
    ]) {
      expect([search, (await found(connection, { search })).map((one) => one.id)]).toEqual([search, [id]]);
    }
    expect(await found(connection, { search: '49176', connectionId: connection.id })).toEqual([]);
    expect(await found(connection, { search: '49178' })).toEqual([]);
    expect(await found(connection, { search: '0001' })).toMatchObject([{ contact: { name: 'Ben' } }]);
  });

  it('finds nothing of another workspace, of an erased contact, or of one that became another one', async () => {
    const connection = await newConnection();
    const stranger = await newConnection();
    await contact(stranger, 'Ana', '4917612345678');
    const [stays, goes] = [await contact(connection, 'Ana'), await contact(connection, 'Anabel')];
    await test.database.execute('update conversation set merged_into = $2, phone = null where id = $1', [goes, stays]);
    expect(await found(connection, { search: 'ana' })).toMatchObject([{ id: stays }]);
    expect(await found(connection, { search: '49176' })).toEqual([]);
    await test.database.execute('update conversation set phone = null, profile_name = null where id = $1', [stays]);
    expect(await found(connection, { search: 'ana' })).toEqual([]);
  });
});

describe('waiting', () => {
  const answer = (connection: ConnectionRow, conversationId: string, status: 'sent' | 'failed') =>
    factories.message({ connection, conversationId, status });

  it('are those in which the customer wrote last, in the order of what they wrote', async () => {
    const connection = await newConnection();
    const other = await newConnection(connection.organizationId);
    const waits = (filter: Partial<ConversationFilter> = {}) =>
      found(connection, { waiting: true, ...filter }).then((rows) => rows.map(({ id }) => id));
    const [a, b, c] = [await contact(connection, 'A'), await contact(connection, 'B'), await contact(other, 'C')];
    const { id: campaign } = await factories.conversation({ connection });
    await answer(connection, campaign, 'sent');
    expect(await waits()).toEqual([c, b, a]);
    expect(await waits({ limit: 2 })).toEqual([c, b]);
    expect(await waits({ connectionId: connection.id })).toEqual([b, a]);
    expect(await waits({ search: 'a' })).toEqual([a]);
    expect(await waits({ search: 'c', connectionId: connection.id })).toEqual([]);

    await answer(connection, b, 'sent');
    await answer(connection, a, 'failed');
    expect(await waits()).toEqual([c, a]);
    expect(await waits({ search: 'b' })).toEqual([]);

    // What is about a message asks for no answer, and does not move the conversation.
    for (const type of ['reaction', 'system', 'edit', 'revoke']) {
      await factories.message({ connection, conversationId: a, status: 'received', type });
      await factories.message({ connection, conversationId: b, status: 'received', type });
    }
    expect(await waits()).toEqual([c, a]);
    const [, listed] = await found(connection, { waiting: true });
    expect(listed?.last_message).toMatchObject({ type: 'revoke' });
    await factories.message({ connection, conversationId: b, status: 'received' });
    expect(await waits()).toEqual([b, c, a]);
  });

  it('turns pages, also of the unread ones', async () => {
    const connection = await newConnection();
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.unshift(await contact(connection, `N${n}`));
    await factories.message({ connection, conversationId: ids[3] ?? '', status: 'received', type: 'reaction' });
    for (const filter of [{ waiting: true }, { waiting: true, unread: true }, { waiting: true, search: 'n' }]) {
      const seen: string[] = [];
      let place: Partial<ConversationFilter> = {};
      for (;;) {
        const { conversations, next } = await pages.page(connection.organizationId, {
          ...ALL,
          ...filter,
          ...place,
          limit: 2,
        });
        seen.push(...conversations.map(({ id }) => id));
        if (next === null) break;
        place = { before: next.at, beforeId: next.messageId };
      }
      expect(seen).toEqual(ids);
    }
  });
});

describe('closed and assignee', () => {
  it('filter, alone and together, few conversations and many', async () => {
    const connection = await newConnection();
    const ids: Record<string, string> = {};
    for (const name of ['a', 'b', 'c', 'd']) ids[name] = await contact(connection, name);
    const keep = (name: string, closed: boolean, assignee: string | null) =>
      test.database.execute('update conversation set closed = $2, assignee = $3 where id = $1', [
        ids[name],
        closed,
        assignee,
      ]);
    await keep('a', true, 'ana');
    await keep('b', false, 'ana');
    await keep('c', true, null);
    const person = newId();
    await test.database.execute('update conversation set assignee_id = $2 where id = $1', [ids.b, person]);
    const names = async (filter: Partial<ConversationFilter>) =>
      (await found(connection, filter)).map(({ contact: { name } }) => name).filter((name) => (name?.length ?? 0) < 2);
    const check = async () => {
      expect(await names({ closed: true })).toEqual(['c', 'a']);
      expect(await names({ closed: false })).toEqual(['d', 'b']);
      expect(await names({ assignee: 'ana' })).toEqual(['b', 'a']);
      expect(await names({ assignee: 'ana', closed: true })).toEqual(['a']);
      expect(await names({ assignee: 'Ana' })).toEqual([]);
      expect(await names({ assigneeId: person })).toEqual(['b']);
      expect(await names({ assigneeId: person, assignee: 'ana', closed: false })).toEqual(['b']);
      expect(await names({ assigneeId: person, closed: true })).toEqual([]);
      expect(await names({ assignee: 'ana', waiting: true, closed: false })).toEqual(['b']);
      expect(await names({ search: 'd', closed: true })).toEqual([]);
    };
    await check();
    // So many that pages of the journal are read.
    await test.database.execute(
      `insert into conversation (id, organization_id, connection_id, phone, closed, assignee, assignee_id)
       select gen_random_uuid(), $1, $2, (493000000000 + n)::text, true, 'ana', $3 from generate_series(1, 600) n`,
      [connection.organizationId, connection.id, person],
    );
    await check();
  });
});
