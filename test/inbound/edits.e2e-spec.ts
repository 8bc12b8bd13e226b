import { newId } from '../../src/common/ids.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { testPhone, type ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { eventsOf, listenFor } from '../support/webhook-events.js';
import { changeOf, entries, envelope, notify, secondsNow } from './fixture.js';

let test: TestApp;
let sender: TestSender;
let connection: ConnectionRow;
let phone: string;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
});
afterAll(() => test.stop());
beforeEach(async () => {
  sender = await test.sender();
  ({ connection } = sender);
  phone = testPhone();
  await listenFor(test.database, sender.workspace.id);
});

type Shown = Record<string, unknown> & { id: string };
type Raw = Record<string, unknown> & { id: string };

const START = secondsNow() - 600;

function message(type: string, content: object, change: object = {}): Raw {
  const timestamp = String(START);
  return { from: phone, id: `wamid.${newId()}`, timestamp, type, [type]: content, ...change };
}
const said = (body: string, change: object = {}) => message('text', { body }, change);
const edit = (of: string, body: string, seconds: number, change: object = {}) =>
  message(
    'edit',
    { original_message_id: of, message: { type: 'text', text: { body } } },
    { timestamp: String(START + seconds), ...change },
  );
const revoke = (of: string, seconds: number, change: object = {}) =>
  message('revoke', { original_message_id: of }, { timestamp: String(START + seconds), ...change });
const isoOf = (seconds: number): string => new Date((START + seconds) * 1_000).toISOString();

const arrives = (...messages: Raw[]) => notify(test, envelope(connection, { messages }));

/** A message by its id at WhatsApp, from the list and alone, which say the same of its changes. */
async function shown({ id: metaId }: Raw): Promise<Shown> {
  const { body } = await sender.api.get(`/messages?meta_message_id=${encodeURIComponent(metaId)}`);
  const [listed, ...others] = body.data as Shown[];
  if (listed === undefined) throw new Error(`no message has ${metaId}`);
  expect(others).toEqual([]);
  const alone = await sender.api.get(`/messages/${listed.id}`);
  expect(alone.body.data).toMatchObject(listed);
  return listed;
}

async function eventOf(raw: Raw): Promise<{ message: Shown } & Record<string, unknown>> {
  const [event] = await eventsOf(test.database, (await shown(raw)).id);
  return event?.data as { message: Shown };
}

const CHANGES = ['edits_message_id', 'revokes_message_id', 'edited_at', 'revoked_at', 'current'];
const changesOf = (row: object) => Object.fromEntries(Object.entries(row).filter(([key]) => CHANGES.includes(key)));

