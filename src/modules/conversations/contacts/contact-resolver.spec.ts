import fc from 'fast-check';
import { ContactResolver, type BookChanges, type ConversationRecord } from './contact-resolver.js';
import type { ContactObservation } from '../conversations.types.js';

const CONNECTION = 'connection-1';
let made = 0;

function row(change: Partial<ConversationRecord>): ConversationRecord {
  made++;
  return {
    id: `row-${String(made).padStart(6, '0')}`,
    organizationId: 'organization-1',
    connectionId: CONNECTION,
    phone: null,
    waId: null,
    userId: null,
    profileName: null,
    lastInboundAt: null,
    standbyAt: null,
    handoverAt: null,
    handoverTo: null,
    handoverRole: null,
    closed: false,
    assignee: null,
    assigneeId: null,
    mergedInto: null,
    createdAt: new Date(1_000 + made),
    ...change,
  };
}

function bookOf(...rows: ConversationRecord[]): ContactResolver {
  return new ContactResolver(rows, () => {
    made++;
    return `row-${String(made).padStart(6, '0')}`;
  });
}

function see(book: ContactResolver, observation: Partial<ContactObservation>): string | undefined {
  return book.see({ organizationId: 'organization-1', connectionId: CONNECTION, ...observation })?.id();
}

const NOTHING: BookChanges = { created: [], merged: [], identified: [], touched: [], released: [] };

describe('an observation of an unknown contact', () => {
  it('makes a row with what was named; a number that the platform named finds callers too', () => {
    const book = bookOf();
    const id = see(book, { waId: '5511988887777', userId: 'BR.1', profileName: 'Ana' });
    expect(book.changes().created).toEqual([
      expect.objectContaining({
        id,
        phone: '5511988887777',
        waId: '5511988887777',
        userId: 'BR.1',
        profileName: 'Ana',
      }),
    ]);
    expect(see(book, { phone: '5511988887777' })).toBe(id);
  });

  it('makes no second row for the same contact in the same batch', () => {
    const book = bookOf();
    const ids = [see(book, { phone: '1' }), see(book, { phone: '1' }), see(book, { waId: '1' })];
    expect(new Set(ids).size).toBe(1);
    expect(book.changes().created).toHaveLength(1);
  });

  it('names no contact where it has no identity', () => {
    const book = bookOf();
    expect(see(book, {})).toBeUndefined();
    expect(book.changes()).toEqual(NOTHING);
  });

  it('keeps connections apart', () => {
    const book = bookOf(row({ phone: '1' }));
    see(book, { connectionId: 'connection-2', phone: '1' });
    expect(book.changes().created).toHaveLength(1);
  });
});

describe('an observation of a conversation without any name', () => {
  const named = { waId: '1', userId: 'US.1' };

  it('names no person where its contact was erased, itself or the one that it was merged into', () => {
    const erased = row({});
    const merged = row({ mergedInto: erased.id });
    const book = bookOf(erased, merged);
    for (const { id } of [erased, merged]) expect(see(book, { ...named, conversationId: id })).toBeUndefined();
    expect(book.changes()).toEqual(NOTHING);
  });

  it('names it where its contact had other names before, and the new ones were not known', () => {
    const known = row({ previous: [{ name: '2', at: 1 }] });
    const book = bookOf(known);
    expect(see(book, { ...named, conversationId: known.id })).toBe(known.id);
    expect(book.changes().identified).toMatchObject([named]);
  });
});

describe('an observation of a known contact', () => {
  it('changes nothing where nothing is new', () => {
    const known = row({ phone: '1', waId: '1', userId: 'U', profileName: 'Ana', lastInboundAt: new Date(5_000) });
    const book = bookOf(known);
    expect(see(book, { waId: '1', userId: 'U', profileName: 'Ana', inboundAt: new Date(4_000) })).toBe(known.id);
    expect(book.changes()).toEqual(NOTHING);
  });

  it('adds the platform’s number to the row that a caller’s number made', () => {
    const known = row({ phone: '1' });
    const book = bookOf(known);
    expect(see(book, { waId: '1', userId: 'U' })).toBe(known.id);
    expect(book.changes().identified).toEqual([{ ...known, waId: '1', userId: 'U' }]);
  });

  it('does not take a number for a contact whose platform number is another one', () => {
    const known = row({ phone: '1', waId: '2' });
    const book = bookOf(known);
    expect(see(book, { waId: '1' })).not.toBe(known.id);
    expect(book.changes().created).toEqual([expect.objectContaining({ phone: null, waId: '1' })]);
  });

  it('matches by user id first: a contact with a new number stays the same contact', () => {
    const known = row({ phone: '1', waId: '1', userId: 'U' });
    const book = bookOf(known);
    expect(see(book, { waId: '2', userId: 'U' })).toBe(known.id);
    expect(book.changes()).toMatchObject({ identified: [{ waId: '2' }], released: [known.id] });
  });

  it('moves the window forward only, and takes the newest name', () => {
    const known = row({ phone: '1', lastInboundAt: new Date(5_000), profileName: 'Ana' });
    const book = bookOf(known);
    see(book, { phone: '1', inboundAt: new Date(9_000) });
    see(book, { phone: '1', inboundAt: new Date(7_000), profileName: 'Anna' });
    expect(book.changes().touched).toEqual([{ ...known, lastInboundAt: new Date(9_000), profileName: 'Anna' }]);
  });

  it('leads from a row that was merged before to its survivor', () => {
    const survivor = row({ phone: '1' });
    const gone = row({ mergedInto: survivor.id });
    const book = bookOf(gone, survivor);
    expect(see(book, { conversationId: gone.id, userId: 'U' })).toBe(survivor.id);
    expect(book.changes().identified).toEqual([{ ...survivor, userId: 'U' }]);
  });
});

