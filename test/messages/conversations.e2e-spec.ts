import { newId } from '../../src/common/ids.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test?.stop());

interface Conversation {
  id: string;
  connection_id: string;
  contact: { phone: string | null; user_id: string | null; name: string | null };
  last_message: { id: string; direction: string; body: string; conversation_id: string } | null;
  last_inbound_at: string | null;
  service_window_closes_at: string | null;
  unread_count: number;
  created_at: string;
  updated_at: string;
}

/** A customer writes; resolves once the message is in the journal. */
async function writes(from: string, words: string, { api, connection } = workspace): Promise<string> {
  const response = await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number_id: connection.phoneNumberId, from, message: words }),
  });
  expect(response.status).toBe(200);
  return waitFor(
    async () => {
      const { data } = (await api.get(`/messages?from=${from}`)).body;
      return (data as { id: string; body: string }[]).find((message) => message.body === words)?.id;
    },
    { what: 'the message in the journal' },
  );
}

async function list(query = '', api: ApiClient = workspace.api): Promise<Conversation[]> {
  const { status, body } = await api.get(`/conversations${query}`);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data as Conversation[];
}

const codeOf = ({ status, body }: ApiResponse) => [status, body.error?.code];

describe('GET /conversations', () => {
  it('is empty at first', async () => {
    const { api } = await sendingWorkspace(test);
    const { body } = await api.get('/conversations');
    expect(body).toEqual({ data: [], pagination: { next_before: null, next_before_id: null } });
  });

  it('follows a chat: what was said last is first, unread until it is marked as read', async () => {
    const world = await sendingWorkspace(test);
    const [ana, ben] = [testPhone(), testPhone()];
    const first = await writes(ana, 'Are you open?', world);
    await writes(ben, 'One table, please', world);
    const second = await writes(ana, 'Hello?', world);
    const [of, other, ...more] = await list('', world.api);
    if (of === undefined || other === undefined) throw new Error('conversations are missing');
    expect(more).toEqual([]);
    const listed = (await world.api.get(`/messages?conversation_id=${of.id}`)).body.data as object[];
    const detail = await world.message(second);
    expect(of).toEqual({
      id: detail.conversation_id,
      connection_id: world.connection.id,
      contact: { phone: ana, user_id: expect.any(String) as string, name: expect.any(String) as string },
      last_message: listed[0],
      last_inbound_at: expect.any(String) as string,
      service_window_closes_at: new Date(Date.parse(of.last_inbound_at ?? '') + 24 * 3_600_000).toISOString(),
      unread_count: 2,
      owner: 'you',
      owner_role: null,
      closed: false,
      assignee: null,
      assignee_id: null,
      created_at: expect.any(String) as string,
      updated_at: detail.created_at,
    });
    expect(of.last_message).toMatchObject({ id: second, direction: 'inbound', body: 'Hello?' });
    expect(other).toMatchObject({ contact: { phone: ben }, unread_count: 1 });

    // An answer moves the other conversation to the front, and marks nothing as read.
    const answer = await world.sendText(`+${ben}`);
    await world.reaches(answer, 'read');
    const [front] = await list('?limit=1', world.api);
    expect(front).toMatchObject({ id: other.id, unread_count: 1, last_message: { id: answer, direction: 'outbound' } });

    for (const [id, left] of [
      [first, 1],
      [second, 0],
    ] as const) {
      expect((await world.api.post(`/messages/${id}/read`)).status).toBe(200);
      expect((await world.api.get(`/conversations/${of.id}`)).body.data).toMatchObject({ unread_count: left });
      const unread = (await list('?unread=true', world.api)).map(({ id: listedId }) => listedId);
      expect(unread).toEqual(left === 0 ? [other.id] : [other.id, of.id]);
      expect(await list('?unread=true&limit=1', world.api)).toMatchObject([{ id: other.id }]);
    }
    expect((await world.api.get('/conversations?unread=yes')).status).toBe(400);
  });

  it('turns pages: each conversation once, also while others move to the front', async () => {
    const world = await sendingWorkspace(test);
    const phones = Array.from({ length: 7 }, () => testPhone());
    for (const phone of phones) await writes(phone, `Hello from ${phone}`, world);
    const seen: (string | null)[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await world.api.get(`/conversations?limit=3${cursor}`);
      seen.push(...(body.data as Conversation[]).map(({ contact }) => contact.phone));
      const { next_before: before, next_before_id: id } = body.pagination;
      if (before === null) break;
      cursor = `&before=${encodeURIComponent(before)}&before_id=${id}`;
      if (seen.length === 3) await writes(seen[0] ?? '', 'Me again', world);
    }
    expect(seen).toEqual(phones.toReversed());
  });

  it('is filtered by number, by contact and by user id, each alone and together', async () => {
    const phone = testPhone();
    await writes(phone, 'For the filter');
    const [found, ...more] = await list(`?to=%2B${phone}`);
    expect(more).toEqual([]);
    if (found === undefined) throw new Error('the conversation is missing');
    const userId = found.contact.user_id ?? '';
    for (const query of [
      `?to=${phone}`,
      `?recipient=${userId}`,
      `?to=${phone}&recipient=${userId}&connection_id=${workspace.connection.id.toUpperCase()}`,
    ]) {
      expect(await list(query)).toEqual([found]);
    }
    expect((await list(`?connection_id=${workspace.connection.id}`)).map(({ id }) => id)).toContain(found.id);
    expect(await list(`?to=${testPhone()}`)).toEqual([]);
    expect(await list('?recipient=DE.1795')).toEqual([]);
  });

  it.each([
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
    ['to=12', 'to'],
    ['recipient=nobody', 'recipient'],
    ['connection_id=x', 'connection_id'],
    ['before=yesterday', 'before'],
    [`before_id=${newId()}`, 'before_id'],
    ['status=open', 'status'],
  ])('400 for %s, naming the field', async (query, field) => {
    const answer = await workspace.api.get(`/conversations?${query}`);
    expect(codeOf(answer)).toEqual([400, 'INVALID_REQUEST']);
    expect((answer.body.error.details ?? []).map((detail) => detail.field)).toEqual([field]);
  });
});

