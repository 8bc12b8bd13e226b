import { newId } from '../../src/common/ids.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { eventsOf, followedWorkspace, postNotification, sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});

afterAll(() => test?.stop());

beforeEach(async () => {
  workspace = await followedWorkspace(test);
});

interface Kept {
  id: string;
  assignee: string | null;
  assignee_id: string | null;
}

const codeOf = ({ status, body }: ApiResponse) => [status, body.error?.code];

const member = (name: string, { organizationId } = workspace) => test.factories.member({ organizationId, name });

async function conversation(phone = testPhone()): Promise<string> {
  return (await test.factories.conversation({ connection: workspace.connection, phone })).id;
}

const patch = (id: string, body: unknown, api: ApiClient = workspace.api) =>
  api.request({ method: 'PATCH', path: `/conversations/${id}`, body });

/** What the conversation keeps after the change. */
async function after(id: string, body: unknown): Promise<[string | null, string | null]> {
  const answer = await patch(id, body);
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  const { assignee, assignee_id: assigneeId } = answer.body.data as Kept;
  return [assignee, assigneeId];
}

const kept = async (id: string): Promise<[string | null, string | null]> => {
  const { assignee, assignee_id: assigneeId } = (await workspace.api.get(`/conversations/${id}`)).body.data as Kept;
  return [assignee, assigneeId];
};

const idsOf = async (query: string, api = workspace.api): Promise<string[]> =>
  ((await api.get(`/conversations${query}`)).body.data as Kept[]).map(({ id }) => id);

describe('GET /members', () => {
  it('lists the people of the workspace, newest first, with their names alone, in pages', async () => {
    const ids = [await member('Ana Lopez'), await member('Ben Ode'), await member('Cam Ito')].toReversed();
    const all = await workspace.api.get('/members');
    expect([all.status, all.body]).toEqual([
      200,
      {
        data: ids.map((id, index) => ({ id, name: ['Cam Ito', 'Ben Ode', 'Ana Lopez'][index] })),
        pagination: { next_before: null, next_before_id: null },
      },
    ]);
    const first = (await workspace.api.get('/members?limit=2')).body;
    const { next_before: before, next_before_id: beforeId } = first.pagination;
    const second = (await workspace.api.get(`/members?limit=2&before=${before}&before_id=${beforeId}`)).body;
    const pages = [first, second].map(({ data }) => (data as { id: string }[]).map(({ id }) => id));
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2)]);
    expect(codeOf(await workspace.api.get('/members?limit=101'))).toEqual([400, 'INVALID_REQUEST']);
  });

  it('has nobody of another workspace, and needs the scope messages:read', async () => {
    await member('Ana Lopez');
    const stranger = await sendingWorkspace(test);
    expect((await stranger.api.get('/members')).body.data).toEqual([]);
    const { organizationId } = workspace;
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['messages:write'] });
    expect(codeOf(await test.api.as(text).get('/members'))).toEqual([403, 'SCOPE_REQUIRED']);
  });
});