describe('a observation that names two rows', () => {
  it('keeps the older one, which takes over what it lacks', () => {
    const older = row({ phone: '1', lastInboundAt: new Date(1_000) });
    const younger = row({ userId: 'U', profileName: 'Ana', lastInboundAt: new Date(8_000) });
    const book = bookOf(younger, older);
    expect(see(book, { waId: '1', userId: 'U' })).toBe(older.id);
    expect(book.changes()).toEqual({
      ...NOTHING,
      merged: [{ id: younger.id, into: older.id }],
      identified: [{ ...older, waId: '1', userId: 'U', profileName: 'Ana', lastInboundAt: new Date(8_000) }],
      released: [younger.id],
    });
  });

  it('keeps the caller’s spelling beside the platform’s, whichever row is older (Brazil, Mexico)', () => {
    for (const customerWroteFirst of [true, false]) {
      const rows = [row({ phone: '551188887777', waId: '551188887777' }), row({ phone: '5511988887777' })];
      if (!customerWroteFirst) rows.forEach((each, index) => (each.createdAt = new Date(10 - index)));
      const book = bookOf(...rows);
      const sent = rows[1] as ConversationRecord;
      const id = see(book, { conversationId: sent.id, waId: '551188887777' });
      expect(book.find(id ?? '')).toMatchObject({ phone: '5511988887777', waId: '551188887777' });
      expect(see(book, { phone: '551188887777' })).toBe(id);
      expect(see(book, { phone: '5511988887777' })).toBe(id);
    }
  });

  it('points a chain of merges in one batch to the last survivor', () => {
    const [a, b, c] = [row({ userId: 'U' }), row({ waId: '1' }), row({ phone: '2' })] as const;
    const book = bookOf(a, b, c);
    see(book, { conversationId: c.id, waId: '1' });
    see(book, { waId: '1', userId: 'U' });
    expect(new Set(book.changes().merged.map((merge) => `${merge.id} ${merge.into}`))).toEqual(
      new Set([`${b.id} ${a.id}`, `${c.id} ${a.id}`]),
    );
    expect(book.find(c.id)?.id).toBe(a.id);
  });

  it('writes no row that was made and merged in the same batch', () => {
    const older = row({ userId: 'U' });
    const book = bookOf(older);
    const first = book.see({ organizationId: 'o', connectionId: CONNECTION, waId: '1' });
    expect(see(book, { waId: '1', userId: 'U' })).toBe(older.id);
    expect(first?.id()).toBe(older.id);
    expect(book.changes()).toMatchObject({ created: [], merged: [], identified: [{ phone: '1', waId: '1' }] });
  });
});

describe('any observations', () => {
  const value = fc.option(fc.constantFrom('1', '2', '3', '4'), { nil: null });
  const observations = fc.array(
    fc.record({ phone: value, waId: value, userId: value, inboundAt: fc.option(fc.date({ noInvalidDate: true })) }),
    { maxLength: 30 },
  );
  const IDENTITIES = ['phone', 'waId', 'userId'] as const;

  it('leave each identity with one row, and lead to the row that has what was named', () => {
    fc.assert(
      fc.property(observations, (list) => {
        const book = bookOf();
        for (const named of list) {
          const id = see(book, named);
          if (id === undefined) continue;
          const found = book.find(id);
          if (named.waId !== null) expect(found?.waId).toBe(named.waId);
          if (named.userId !== null) expect(found?.userId).toBe(named.userId);
        }
        const { created } = book.changes();
        for (const identity of IDENTITIES) {
          const taken = created.map((each) => each[identity]).filter((each) => each !== null);
          expect(new Set(taken).size).toBe(taken.length);
        }
      }),
    );
  });

  it('come to the same in one batch as in many', () => {
    fc.assert(
      fc.property(observations, (list) => {
        const together = bookOf();
        for (const named of list) see(together, named);
        let stored: ConversationRecord[] = [];
        for (const named of list) {
          const book = bookOf(...stored);
          see(book, named);
          stored = applied(stored, book.changes());
        }
        const shapeOf = (rows: ConversationRecord[]) =>
          rows
            .filter((each) => each.mergedInto === null)
            .map(({ phone, waId, userId, lastInboundAt }) => JSON.stringify({ phone, waId, userId, lastInboundAt }))
            .sort();
        expect(shapeOf(stored)).toEqual(shapeOf(together.changes().created));
      }),
    );
  });
});

/** What the statements make of the rows. */
function applied(rows: ConversationRecord[], changes: BookChanges): ConversationRecord[] {
  const changed = new Map([...changes.identified, ...changes.touched].map((each) => [each.id, each]));
  const into = new Map(changes.merged.map((merge) => [merge.id, merge.into]));
  const kept = rows.map((each): ConversationRecord => {
    const target = into.get(each.id) ?? into.get(each.mergedInto ?? '');
    const released = changes.released.includes(each.id) ? { phone: null, waId: null, userId: null } : {};
    return { ...each, ...released, ...changed.get(each.id), ...(target === undefined ? {} : { mergedInto: target }) };
  });
  const created = changes.created.map((each) => {
    made++;
    return { ...each, createdAt: new Date(1_000 + made) };
  });
  return [...kept, ...created];
}
