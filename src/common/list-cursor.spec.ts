import { cursorFaults, readCursor } from './list-cursor.js';

const ID = '01936F70-4D5E-7A41-8B2C-6C7D8E9F0A1B';

describe('the cursor of a list', () => {
  it('is a time, and a time with an id', () => {
    expect(readCursor({})).toEqual({ before: null, beforeId: null });
    expect(readCursor({ before: '2026-11-21T08:00:00.125Z', before_id: ID })).toEqual({
      before: new Date('2026-11-21T08:00:00.125Z'),
      beforeId: ID.toLowerCase(),
    });
    expect(readCursor({ before: '2026-11-21T10:00:00+02:00' }).before).toEqual(new Date('2026-11-21T08:00:00Z'));
  });

  it.each([
    ['a day', { before: '2026-11-21' }, ['before: format']],
    ['a time without its zone', { before: '2026-11-21T08:00:00' }, ['before: format']],
    ['a week', { before: '2026-W47-6T08:00:00Z' }, ['before: format']],
    ['a day that does not exist', { before: '2026-02-30T08:00:00Z' }, ['before: format']],
    ['an id alone', { before_id: ID }, ['before_id: requires_before']],
    ['no id', { before: '2026-11-21T08:00:00Z', before_id: '7' }, ['before_id: format']],
    ['nothing right', { before: 'now', before_id: 'x' }, ['before: format', 'before_id: format']],
  ])('is refused: %s', (_what, given, faults) => {
    expect(cursorFaults(given).map(({ field, rule }) => `${field}: ${rule}`)).toEqual(faults);
    expect(() => readCursor(given)).toThrow();
  });
});
