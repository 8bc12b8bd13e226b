import {
  first,
  second,
  boxOf,
  test,
  fill,
  openAll,
  rotationOf,
} from '../../../test/support/fixtures/secret-rotation.js';
import { randomBytes } from 'node:crypto';
import { newId } from '../../common/ids.js';
import type { EncryptionKey } from '../config/encryption-keys.js';

const ROWS = 5;
const ids = Array.from({ length: ROWS }, () => newId());

describe('SecretRotation', () => {
  it('says of which versions some secret opens, and of which none', async () => {
    const wrong: EncryptionKey = { version: 1, key: randomBytes(32) };
    await fill(boxOf(1, first, second), ids.slice(0, 5));
    await test.database.execute('update thing set sealed = $2 where id = $1', [ids[0], Buffer.from('damaged bytes')]);
    const [{ sealed } = { sealed: Buffer.alloc(0) }] = await test.database.query<{ sealed: Buffer }>(
      'select sealed from thing where id = $1',
      [ids[1]],
    );
    await test.database.execute('update thing set sealed = $2 where id = $1', [
      ids[1],
      Buffer.concat([sealed.subarray(0, -1), Buffer.from([(sealed.at(-1) ?? 0) ^ 1])]),
    ]);
    // The first four bytes of what is damaged are a version of their own.
    const damaged = Buffer.from('dama').readUInt32BE(0);
    expect(await rotationOf(boxOf(null, first)).proveKeys()).toEqual({ opened: [1], closed: [damaged] });
    expect(await rotationOf(boxOf(null, wrong)).proveKeys()).toEqual({ opened: [], closed: [1, damaged] });
    expect(await rotationOf(boxOf(null, second)).proveKeys()).toEqual({ opened: [], closed: [1, damaged] });
    await test.database.execute('truncate thing');
    expect(await rotationOf(boxOf(null, wrong)).proveKeys()).toEqual({ opened: [], closed: [] });
  });

  it('replaces the key, once', async () => {
    await fill(boxOf(null, first), ids);
    const rotation = rotationOf(boxOf(null, first, second));
    expect(await rotation.rotate()).toEqual([{ table: 'thing', resealed: ROWS, unreadable: 0 }]);
    expect(await openAll(boxOf(null, second))).toBe(ROWS);
    expect(await rotation.rotate()).toEqual([{ table: 'thing', resealed: 0, unreadable: 0 }]);
  });

  it('counts what no key opens, and leaves it as it is', async () => {
    const lost = boxOf(null, { version: 9, key: randomBytes(32) });
    await fill(lost, ids.slice(0, 3));
    const rotation = rotationOf(boxOf(null, first, second));
    expect(await rotation.rotate()).toEqual([{ table: 'thing', resealed: 0, unreadable: 3 }]);
    expect(await openAll(lost)).toBe(3);
  });
});
