import { NO_AUDIT } from '../../../test/support/no-audit.js';
import { randomBytes } from 'node:crypto';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../../common/ids.js';
import type { Config } from '../config/config.js';
import type { EncryptionKey } from '../config/encryption-keys.js';
import { SecretBox } from './secret-box.js';
import { SecretRotation, type SealedColumn } from './secret-rotation.js';

const first: EncryptionKey = { version: 1, key: randomBytes(32) };
const second: EncryptionKey = { version: 2, key: randomBytes(32) };
const boxOf = (encryptionKeyVersion: number | null, ...encryptionKeys: EncryptionKey[]): SecretBox =>
  new SecretBox({ security: { encryptionKeys, encryptionKeyVersion } } as unknown as Config);

const ROWS = 5;
const PLACE = 'thing_secret';
const COLUMN = {
  table: 'thing',
  column: 'sealed',
  place: (rowId: string, organizationId: string) => ({ table: PLACE, column: 'token', organizationId, rowId }),
} satisfies SealedColumn;

describe('SecretRotation', () => {
  let test: OpenTestDatabase;
  const organizationId = newId();
  const ids = Array.from({ length: ROWS }, () => newId());

  beforeAll(async () => {
    test = await openTestDatabase();
    await test.database.execute(
      'create table thing (id uuid primary key, organization_id uuid not null, sealed bytea)',
    );
  });
  afterAll(async () => test?.close());

  async function fill(box: SecretBox, rows: readonly string[]): Promise<void> {
    await test.database.execute('truncate thing');
    await test.database.execute('insert into thing select *, $2::uuid, null from unnest($1::uuid[])', [
      rows,
      organizationId,
    ]);
    await test.database.execute(
      `update thing set sealed = given.sealed from unnest($1::uuid[], $2::bytea[]) as given (id, sealed)
       where thing.id = given.id`,
      [rows, rows.map((id) => box.seal(`token of ${id}`, COLUMN.place(id, organizationId)))],
    );
  }

  async function openAll(box: SecretBox): Promise<number> {
    const rows = await test.database.query<{ id: string; sealed: Buffer }>('select id, sealed from thing');
    return rows.filter(({ id, sealed }) => box.open(sealed, COLUMN.place(id, organizationId)).endsWith(id)).length;
  }

  function rotationOf(box: SecretBox): SecretRotation {
    const rotation = new SecretRotation(test.database, box, NO_AUDIT);
    rotation.add(COLUMN);
    return rotation;
  }

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
