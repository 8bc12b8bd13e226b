import { newId } from '../../src/common/ids.js';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { envelope, notify, secondsNow } from '../inbound/fixture.js';
import type { ApiResponse } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { approvedTemplate, templateBody } from './platform-templates.js';

let test: TestApp;
let workspace: SendingWorkspace;
let simulator: SimulatorClient;
let made = 0;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20, templateReviewMs: 20 } });
});
afterAll(() => test?.stop());
afterEach(() => test.simulator.applyFaults({ statuses: 'on' }));
beforeEach(async () => {
  workspace = await sendingWorkspace(test);
  simulator = new SimulatorClient(test.simulatorUrl ?? '', workspace.connection.phoneNumberId);
});

interface Person {
  phone: string;
  userId: string;
}
/** Nothing is sent through the number from now on. */
async function pause(): Promise<void> {
  await new LaneRepository(test.database).ensure(workspace.connection.id);
  await test.database.execute(`update lane set paused_until = now() + interval '1 hour' where key = $1`, [
    workspace.connection.id,
  ]);
}

/** The simulator knows the user id of the number, too. */
function person(): Person {
  const [phone, userId] = [testPhone(), `ES.${String(++made).padStart(9, '0')}1111`];
  test.simulator.people.learn(phone, { userId });
  return { phone, userId };
}
const post = (...messages: object[]) => notify(test, envelope(workspace.connection, { messages }));
// Before the file's start, not before each call: what a test says happened earlier is earlier, however long the test takes.
const STARTED_AT = secondsNow();
const at = (secondsAgo: number): string => String(STARTED_AT - secondsAgo);
const id = (): string => `wamid.${newId()}`;

const changedNumber = (old: Person, now: Person, change: object = {}, timestamp = at(50)): object => ({
  from: old.phone,
  from_user_id: old.userId,
  id: id(),
  timestamp,
  type: 'system',
  system: {
    body: `User A changed from ${old.phone} to ${now.phone}`,
    wa_id: now.phone,
    user_id: now.userId,
    previous_user_id: old.userId,
    parent_user_id: `ES.ENT.2${now.phone}`,
    previous_parent_user_id: `ES.ENT.1${old.phone}`,
    type: 'user_changed_number',
    ...change,
  },
});
const changedUserId = (old: Person, now: Person, change: object = {}): object => ({
  from_user_id: old.userId,
  id: id(),
  timestamp: at(50),
  type: 'system',
  system: {
    body: `User A changed from ${old.userId} to ${now.userId}`,
    user_id: now.userId,
    previous_user_id: old.userId,
    type: 'user_changed_user_id',
  },
  ...change,
});
const text = ({ phone, userId }: Person, timestamp = at(100)): object => ({
  from: phone,
  from_user_id: userId,
  id: id(),
  timestamp,
  type: 'text',
  text: { body: 'hi' },
});

interface Conversation {
  id: string;
  contact: { phone: string | null; user_id: string | null; previous: { phones: string[]; user_ids: string[] } };
  service_window_closes_at: string | null;
}
const conversations = async (query = ''): Promise<Conversation[]> =>
  (await workspace.api.get(`/conversations?${query}`)).body.data as Conversation[];
const only = async (): Promise<Conversation> => {
  const all = await conversations();
  expect(all).toHaveLength(1);
  return all[0] as Conversation;
};
const send = (to: string, body: object = {}): Promise<ApiResponse> =>
  workspace.send('', {
    body: { to: to.includes('.') ? undefined : to, recipient: to.includes('.') ? to : undefined, ...body },
  });
const sentTo = async (response: ApiResponse): Promise<Record<string, unknown>> => {
  expect(response.body).toMatchObject({ data: { id: expect.any(String) as string } });
  const { id: messageId } = response.body.data as { id: string };
  await workspace.reaches(messageId, 'accepted', 'sent', 'delivered', 'read');
  const bodies = test.simulator.messages.list().map(({ body }) => body as Record<string, unknown>);
  return bodies.find((body) => String(body.biz_opaque_callback_data).startsWith(messageId)) ?? {};
};