describe("a customer's edit", () => {
  it('has the id of what it corrects, and that one what it says now beside what it said', async () => {
    const original = said('seven');
    const corrected = edit(original.id, 'eight', 60);
    await arrives(original);
    await arrives(corrected);
    const first = await shown(original);
    expect(first).toMatchObject({ type: 'text', body: 'seven', content: { body: 'seven' } });
    expect(changesOf(first)).toEqual({
      edited_at: isoOf(60),
      revoked_at: null,
      current: { body: 'eight', content: { body: 'eight' } },
    });
    const second = await shown(corrected);
    expect(second).toMatchObject({ type: 'edit', body: 'eight', content: corrected.edit });
    expect(changesOf(second)).toEqual({ edits_message_id: first.id });
    expect(changesOf((await eventOf(corrected)).message)).toEqual({ edits_message_id: first.id });
    expect(changesOf((await eventOf(original)).message)).toEqual({});
    const { body } = await sender.api.get(`/messages/${first.id}/timeline`);
    expect(body.data).toMatchObject([
      { event: 'edited', at: isoOf(60), source: 'whatsapp', summary: 'The customer edited it.' },
      { event: 'received' },
    ]);
  });

  it('in one notification with its message has the id too', async () => {
    const original = said('seven');
    const corrected = edit(original.id, 'eight', 60);
    await arrives(corrected, original);
    const { id } = await shown(original);
    expect((await eventOf(corrected)).message.edits_message_id).toBe(id);
    expect((await shown(original)).current).toMatchObject({ body: 'eight' });
  });

  it('that comes before its message has no id in its event; the event of the message says what it says by then', async () => {
    const original = said('seven');
    const corrected = edit(original.id, 'eight', 60);
    await arrives(corrected);
    expect(changesOf(await shown(corrected))).toEqual({ edits_message_id: null });
    expect(changesOf((await eventOf(corrected)).message)).toEqual({ edits_message_id: null });
    await arrives(original);
    const now = { edited_at: isoOf(60), revoked_at: null, current: { body: 'eight', content: { body: 'eight' } } };
    expect(changesOf(await shown(original))).toEqual(now);
    const event = await eventOf(original);
    expect(changesOf(event.message)).toEqual(now);
    expect(event).toMatchObject({ message: { body: 'seven' }, content: { body: 'seven' } });
    expect((await shown(corrected)).edits_message_id).toBe((await shown(original)).id);
  });

  it('that is the latest by the time of WhatsApp counts, whatever came last', async () => {
    const original = said('one');
    await arrives(original);
    await arrives(edit(original.id, 'three', 120));
    await arrives(edit(original.id, 'two', 60));
    expect(changesOf(await shown(original))).toMatchObject({ edited_at: isoOf(120), current: { body: 'three' } });
  });

  it('of a caption keeps the file, and no address of it', async () => {
    const sha256 = Buffer.alloc(32, 7).toString('base64');
    const image = { id: '1234', mime_type: 'image/jpeg', sha256, caption: 'old', url: 'https://lookaside.example/1' };
    const original = message('image', image);
    const corrected = message('edit', {
      original_message_id: original.id,
      message: { type: 'image', image: { ...image, caption: 'new' } },
    });
    await arrives(original);
    await arrives(corrected);
    const { url: _url, ...kept } = image;
    const content = { ...kept, sha256_hex: '07'.repeat(32) };
    expect(await shown(original)).toMatchObject({
      body: 'old',
      content,
      media_object_id: expect.any(String),
      current: { body: 'new', content: { ...content, caption: 'new' } },
    });
    expect(JSON.stringify(await shown(corrected))).not.toContain('lookaside');
  });

  it('of nothing that is known, or without a new message, is kept as it came', async () => {
    const broken = message('edit', { original_message_id: 'wamid.unknown', message: 'eight' });
    const empty = message('edit', {});
    await arrives(broken, empty);
    expect(await shown(broken)).toMatchObject({ body: null, content: broken.edit, edits_message_id: null });
    expect(await shown(empty)).toMatchObject({ body: null, content: {}, edits_message_id: null });
  });
});

describe("a customer's revoke", () => {
  it('has the id of what it withdraws; that one has no present text, and keeps what it said', async () => {
    const original = said('my card is 1234');
    const withdrawn = revoke(original.id, 30);
    await arrives(original);
    await arrives(withdrawn);
    const first = await shown(original);
    expect(first).toMatchObject({ body: 'my card is 1234', content: { body: 'my card is 1234' } });
    expect(changesOf(first)).toEqual({ edited_at: null, revoked_at: isoOf(30), current: null });
    expect(changesOf(await shown(withdrawn))).toEqual({ revokes_message_id: first.id });
    expect((await shown(withdrawn)).body).toBeNull();
    expect(changesOf((await eventOf(withdrawn)).message)).toEqual({ revokes_message_id: first.id });
    const { body } = await sender.api.get(`/messages/${first.id}/timeline`);
    expect(body.data).toMatchObject([{ event: 'revoked', at: isoOf(30) }, { event: 'received' }]);
  });

  it('holds, whatever edit comes before it or after it', async () => {
    for (const order of ['edit first', 'revoke first'] as const) {
      const original = said('one');
      const changes = [edit(original.id, 'two', 60), revoke(original.id, 90)];
      await arrives(original);
      for (const change of order === 'edit first' ? changes : changes.toReversed()) await arrives(change);
      expect(changesOf(await shown(original))).toEqual({
        edited_at: isoOf(60),
        revoked_at: isoOf(90),
        current: null,
      });
    }
  });
});

