import { newId } from '../../src/common/ids.js';
import type { ApiResponse } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { eventsOf, followedWorkspace, sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});

afterAll(() => test?.stop());

beforeEach(async () => {
  workspace = await followedWorkspace(test);
});

const codeOf = ({ status, body }: ApiResponse) => [status, body.error?.code];

/** A customer sends a message; resolves once it is in the journal. */
async function writes(from: string, message: unknown): Promise<string> {
  const { api, connection } = workspace;
  const before = await idsFrom(from);
  const response = await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number_id: connection.phoneNumberId, from, profile_name: 'Ana Müller', message }),
  });
  expect(response.status).toBe(200);
  return waitFor(async () => (await idsFrom(from)).find((id) => !before.includes(id)), { what: 'the message' });

  async function idsFrom(phone: string): Promise<string[]> {
    return ((await api.get(`/messages?from=${phone}`)).body.data as { id: string }[]).map(({ id }) => id);
  }
}

async function conversationOf(messageId: string): Promise<string> {
  return (await workspace.message(messageId)).conversation_id as string;
}

const patch = (id: string, body: unknown, api = workspace.api) =>
  api.request({ method: 'PATCH', path: `/conversations/${id}`, body });

const idsOf = async (query: string, api = workspace.api): Promise<string[]> =>
  ((await api.get(`/conversations${query}`)).body.data as { id: string }[]).map(({ id }) => id);

