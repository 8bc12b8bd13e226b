import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

const GROUP = { tag: 'spring-sale:2026_a.b', metadata: { customer: 'c-17', lang: 'pt' } };

const idOf = (body: { data: unknown }): string => (body.data as { id: string }).id;

describe('tag and metadata', () => {
  it('are in the message, in lists and null where they were not given', async () => {
    const to = await workspace.contact();
    const tagged = idOf((await workspace.send(to, { body: GROUP })).body);
    const plain = await workspace.sendText(to);
    expect(await workspace.message(tagged)).toMatchObject(GROUP);
    expect(await workspace.message(plain)).toMatchObject({ tag: null, metadata: null });
    const { body } = await workspace.api.get(`/messages?to=${to}`);
    expect(body.data).toMatchObject([
      { id: plain, tag: null, metadata: null },
      { id: tagged, ...GROUP, content: { body: 'hello' }, media_object_id: null, reply_to_message_id: null },
    ]);
  });

  it('are taken with each message of a batch', async () => {
    const message = async (fields: object) => ({
      idempotency_key: newId(),
      connection_id: workspace.connection.id,
      to: await workspace.contact(),
      body: 'Hello',
      ...fields,
    });
    const { body } = await workspace.api.post('/messages/batch', {
      messages: [await message(GROUP), await message({})],
    });
    const [first, second] = body.data as unknown as { id: string }[];
    expect(await workspace.message(first?.id ?? '')).toMatchObject(GROUP);
    expect(await workspace.message(second?.id ?? '')).toMatchObject({ tag: null, metadata: null });
  });

  it('belong to what an Idempotency-Key stands for', async () => {
    const to = await workspace.contact();
    const key = newId();
    const first = await workspace.send(to, { key, body: GROUP });
    const again = await workspace.send(to, { key, body: { ...GROUP, metadata: { lang: 'pt', customer: 'c-17' } } });
    expect(again.body).toEqual(first.body);
    for (const other of [{ ...GROUP, tag: 'other' }, { tag: GROUP.tag }, { ...GROUP, metadata: { lang: 'en' } }, {}]) {
      const { status, body } = await workspace.send(to, { key, body: other });
      expect([status, body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    }
  });

  it.each([
    ['tag', '', 'length|format'],
    ['tag', 'x'.repeat(65), 'length'],
    ['tag', 'spring sale', 'format'],
    ['tag', 5, 'type'],
    ['metadata', 'text', 'type'],
    ['metadata', Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, ''])), 'length'],
    ['metadata', { long: 'é'.repeat(1_024) }, 'length'],
    ['metadata.nested', { nested: {} }, 'type'],
  ])('422 for a %s that is %j', async (field, value, rule) => {
    const name = field.split('.')[0] ?? '';
    const { status, body } = await workspace.send(await workspace.contact(), { body: { [name]: value } });
    expect(status).toBe(422);
    expect(body.error.details).toMatchObject([{ field, rule: expect.stringMatching(rule) }]);
  });

  it('filter the journal by tag, alone and with other filters', async () => {
    const own = await sendingWorkspace(test);
    const [to, other] = [await own.contact(), await own.contact()];
    const ids: string[] = [];
    for (const recipient of [to, other, to]) {
      ids.push(idOf((await own.send(recipient, { body: { tag: 'a' } })).body));
    }
    const otherTag = idOf((await own.send(to, { body: { tag: 'b', client_message_id: 'mine' } })).body);
    await own.sendText(to);
    for (const id of [...ids, otherTag]) await own.reaches(id, 'read');
    const listed = async (query: string): Promise<string[]> => {
      const { body } = await own.api.get(`/messages?${query}`);
      return (body.data as unknown as { id: string }[]).map(({ id }) => id);
    };
    expect(await listed('tag=a')).toEqual(ids.toReversed());
    expect(await listed('tag=a&status=read')).toEqual(ids.toReversed());
    expect(await listed(`tag=a&to=${to}`)).toEqual([ids[2], ids[0]]);
    expect(await listed('tag=a&client_message_id=mine')).toEqual([]);
    expect(await listed('tag=b&client_message_id=mine')).toEqual([otherTag]);
    expect(await listed('tag=a&status=queued')).toEqual([]);
    expect(await listed(`tag=a&connection_id=${own.connection.id}&limit=2`)).toEqual([ids[2], ids[1]]);
    expect((await workspace.api.get('/messages?tag=a')).body.data).toEqual([]);
    expect((await own.api.get('/messages?tag=a%20b')).status).toBe(400);
  });
});