describe('a contact with another number', () => {
  it.each<[string, (old: Person, now: Person) => object[]]>([
    ['before the new number writes', (old, now) => [text(old), changedNumber(old, now), text(now, at(20))]],
    ['after the new number wrote', (old, now) => [text(old), text(now, at(20)), changedNumber(old, now)]],
    ['before anything else', (old, now) => [changedNumber(old, now), text(old), text(now, at(20))]],
    [
      'after all, where the new number came first',
      (old, now) => [text(now, at(20)), text(old), changedNumber(old, now)],
    ],
  ])('is one conversation where WhatsApp says so %s; repeats change nothing', async (_when, order) => {
    const [old, now] = [person(), person()];
    const messages = order(old, now);
    for (const each of [...messages, ...messages.toReversed()]) await post(each);
    const conversation = await only();
    expect(conversation.contact).toMatchObject({
      phone: now.phone,
      user_id: now.userId,
      previous: { phones: [old.phone], user_ids: [old.userId] },
    });
    const { body } = await workspace.api.get(`/messages?conversation_id=${conversation.id}`);
    expect(body.data).toHaveLength(3);
    for (const name of [`to=${old.phone}`, `to=${now.phone}`, `recipient=${old.userId}`]) {
      expect(await conversations(name)).toEqual([expect.objectContaining({ id: conversation.id })]);
    }
  });

  it('is reached by the names that are not valid any more, within the window of the old number', async () => {
    const [old, now] = [person(), person()];
    await post(text(old));
    await post(changedNumber(old, now));
    expect(await sentTo(await send(old.phone))).toMatchObject({ to: `+${now.phone}` });
    expect(await sentTo(await send(old.userId))).toMatchObject({ recipient: now.userId });
    await approvedTemplate(test, workspace, { name: 'news', components: [{ type: 'BODY', text: 'News.' }] });
    expect(await sentTo(await send(old.phone, templateBody('news')))).toMatchObject({ to: `+${now.phone}` });
    const { body } = await workspace.api.post('/messages/check', {
      connection_id: workspace.connection.id,
      to: old.phone,
      type: 'text',
      text: { body: 'x' },
    });
    expect(body.data).toMatchObject({ sendable: true, conversation_id: (await only()).id });
  });

  it('is reached in a batch too, strict or not, and by an answer', async () => {
    const [old, now] = [person(), person()];
    const question = text(old);
    await post(question);
    await post(changedNumber(old, now));
    for (const strict of [true, false]) {
      const { status, body } = await workspace.api.post('/messages/batch', {
        validation: strict ? 'strict' : 'permissive',
        messages: [old.phone, now.phone].map((to) => ({
          idempotency_key: newId(),
          connection_id: workspace.connection.id,
          to,
          type: 'text',
          text: { body: 'x' },
        })),
      });
      expect(status).toBeLessThan(300);
      expect(JSON.stringify(body)).not.toContain('error"');
    }
    const [received] = (await workspace.api.get('/messages?status=received&limit=100')).body.data.filter(
      (message: { type: string }) => message.type === 'text',
    ) as { id: string }[];
    expect(await sentTo(await send(old.phone, { reply_to_message_id: received?.id }))).toMatchObject({
      to: `+${now.phone}`,
      context: { message_id: (question as { id: string }).id },
    });
  });

  it('is refused where no new name is known, with those of before', async () => {
    const old = person();
    await approvedTemplate(test, workspace, { name: 'news', components: [{ type: 'BODY', text: 'News.' }] });
    await post(text(old));
    await post(changedNumber(old, old, { wa_id: undefined, user_id: undefined }));
    for (const to of [old.phone, old.userId]) {
      const { status, body } = await send(to);
      expect([status, body.error?.code]).toEqual([422, 'RECIPIENT_REPLACED']);
      expect((await send(to, templateBody('news'))).body.error?.code).toBe('RECIPIENT_REPLACED');
      expect(body.error).toMatchObject({
        contact: { previous: { phones: [old.phone], user_ids: [old.userId] } },
      });
    }
    // Another person has the number now.
    await post(text({ ...old, userId: person().userId }, at(10)));
    expect(await sentTo(await send(old.phone))).toMatchObject({ to: `+${old.phone}` });
    expect(await conversations()).toHaveLength(2);
  });

  it('gets what was waiting for the old one, in its order, scheduled messages and retries too', async () => {
    const [old, now] = [person(), person()];
    await post(text(old));
    const failed = (await send(old.phone)).body.data.id as string;
    await workspace.reaches(failed, 'sent', 'delivered', 'read');
    await pause();
    const ids: string[] = [];
    for (const to of [old.phone, old.userId, old.phone]) ids.push((await send(to)).body.data.id as string);
    const scheduled = await send(old.phone, { send_at: new Date(Date.now() + 3_600_000).toISOString() });
    await post(changedNumber(old, now));
    for (const each of ids) {
      const { data } = (await workspace.api.get(`/messages/${each}`)).body;
      expect([data.to, data.recipient]).toEqual(each === ids[1] ? [null, now.userId] : [now.phone, null]);
    }
    expect((await workspace.api.get(`/messages/${scheduled.body.data.id}`)).body.data.to).toBe(now.phone);
    const rows = await test.database.query<{ recipient: string; message_id: string }>(
      'select recipient, message_id from message_queue where connection_id = $1 and held_until is null order by seq',
      [workspace.connection.id],
    );
    expect(rows).toEqual(ids.map((each) => ({ recipient: now.phone, message_id: each })));
  });

  it('keeps the opt-out that was recorded for the old number', async () => {
    const [old, now] = [person(), person()];
    const put = (to: string) =>
      workspace.api.request({ method: 'PUT', path: '/opt-outs', body: { to, category: 'all' } });
    const { id: entry } = (await put(old.phone)).body.data as { id: string };
    await post(text(old));
    await post(changedNumber(old, now));
    for (const to of [old.phone, now.phone]) {
      expect((await send(to)).body.error?.code).toBe('RECIPIENT_OPTED_OUT');
    }
    expect((await put(now.phone)).body.data.id).toBe(entry);
  });

  it('is forgotten under all names', async () => {
    const [old, now] = [person(), person()];
    await post(text(old));
    await post(changedNumber(old, now));
    const erased = await test.app.get(Erasure).erase(workspace.organizationId, old.phone);
    expect(erased.counts).toMatchObject({ contacts: 1, messages: 2 });
    for (const table of ['conversation', 'conversation_alias', 'message']) {
      const rows = await test.database.query(`select * from ${table} where organization_id = $1`, [
        workspace.organizationId,
      ]);
      for (const name of [old.phone, old.userId, now.phone, now.userId]) {
        expect(JSON.stringify(rows)).not.toContain(name);
      }
    }
  });
});

