import {
  first,
  second,
  boxOf,
  COLUMN,
  test,
  organizationId,
  fill,
  openAll,
  rotationOf,
} from '../../../test/support/fixtures/secret-rotation.js';
import { newId } from '../../common/ids.js';

const ROWS = 10_000;
const ids = Array.from({ length: ROWS }, () => newId());

describe('SecretRotation', () => {
  it('replaces the key of 10,000 secrets while they are read and written, and not one fails to open', async () => {
    // What every process has once the new key is everywhere: both decrypt, the old one still encrypts in some.
    const reader = boxOf(1, first, second);
    await fill(boxOf(null, first), ids);
    let rotating = true;
    let opened = 0;
    const failed: unknown[] = [];
    const readers = Array.from({ length: 2 }, async (_none, turn) => {
      for (let index = turn; rotating; index = (index + 7) % ROWS) {
        const id = ids[index] ?? '';
        const [row] = await test.database.query<{ sealed: Buffer }>('select sealed from thing where id = $1', [id]);
        try {
          reader.open(row?.sealed ?? Buffer.alloc(0), COLUMN.place(id, organizationId));
          opened++;
        } catch (error) {
          failed.push(error);
        }
      }
    });
    const fresh = new Map<string, string>();
    const writer = (async () => {
      for (let index = 0; rotating; index = (index + 101) % ROWS) {
        const id = ids[index] ?? '';
        const token = `newer token of ${id}`;
        await test.database.execute('update thing set sealed = $2 where id = $1', [
          id,
          reader.seal(token, COLUMN.place(id, organizationId)),
        ]);
        fresh.set(id, token);
      }
    })();
    const rotation = rotationOf(boxOf(null, first, second));
    let result;
    try {
      [result] = await rotation.rotate();
    } finally {
      rotating = false;
      await Promise.allSettled([...readers, writer]);
    }
    await Promise.all([...readers, writer]);
    expect(failed).toEqual([]);
    expect(opened).toBeGreaterThan(0);
    expect(result?.unreadable).toBe(0);

    // What was written meanwhile under the old key is left for the second run, and never written over.
    const [again] = await rotation.rotate();
    expect((result?.resealed ?? 0) + (again?.resealed ?? 0)).toBeGreaterThanOrEqual(ROWS);
    const alone = boxOf(null, second);
    expect(await openAll(alone)).toBe(ROWS);
    const rows = await test.database.query<{ id: string; sealed: Buffer }>('select id, sealed from thing');
    const now = new Map(rows.map(({ id, sealed }) => [id, alone.open(sealed, COLUMN.place(id, organizationId))]));
    expect([...fresh].filter(([id, token]) => now.get(id) !== token)).toEqual([]);
    expect(await rotation.rotate()).toEqual([{ table: 'thing', resealed: 0, unreadable: 0 }]);
  });
});
