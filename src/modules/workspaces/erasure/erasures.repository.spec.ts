import { FIRST_ID, newId } from '../../../common/ids.js';
import { Factories } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { ErasuresRepository } from './erasures.repository.js';

let opened: OpenTestDatabase;
let erasures: ErasuresRepository;

beforeAll(async () => {
  opened = await openTestDatabase();
  erasures = new ErasuresRepository(opened.database);
});
afterAll(() => opened?.close());
beforeEach(() => opened.database.execute('delete from erasure'));

const workspace = async () => (await new Factories(opened.database).workspace()).id;
const begin = async (organizationId: string, number: string, conversationIds: string[] = []) =>
  (await erasures.begin({ organizationId, numbers: [number], userIds: [], conversationIds })).id;
const makeDue = () => opened.database.execute(`update erasure set due_at = clock_timestamp() - interval '1 second'`);

it('workspaces take turns, however many people one of them erases', async () => {
  const [greedy, other] = [await workspace(), await workspace()].sort() as [string, string];
  for (let n = 0; n < 20; n++) await begin(greedy, `15550${n}`);
  await begin(other, '1555');
  await makeDue();
  const served: string[] = [];
  for (let last = FIRST_ID; served.length < 4;) {
    const due = await erasures.takeDue(last);
    last = due?.organizationId ?? '';
    served.push(last);
    // Its turn is over before all was erased.
    await erasures.putOff(due?.id ?? '', 0);
  }
  expect(served).toEqual([greedy, other, greedy, other]);
});

it('a process works on an erasure alone, and one without a worker is taken again', async () => {
  const organizationId = await workspace();
  const id = await begin(organizationId, '15550001');
  expect(await erasures.takeDue(FIRST_ID)).toBeNull();
  await makeDue();
  expect(await erasures.takeDue(FIRST_ID)).toMatchObject({ id, numbers: ['15550001'] });
  expect(await erasures.takeDue(FIRST_ID)).toBeNull();
  await erasures.putOff(id, 0);
  expect(await erasures.takeDue(FIRST_ID)).toMatchObject({ id });
  expect([await erasures.end(id), await erasures.end(id)]).toEqual([true, false]);
});

it('a command that is run again goes on with the erasure of the person, and with no other', async () => {
  const [organizationId, foreign] = [await workspace(), await workspace()];
  const conversation = newId();
  const id = await begin(organizationId, '15550002', [conversation]);
  expect(await begin(organizationId, '15550002')).toBe(id);
  expect(await begin(organizationId, '15550003', [conversation])).toBe(id);
  expect(await begin(organizationId, '15550004')).not.toBe(id);
  expect(await begin(foreign, '15550002')).not.toBe(id);
  const again = { organizationId, numbers: ['15550005'], userIds: [], conversationIds: [] };
  expect([await erasures.begin(again), await erasures.begin(again)]).toMatchObject([{ isNew: true }, { isNew: false }]);
});

it('knows erased people of the workspace by any name, in both spellings, and whether they are back', async () => {
  const factories = new Factories(opened.database);
  const [organizationId, foreign] = [await workspace(), await workspace()];
  const connection = await factories.connection({ organizationId });
  const person = { organizationId, connectionId: connection.id };
  const subject = { organizationId, numbers: ['5511987654321'], userIds: ['BR.1'], conversationIds: [] };
  await erasures.widen({ ...subject, id: (await erasures.begin(subject)).id });
  const find = async (...names: (string | null)[]) =>
    (await erasures.findErased([{ ...person, names }], opened.database))[0];
  expect(await find('5511987654321')).toMatchObject({ isBack: false });
  expect(await find(null, 'BR.1')).toMatchObject({ isBack: false });
  expect(await find('551187654321', null)).toMatchObject({ isBack: false });
  expect(await find('5511987654322', 'BR.2')).toBeNull();
  expect(await find(null)).toBeNull();
  const elsewhere = { organizationId: foreign, connectionId: connection.id, names: ['BR.1'] };
  expect(await erasures.findErased([elsewhere, { ...person, names: ['BR.1'] }], opened.database)).toEqual([
    null,
    expect.objectContaining({ isBack: false }),
  ]);
  await factories.conversation({ connection, phone: '5511987654321' });
  expect(await find('551187654321', 'BR.1')).toMatchObject({ isBack: true });
});