describe('a contact with another user id', () => {
  it.each<[string, object]>([
    ['without the number', {}],
    ['with the number', { from: true }],
  ])('is the same contact (%s)', async (_what, given) => {
    const old = person();
    const now = { phone: old.phone, userId: person().userId };
    await post(text(old));
    await post(changedUserId(old, now, 'from' in given ? { from: old.phone } : {}));
    await post(text(now, at(20)));
    expect((await only()).contact).toMatchObject({
      phone: old.phone,
      user_id: now.userId,
      previous: { phones: [], user_ids: [old.userId] },
    });
    expect(await sentTo(await send(old.userId))).toMatchObject({ recipient: now.userId });
    expect(await sentTo(await send(old.phone))).toMatchObject({ to: `+${old.phone}` });
  });

  it('is known by the last of several changes, in any order', async () => {
    const [a, b, c] = [person(), person(), person()];
    const changes = [changedNumber(a, b, {}, at(40)), changedNumber(b, c, {}, at(30))];
    for (const each of [text(a), ...changes.toReversed()]) await post(each);
    expect((await only()).contact).toMatchObject({
      phone: c.phone,
      user_id: c.userId,
      previous: {
        phones: expect.arrayContaining([a.phone, b.phone]) as string[],
        user_ids: expect.arrayContaining([a.userId, b.userId]) as string[],
      },
    });
    // And goes back to the first number.
    const back = { phone: a.phone, userId: person().userId };
    await post(changedNumber(c, back, {}, at(20)));
    await post(changedNumber(a, b, {}, at(40)));
    expect((await only()).contact).toMatchObject({ phone: a.phone, user_id: back.userId });
    expect(await sentTo(await send(c.phone))).toMatchObject({ to: `+${a.phone}` });
  });
});

it('keys that changed are told as a message, and change no contact', async () => {
  const who = person();
  await post(text(who));
  for (const type of ['customer_identity_changed', 'user_identity_changed']) {
    await post({
      from: who.phone,
      id: id(),
      timestamp: at(10),
      type: 'system',
      system: { body: 't', type },
      identity: { acknowledged: false, created_timestamp: '1', hash: 'h' },
    });
  }
  expect((await only()).contact).toMatchObject({ phone: who.phone, user_id: who.userId });
});