describe('assignee_id of a conversation', () => {
  it('sets the text to the name of the person, is in lists and events, and is found by', async () => {
    const [ana, ben] = [await member('Ana Lopez'), await member('Ben Ode')];
    const [id, other] = [await conversation(), await conversation()];
    expect(await after(id, { assignee_id: ana.toUpperCase() })).toEqual(['Ana Lopez', ana]);
    expect(await after(other, { assignee_id: ben })).toEqual(['Ben Ode', ben]);
    expect(await after(id, { assignee_id: ben })).toEqual(['Ben Ode', ben]);
    // Nothing changes: no event.
    expect(await after(id, { assignee_id: ben, closed: false })).toEqual(['Ben Ode', ben]);
    const events = await eventsOf(workspace, 3, 'conversation.updated');
    expect(events.map(({ data }) => data).filter(({ conversation_id: of }) => of === id)).toMatchObject([
      { assignee: 'Ana Lopez', assignee_id: ana, previous_assignee: null, previous_assignee_id: null },
      { assignee: 'Ben Ode', assignee_id: ben, previous_assignee: 'Ana Lopez', previous_assignee_id: ana },
    ]);
    // A list begins with a message.
    for (const each of [id, other]) {
      await test.factories.message({ connection: workspace.connection, conversationId: each, status: 'received' });
    }
    expect((await idsOf(`?assignee_id=${ben}`)).toSorted()).toEqual([id, other].toSorted());
    expect(await idsOf(`?assignee_id=${ana}`)).toEqual([]);
    expect(await idsOf(`?assignee_id=${ben}&closed=true`)).toEqual([]);
    expect(await idsOf(`?assignee_id=${ben}`, (await sendingWorkspace(test)).api)).toEqual([]);
  });

  it('agrees with the text: another text alone ends it, and it may have a text of its own', async () => {
    const ana = await member('Ana Lopez');
    const id = await conversation();
    expect(await after(id, { assignee_id: ana, assignee: 'Night shift' })).toEqual(['Night shift', ana]);
    expect(await after(id, { assignee_id: ana, assignee: 'Day shift' })).toEqual(['Day shift', ana]);
    expect(await after(id, { closed: true })).toEqual(['Day shift', ana]);
    expect(await after(id, { assignee: 'Day shift' })).toEqual(['Day shift', ana]);
    expect(await after(id, { assignee: 'ana@example.com' })).toEqual(['ana@example.com', null]);
    expect(await after(id, { assignee_id: null })).toEqual(['ana@example.com', null]);
    expect(await after(id, { assignee: null, assignee_id: ana })).toEqual(['Ana Lopez', ana]);
    expect(await after(id, { assignee_id: null })).toEqual([null, null]);
    await after(id, { assignee_id: ana });
    expect(await after(id, { assignee_id: null, assignee: 'Ben' })).toEqual(['Ben', null]);
    await after(id, { assignee_id: ana });
    expect(await after(id, { assignee: null })).toEqual([null, null]);
  });

  it('has at most 100 characters of a name', async () => {
    const long = await member(`${'x'.repeat(99)}🌸🌸`);
    expect(await after(await conversation(), { assignee_id: long })).toEqual([`${'x'.repeat(99)}🌸`, long]);
  });

  it('is a member of this workspace: foreign and unknown ids answer alike', async () => {
    const id = await conversation();
    const foreign = await member('Eve', await sendingWorkspace(test));
    const answers = [
      await patch(id, { assignee_id: foreign }),
      await patch(id, { assignee_id: newId() }),
      await patch(id, { assignee_id: newId(), assignee: 'Eve' }),
    ];
    expect(answers.map(codeOf)).toEqual(Array.from({ length: 3 }, () => [422, 'ASSIGNEE_NOT_MEMBER']));
    for (const { body } of answers) body.error.request_id = '';
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await kept(id)).toEqual([null, null]);
    const malformed = await patch(id, { assignee_id: 'ana' });
    expect([...codeOf(malformed), malformed.body.error.details?.[0]?.field]).toEqual([
      400,
      'INVALID_REQUEST',
      'assignee_id',
    ]);
    expect(codeOf(await workspace.api.get('/conversations?assignee_id=ana'))).toEqual([400, 'INVALID_REQUEST']);
  });

  it('stays where the person is no member any more, and can be found and changed, but not given again', async () => {
    const ana = await member('Ana Lopez');
    const id = await conversation();
    await test.factories.message({ connection: workspace.connection, conversationId: id, status: 'received' });
    await after(id, { assignee_id: ana });
    await test.database.execute('delete from membership where person_id = $1', [ana]);
    expect((await workspace.api.get('/members')).body.data).toEqual([]);
    expect(await kept(id)).toEqual(['Ana Lopez', ana]);
    expect(await idsOf(`?assignee_id=${ana}`)).toEqual([id]);
    expect(codeOf(await patch(await conversation(), { assignee_id: ana }))).toEqual([422, 'ASSIGNEE_NOT_MEMBER']);
    expect(await after(id, { assignee: null })).toEqual([null, null]);
  });

  it('ends with the text that a process of release 0.2 sets, which does not know it', async () => {
    const id = await conversation();
    const ana = await member('Ana Lopez');
    await after(id, { assignee_id: ana });
    const set = (closed: boolean, assignee: string | null) =>
      test.database.execute(
        'update conversation set closed = $3, assignee = $4 where organization_id = $1 and id = $2',
        [workspace.organizationId, id, closed, assignee],
      );
    await set(true, 'Ana Lopez');
    expect(await kept(id)).toEqual(['Ana Lopez', ana]);
    await set(true, 'Ben');
    expect(await kept(id)).toEqual(['Ben', null]);
  });

  it('goes with the text to the conversation that another one becomes part of', async () => {
    const [phone, userId, ana] = [testPhone(), `DE.${testPhone()}`, await member('Ana Lopez')];
    const { connection } = workspace;
    const older = await conversation(phone);
    const younger = (await test.factories.conversation({ connection, phone: null, userId })).id;
    await after(younger, { assignee_id: ana });
    const value = {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: connection.phoneNumber, phone_number_id: connection.phoneNumberId },
      contacts: [{ profile: { name: 'Kim' }, wa_id: phone, user_id: userId }],
      messages: [
        {
          from: phone,
          id: `wamid.${newId()}`,
          timestamp: `${Math.floor(Date.now() / 1_000)}`,
          type: 'text',
          text: { body: 'Hi' },
        },
      ],
    };
    expect(await postNotification(test, value, connection.wabaId)).toBe(200);
    const answer = (await workspace.api.get(`/conversations/${younger}`)).body.data as Kept;
    expect([answer.id, answer.assignee, answer.assignee_id]).toEqual([older, 'Ana Lopez', ana]);
  });
});