describe('PATCH /conversations/{id}', () => {
  it('keeps who looks after it and whether it is closed; each change is one event', async () => {
    const phone = testPhone();
    const id = await conversationOf(await writes(phone, 'Hello'));
    const assigned = await patch(id, { assignee: 'ana@example.com' });
    expect([assigned.status, assigned.body.data]).toEqual([
      200,
      (await workspace.api.get(`/conversations/${id}`)).body.data,
    ]);
    expect(assigned.body.data).toMatchObject({ id, closed: false, assignee: 'ana@example.com', unread_count: 1 });
    // Nothing changes: no event.
    expect((await patch(id, { assignee: 'ana@example.com', closed: false })).status).toBe(200);
    expect((await patch(id, { closed: true })).body.data).toMatchObject({ closed: true, assignee: 'ana@example.com' });
    expect((await patch(id, { assignee: null })).body.data).toMatchObject({ closed: true, assignee: null });
    const events = await eventsOf(workspace, 3, 'conversation.updated');
    const about = { conversation_id: id, connection_id: workspace.connection.id, cause: 'request' };
    expect(events.map(({ data }) => data)).toEqual(
      [
        { closed: false, assignee: 'ana@example.com', previous_closed: false, previous_assignee: null },
        { closed: true, assignee: 'ana@example.com', previous_closed: false, previous_assignee: 'ana@example.com' },
        { closed: true, assignee: null, previous_closed: true, previous_assignee: 'ana@example.com' },
      ].map((change) => ({
        ...about,
        ...change,
        assignee_id: null,
        previous_assignee_id: null,
        contact: { phone, user_id: expect.any(String) as string, name: 'Ana Müller' },
        occurred_at: expect.any(String) as string,
      })),
    );
  });

  it('opens by the next message of the customer, not by a reaction', async () => {
    const phone = testPhone();
    const first = await writes(phone, 'Hello');
    const id = await conversationOf(first);
    await patch(id, { closed: true, assignee: 'Ben' });
    const { meta_message_id: named } = await workspace.message(first);
    await writes(phone, { type: 'reaction', reaction: { message_id: named, emoji: '👍' } });
    expect((await workspace.api.get(`/conversations/${id}`)).body.data).toMatchObject({ closed: true });
    expect(await idsOf('?waiting=true&closed=false')).toEqual([]);
    await writes(phone, 'One more thing');
    expect((await workspace.api.get(`/conversations/${id}`)).body.data).toMatchObject({
      closed: false,
      assignee: 'Ben',
    });
    expect(await idsOf('?waiting=true&closed=false')).toEqual([id]);
    const [, event, ...more] = await eventsOf(workspace, 2, 'conversation.updated');
    expect(more).toEqual([]);
    expect(event?.data).toMatchObject({
      conversation_id: id,
      closed: false,
      previous_closed: true,
      assignee: 'Ben',
      previous_assignee: 'Ben',
      cause: 'message',
    });
  });

  it('opens also where it is closed while the message is being stored', async () => {
    const phone = testPhone();
    const id = await conversationOf(await writes(phone, 'Hello'));
    for (let round = 0; round < 5; round++) {
      await Promise.all([writes(phone, `Message ${round}`), patch(id, { closed: true })]);
      const { closed } = (await workspace.api.get(`/conversations/${id}`)).body.data;
      // Either came last: the message opened it, or it was closed afterwards. The events end with the same state.
      const events = await waitFor(async () => {
        const all = await eventsOf(workspace, 0, 'conversation.updated');
        return all.at(-1)?.data.closed === closed && all;
      });
      const states = events.map(({ data }) => [data.previous_closed, data.closed]);
      expect(states).toEqual(states.map((_, index) => (index % 2 === 0 ? [false, true] : [true, false])));
      await patch(id, { closed: false });
    }
  });

  it('needs a field, of a fitting type; texts up to 100 characters', async () => {
    const id = await conversationOf(await writes(testPhone(), 'Hello'));
    for (const [body, field] of [
      [{}, ''],
      [{ closed: null }, 'closed'],
      [{ closed: 'yes' }, 'closed'],
      [{ assignee: '' }, 'assignee'],
      [{ assignee: ' ' }, 'assignee'],
      [{ assignee: 7 }, 'assignee'],
      [{ assignee: 'x'.repeat(101) }, 'assignee'],
      [{ asignee: 'x' }, 'asignee'],
    ] as const) {
      const answer = await patch(id, body);
      expect([codeOf(answer), answer.body.error.details?.[0]?.field]).toEqual([[400, 'INVALID_REQUEST'], field]);
    }
    expect((await patch(id, { assignee: '🌸'.repeat(50) })).status).toBe(200);
    expect(codeOf(await workspace.api.get('/conversations?search=%20'))).toEqual([400, 'INVALID_REQUEST']);
  });

  it('404 for another workspace; a key without messages:read learns only what it wrote', async () => {
    const id = await conversationOf(await writes(testPhone(), 'Hello'));
    const stranger = await sendingWorkspace(test);
    for (const answer of [
      await patch(id, { closed: true }, stranger.api),
      await patch(newId(), { closed: true }),
      await patch('x', { closed: true }),
    ]) {
      expect(codeOf(answer)).toEqual([404, 'CONVERSATION_NOT_FOUND']);
    }
    const { organizationId } = workspace;
    const [writer, reader] = [
      await test.factories.apiKey({ organizationId, scopes: ['messages:write'] }),
      await test.factories.apiKey({ organizationId, scopes: ['messages:read'] }),
    ];
    expect((await patch(id, { assignee: 'Ana' }, test.api.as(writer.text))).body).toEqual({
      data: { id, closed: false, assignee: 'Ana', assignee_id: null },
    });
    expect((await patch(id, { assignee: 'Ben' }, test.api.as(reader.text))).status).toBe(403);
  });
});

describe('GET /conversations for an inbox', () => {
  it('waiting: until you answer; a template to a stranger is none; search finds by name and number', async () => {
    const phone = testPhone();
    const id = await conversationOf(await writes(phone, 'Hello'));
    const { api } = workspace;
    expect(await idsOf('?waiting=true')).toEqual([id]);
    expect(await idsOf('?waiting=true&assignee=ana')).toEqual([]);
    for (const search of ['ana', 'MULL', phone.slice(-6), `%2B${phone.slice(0, 5)}`]) {
      expect([search, await idsOf(`?search=${search}`)]).toEqual([search, [id]]);
    }
    const sent = await workspace.send(phone);
    expect(sent.status).toBe(202);
    expect(await idsOf('?waiting=true')).toEqual([]);
    expect(await idsOf('?waiting=false')).toEqual([id]);
    for (const query of ['waiting=1', 'closed=no', 'assignee=', 'search=', `search=${'x'.repeat(101)}`]) {
      expect(codeOf(await api.get(`/conversations?${query}`))).toEqual([400, 'INVALID_REQUEST']);
    }
  });
});