describe('a request for the number', () => {
  it.each<[string, (card: object) => object]>([
    ['of the message', (card) => ({ contacts: [card], origin: 'contact_request' })],
    ['of the card', (card) => ({ contacts: [{ ...card, origin: 'contact_request' }] })],
  ])('joins number and user id by its answer (origin %s)', async (_where, answer) => {
    const who = person();
    await approvedTemplate(test, workspace, { name: 'hello', components: [{ type: 'BODY', text: 'Hello.' }] });
    // Written to by the number, heard from by the user id.
    test.simulator.applyFaults({ statuses: 'off' });
    await sentTo(await send(who.phone, templateBody('hello')));
    await post({ ...text(who), from: undefined });
    expect(await conversations()).toHaveLength(2);
    const asked = await send(who.userId, {
      text: undefined,
      type: 'interactive',
      interactive: {
        type: 'request_contact_info',
        body: { text: 'May we call you?' },
        action: { name: 'request_contact_info' },
      },
    });
    expect(await sentTo(asked)).toMatchObject({
      recipient: who.userId,
      interactive: { type: 'request_contact_info', action: { name: 'request_contact_info' } },
    });
    const card = { name: { formatted_name: 'A' }, phones: [{ phone: `+${who.phone}`, wa_id: who.phone }] };
    const message = { from_user_id: who.userId, id: id(), timestamp: at(5), type: 'contacts' };
    // Another person's card says nothing of the one who sent it.
    await post({ ...message, id: id(), contacts: [{ ...card, phones: [{ wa_id: testPhone() }] }] });
    expect(await conversations()).toHaveLength(2);
    await post({ ...message, ...answer(card) });
    expect((await only()).contact).toMatchObject({ phone: who.phone, user_id: who.userId });
  });
});

it('the simulator refuses the old user id, and Herald sends to the new one', async () => {
  const who = person();
  const next = testPhone();
  const { phoneNumberId } = workspace.connection;
  await simulator.control('POST', 'inbound', { phone_number_id: phoneNumberId, from: who.phone, user_id: who.userId });
  await waitFor(async () => (await conversations()).length === 1, { what: 'the conversation' });
  const { json } = await simulator.control('POST', 'identity', {
    phone_number_id: phoneNumberId,
    from: who.phone,
    new_from: next,
  });
  await waitFor(async () => (await conversations()).some(({ contact }) => contact.phone === next), {
    what: 'the new number',
  });
  expect((await simulator.send({ recipient: who.userId })).json.error?.code).toBe(131009);
  expect(await sentTo(await send(who.userId))).toMatchObject({ recipient: json.user_id });
});

const CHANGES = 16;

it('the conversations of a filled database are joined by many changes at once', async () => {
  const people = Array.from({ length: CHANGES }, () => ({ old: person(), now: person() }));
  await Promise.all(people.map(({ old }) => post(text(old))));
  await Promise.all(people.filter((_, index) => index % 2 === 0).map(({ now }) => post(text(now, at(20)))));
  await pause();
  const queued = await Promise.all(people.map(({ old }) => send(old.phone)));
  await Promise.all([
    ...people.map(({ old, now }) => post(changedNumber(old, now))),
    ...people.map(({ old }) => send(old.userId)),
    ...people.filter((_, index) => index % 3 === 0).map(({ now }) => post(text(now, at(10)))),
  ]);
  const all: Conversation[] = [];
  for (const { old, now } of people) {
    const found = await conversations(`to=${now.phone}`);
    expect(found).toEqual(await conversations(`to=${old.phone}`));
    expect(found).toHaveLength(1);
    all.push(...found);
  }
  expect(new Set(all.map((each) => each.id)).size).toBe(CHANGES);
  expect(all.map(({ contact }) => contact.phone)).toEqual(people.map(({ now }) => now.phone));
  expect(queued.map(({ status }) => status)).toEqual(people.map(() => 202));
  const numbers = people.map(({ now }) => now.phone);
  await waitFor(
    async () => {
      const rows = await test.database.query<{ recipient: string }>(
        'select recipient from message_queue where connection_id = $1',
        [workspace.connection.id],
      );
      return rows.length === 2 * CHANGES && rows.every(({ recipient }) => numbers.includes(recipient));
    },
    { what: 'all that waits to wait for the new numbers' },
  );
});