describe('an edit or a revoke', () => {
  it('touches no message of another customer, and none of ours', async () => {
    const original = said('mine');
    const ours = await test.factories.message({ connection, status: 'delivered', recipient: phone });
    await arrives(original);
    const other = { from: testPhone() };
    const foreign = [
      edit(original.id, 'yours', 60, other),
      revoke(original.id, 60, other),
      edit(ours.metaMessageId as string, 'ours', 60),
    ];
    await arrives(...foreign);
    expect(changesOf(await shown(original))).toEqual({});
    expect(changesOf((await sender.api.get(`/messages/${ours.id}`)).body.data)).toEqual({});
    for (const each of foreign) expect(Object.values(changesOf(await shown(each)))).toEqual([null]);
  });

  it('touches no message of another number, of the workspace or of another one', async () => {
    const original = said('mine');
    await arrives(original);
    const near = await test.factories.connection({ organizationId: sender.workspace.id });
    const { connection: far } = await test.sender();
    for (const to of [near, far]) await notify(test, envelope(to, { messages: [edit(original.id, 'theirs', 60)] }));
    expect(changesOf(await shown(original))).toEqual({});
  });

  it('of a customer who is known by another name since then is linked', async () => {
    const userId = `DE.${phone}`;
    const original = said('seven', { from: undefined, from_user_id: userId });
    await arrives(original);
    await arrives(said('hello', { from_user_id: userId }));
    const corrected = edit(original.id, 'eight', 60);
    await arrives(corrected);
    expect((await shown(corrected)).edits_message_id).toBe((await shown(original)).id);
    expect((await shown(original)).current).toMatchObject({ body: 'eight' });
  });

  it('in a group changes what its author said there', async () => {
    const group = { group_id: 'Y2FwaV9ncm91cDox' };
    const original = said('seven', group);
    const [corrected, foreign] = [
      edit(original.id, 'eight', 60, group),
      revoke(original.id, 60, { ...group, from: testPhone() }),
    ];
    await arrives(original);
    await arrives(corrected, foreign);
    expect(changesOf(await shown(original))).toMatchObject({ revoked_at: null, current: { body: 'eight' } });
  });

  it('in the app changes what the business wrote there', async () => {
    const echo = (content: Raw) => {
      const { from: _from, ...rest } = content;
      const { value } = changeOf(connection, { message_echoes: [{ ...rest, to: phone }] }) as { value: object };
      return notify(test, entries([{ id: connection.wabaId, changes: [{ field: 'smb_message_echoes', value }] }]));
    };
    const original = said('at seven');
    await echo(original);
    const corrected = edit(original.id, 'at eight', 60);
    await echo(corrected);
    expect((await shown(corrected)).edits_message_id).toBe((await shown(original)).id);
    expect(await shown(original)).toMatchObject({ source: 'app', body: 'at seven', current: { body: 'at eight' } });
    const { body } = await sender.api.get(`/messages/${(await shown(original)).id}/timeline`);
    expect(body.data.at(-1)).toMatchObject({ event: 'edited', summary: 'The business edited it.' });
  });

  it('of an erased contact is gone with all that it said', async () => {
    const original = said('violet');
    await arrives(original, edit(original.id, 'purple', 60));
    const { id } = await shown(original);
    await test.app.get(Erasure, { strict: false }).erase(sender.workspace.id, phone);
    const { data } = (await sender.api.get(`/messages/${id}`)).body;
    expect(changesOf(data)).toEqual({});
    await arrives(edit(original.id, 'indigo', 120));
    const all = await sender.api.get('/messages');
    expect(JSON.stringify(all.body)).not.toMatch(/violet|purple|indigo/);
    const left = await test.database.query('select from message where original_meta_id is not null and sender = $1', [
      phone,
    ]);
    expect(left).toEqual([]);
  });
});

describe('the journal by the id at WhatsApp', () => {
  const found = async (query: string): Promise<string[]> =>
    ((await sender.api.get(`/messages?${query}`)).body.data as Shown[]).map(({ id }) => id);

  it('finds what was received and what was sent, by an earlier attempt too, beside other filters', async () => {
    const original = said('hello');
    await arrives(original);
    const sent = await test.factories.message({ connection, status: 'delivered', recipient: phone });
    const { id } = await shown(original);
    expect(await found(`meta_message_id=${sent.metaMessageId}`)).toEqual([sent.id]);
    expect(await found(`meta_message_id=${sent.metaMessageId}&status=delivered&to=${phone}`)).toEqual([sent.id]);
    expect(await found(`meta_message_id=${sent.metaMessageId}&direction=inbound`)).toEqual([]);
    expect(await found(`meta_message_id=${original.id}&from=${phone}&connection_id=${connection.id}`)).toEqual([id]);
    expect(await found(`meta_message_id=${original.id}&status=failed`)).toEqual([]);
    expect(await found('meta_message_id=wamid.none')).toEqual([]);
  });

  it('finds nothing of another workspace, and refuses what is longer than an id', async () => {
    const original = said('hello');
    await arrives(original);
    const other = await test.sender();
    const { body } = await other.api.get(`/messages?meta_message_id=${original.id}`);
    expect(body.data).toEqual([]);
    const refused = await sender.api.get(`/messages?meta_message_id=${'w'.repeat(513)}`);
    expect([refused.status, refused.body.error.details?.[0]?.field]).toEqual([400, 'meta_message_id']);
  });
});