describe('GET /conversations/{id}', () => {
  it('answers a window that is closed, and one that never was open', async () => {
    const { connection, api } = workspace;
    const lastInboundAt = new Date(Date.now() - 25 * 3_600_000);
    const closed = await test.factories.conversation({ connection, lastInboundAt });
    const never = await test.factories.conversation({ connection, lastInboundAt: null });
    const read = async (id: string) => (await api.get(`/conversations/${id}`)).body.data as Conversation;
    expect(await read(closed.id)).toMatchObject({
      last_inbound_at: lastInboundAt.toISOString(),
      service_window_closes_at: new Date(lastInboundAt.getTime() + 24 * 3_600_000).toISOString(),
    });
    const { created_at: made, ...rest } = await read(never.id);
    expect(rest).toMatchObject({
      last_message: null,
      last_inbound_at: null,
      service_window_closes_at: null,
      unread_count: 0,
      updated_at: made,
    });
  });

  it('404 for another workspace’s conversation as for an unknown one and for none', async () => {
    const phone = testPhone();
    await writes(phone, 'Private');
    const [own] = await list(`?to=${phone}`);
    const stranger = await sendingWorkspace(test);
    const answers = [
      await stranger.api.get(`/conversations/${own?.id}`),
      await stranger.api.get(`/conversations/${newId()}`),
      await stranger.api.get('/conversations/1'),
    ];
    for (const { body } of answers) body.error.request_id = '';
    expect(answers.map(codeOf)).toEqual(Array.from({ length: 3 }, () => [404, 'CONVERSATION_NOT_FOUND']));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await list('', stranger.api)).toEqual([]);
    expect(await list(`?to=${phone}`, stranger.api)).toEqual([]);
    const foreign = await stranger.api.get(`/conversations?connection_id=${workspace.connection.id}`);
    expect(codeOf(foreign)).toEqual([404, 'CONNECTION_NOT_FOUND']);
  });

  it('needs the scope messages:read', async () => {
    const { text } = await test.factories.apiKey({
      organizationId: workspace.organizationId,
      scopes: ['messages:write'],
    });
    for (const path of ['/conversations', `/conversations/${newId()}`]) {
      expect(codeOf(await test.api.as(text).get(path))).toEqual([403, 'SCOPE_REQUIRED']);
    }
  });
});