describe('conversation_id in place of number and recipient', () => {
  const sendIn = (body: Record<string, unknown>, key = newId(), api = workspace.api) =>
    api.post('/messages', { type: 'text', text: { body: 'Yes' }, ...body }, { headers: { 'idempotency-key': key } });

  it('goes to the contact, by the number of the conversation; a repeat is the same message', async () => {
    const phone = testPhone();
    const id = await conversationOf(await writes(phone, 'Hello'));
    const key = newId();
    const first = await sendIn({ conversation_id: id }, key);
    expect([first.status, first.body.error]).toEqual([202, undefined]);
    const message = await workspace.message(first.body.data.id as string);
    expect(message).toMatchObject({ to: phone, conversation_id: id, connection_id: workspace.connection.id });
    expect((await sendIn({ conversation_id: id.toUpperCase() }, key)).body.data.id).toBe(first.body.data.id);
    // What a key means is the request as it was sent.
    const other = { connection_id: workspace.connection.id, to: phone };
    expect(codeOf(await sendIn(other, key))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    // A repeat is answered also where the contact was erased since.
    await test.database.execute(
      'update conversation set phone = null, wa_id = null, user_id = null, profile_name = null where id = $1',
      [id],
    );
    expect((await sendIn({ conversation_id: id }, key)).body.data.id).toBe(first.body.data.id);
    expect(codeOf(await sendIn({ conversation_id: id }))).toEqual([422, 'CONVERSATION_NOT_FOUND']);
  });

  it('reaches a contact who is known by a user id only', async () => {
    const { id } = await test.factories.conversation({
      connection: workspace.connection,
      phone: null,
      waId: null,
      userId: 'DE.1795',
    });
    const { status, body } = await sendIn({ conversation_id: id });
    expect([status, body.error]).toEqual([202, undefined]);
    expect(await workspace.message(body.data.id as string)).toMatchObject({ recipient: 'DE.1795', to: null });
  });

  it('stands in a batch and in a check, with the same errors', async () => {
    const phone = testPhone();
    const id = await conversationOf(await writes(phone, 'Hello'));
    const { api } = workspace;
    const text = { type: 'text', text: { body: 'Yes' } };
    const messages = [id, newId()].map((conversation) => ({
      idempotency_key: newId(),
      conversation_id: conversation,
      ...text,
    }));
    const batch = await api.post('/messages/batch', { messages, validation: 'permissive' });
    expect(batch.body).toMatchObject({
      data: [{ index: 0 }],
      errors: [{ index: 1, code: 'CONVERSATION_NOT_FOUND' }],
    });
    const check = (conversation: string) => api.post('/messages/check', { conversation_id: conversation, ...text });
    expect((await check(id)).body.data).toMatchObject({ sendable: true, problems: [], conversation_id: id });
    expect((await check(newId())).body.data).toMatchObject({
      sendable: false,
      problems: [{ code: 'CONVERSATION_NOT_FOUND' }],
      conversation_id: null,
    });
  });

  it('422 for what stands beside it, for what is no id, and for a conversation of another workspace', async () => {
    const phone = testPhone();
    const id = await conversationOf(await writes(phone, 'Hello'));
    for (const beside of [{ connection_id: workspace.connection.id }, { to: phone }, { recipient: 'DE.1795' }]) {
      const [field] = Object.keys(beside);
      const answer = await sendIn({ conversation_id: id, ...beside });
      expect([codeOf(answer), answer.body.error.details]).toEqual([
        [422, 'VALIDATION_FAILED'],
        [
          {
            field,
            rule: 'excluded',
            message: `Leave ${field} out: conversation_id stands in its place.`,
          },
        ],
      ]);
    }
    const malformed = await sendIn({ conversation_id: 'x' });
    expect([codeOf(malformed), malformed.body.error.details?.map(({ field }) => field)]).toEqual([
      [422, 'VALIDATION_FAILED'],
      ['conversation_id'],
    ]);
    const none = await sendIn({});
    expect(none.body.error.details?.map(({ field }) => field)).toEqual(['connection_id', 'to']);
    const stranger = await sendingWorkspace(test);
    expect(codeOf(await sendIn({ conversation_id: id }, newId(), stranger.api))).toEqual([
      422,
      'CONVERSATION_NOT_FOUND',
    ]);
  });
});
