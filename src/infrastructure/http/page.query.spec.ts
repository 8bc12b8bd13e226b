import type { AppError, ErrorDetail } from '../../common/app-error.js';
import { cursorOf, PageQuery } from './page.query.js';
import { RequestValidationPipe } from './validation.pipe.js';

const ID = '01936F70-4D5E-7A41-8B2C-6C7D8E9F0A1B';

async function read(query: Record<string, string>): Promise<PageQuery> {
  return (await new RequestValidationPipe().transform(query, { type: 'query', metatype: PageQuery })) as PageQuery;
}

async function violations(query: Record<string, string>): Promise<string[]> {
  try {
    await read(query);
    return [];
  } catch (error) {
    return ((error as AppError).extra.details as ErrorDetail[]).map(({ field, rule }) => `${field}: ${rule}`);
  }
}

describe('the page of a list', () => {
  it('begins behind a time, or behind a time with an id', async () => {
    expect(cursorOf(await read({}))).toEqual({ before: null, beforeId: null });
    expect(cursorOf(await read({ before: '2026-11-21T08:00:00.125Z', before_id: ID }))).toEqual({
      before: new Date('2026-11-21T08:00:00.125Z'),
      beforeId: ID.toLowerCase(),
    });
    expect(cursorOf(await read({ before: '2026-11-21T10:00:00+02:00' })).before).toEqual(
      new Date('2026-11-21T08:00:00Z'),
    );
  });

  it.each([
    ['a day', { before: '2026-11-21' }, ['before: format']],
    ['a time without its zone', { before: '2026-11-21T08:00:00' }, ['before: format']],
    ['a week', { before: '2026-W47-6T08:00:00Z' }, ['before: format']],
    ['a day that does not exist', { before: '2026-02-30T08:00:00Z' }, ['before: format']],
    ['an id alone', { before_id: ID }, ['before_id: requires_before']],
    ['no id', { before: '2026-11-21T08:00:00Z', before_id: '7' }, ['before_id: format']],
    [
      'nothing right',
      { before: 'now', before_id: 'x', limit: '0' },
      ['limit: range', 'before: format', 'before_id: format'],
    ],
  ])('is refused: %s', async (_what, given, expected) => {
    expect((await violations(given)).sort()).toEqual([...expected].sort());
  });

  it('says how to write the zone where a + was read as a space', async () => {
    await expect(read({ before: '2026-11-21T10:00:00 02:00' })).rejects.toEqual(
      expect.objectContaining({
        extra: { details: [expect.objectContaining({ message: expect.stringContaining('%2B') as string })] },
      }),
    );
  });
});
