import { newId } from '../../src/common/ids.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { GraphClient } from './fixture.js';

let test: TestApp;
let client: GraphClient;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20, templateReviewMs: 20 } });
  client = new GraphClient(test, await test.sender());
});

afterAll(() => test?.stop());

const LINK = 'https://example.com/file';
const buttons = {
  type: 'button',
  body: { text: 'Shall we keep your table?' },
  action: { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] },
};
const list = {
  type: 'list',
  body: { text: 'When?' },
  action: { button: 'Open', sections: [{ title: 'A', rows: [{ id: 'r1', title: 'One' }] }] },
};
const link = {
  type: 'cta_url',
  body: { text: 'See' },
  action: { name: 'cta_url', parameters: { display_text: 'Open', url: LINK } },
};
const contacts = [{ name: { formatted_name: 'Ana Lima', first_name: 'Ana' }, phones: [{ phone: '+4930123' }] }];
const template = {
  name: 'order_update',
  language: { code: 'en_US', policy: 'deterministic' },
  components: [
    {
      type: 'body',
      parameters: [
        { type: 'text', text: 'Ana' },
        { type: 'text', text: '4711' },
      ],
    },
  ],
};

/** What the platform gets of each type is what the client gave, with what Herald fills in. */
const TYPES: Record<string, [string, unknown, unknown?]> = {
  text: ['text', { body: 'Hello', preview_url: true }],
  image: ['image', { link: LINK, caption: 'Look' }],
  video: ['video', { link: LINK }],
  audio: ['audio', { id: '1037543291543636', voice: true }],
  document: ['document', { link: LINK, filename: 'a.pdf', caption: 'Bill' }],
  sticker: ['sticker', { id: '1037543291543636' }],
  location: ['location', { latitude: '1.5', longitude: 2.5, name: 'Here' }, { latitude: 1.5, longitude: 2.5 }],
  contacts: ['contacts', contacts],
  buttons: ['interactive', buttons],
  list: ['interactive', list],
  'a link button': ['interactive', link],
  template: ['template', template],
};

describe('POST /graph/{version}/{phone_number_id}/messages', () => {
  it.each(Object.entries(TYPES))('sends %s, and answers in the shape of the platform', async (name, given) => {
    const [type, content, sent = content] = given;
    const to = await client.contact();
    const { status, body } = await client.send({ to: `+${to}`, type, [type]: content });
    expect([status, body]).toEqual([
      200,
      {
        messaging_product: 'whatsapp',
        contacts: [{ input: `+${to}`, wa_id: to }],
        messages: [
          {
            id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
            ...(name === 'template' && { message_status: 'accepted' }),
          },
        ],
      },
    ]);
    await client.reaches(body.messages?.[0]?.id ?? '', 'read');
    expect(client.takenBy(to)).toMatchObject({ type, [type]: sent });
  });

  it('takes a text without a type, a number with spaces or as a number, and fields that it does not know', async () => {
    const to = await client.contact();
    const spaced = `+${to.slice(0, 2)} (${to.slice(2, 4)}) ${to.slice(4, 6)}-${to.slice(6)}`;
    const { body } = await client.send({ to: spaced, text: { body: 'one' }, unheard_of: { x: 1 } });
    expect(body.contacts).toEqual([{ input: spaced, wa_id: to }]);
    const number = await client.send({ to: Number(to), text: { body: 'two' } });
    expect(number.body.contacts).toEqual([{ input: to, wa_id: to }]);
    await client.reaches(number.body.messages?.[0]?.id ?? '', 'read');
    expect(test.simulator.messages.list({ to }).map((each) => each.body)).toMatchObject([
      { text: { body: 'one' } },
      { text: { body: 'two' } },
    ]);
  });

  it('takes content as JSON text, as the platform does, and callback data as the text that it is', async () => {
    const to = await client.contact();
    const data = JSON.stringify({ order: 1 });
    const message = { to, type: 'contacts', contacts: JSON.stringify(contacts), biz_opaque_callback_data: data };
    expect(await client.reaches(await client.taken(message), 'read')).toMatchObject({
      content: { contacts },
      metadata: { biz_opaque_callback_data: data },
    });
    for (const [text, said] of [
      ['[{', 'contacts must be an array'],
      ['[{"name":{"formatted_name":"\\u0000"}}]', 'contacts must be an array'],
    ] as const) {
      const { status, body } = await client.send({ to, type: 'contacts', contacts: text });
      expect([status, body.error?.error_data.details]).toEqual([400, expect.stringContaining(said)]);
    }
  });

  it('takes any version, also at the root for clients in which only the host can be set', async () => {
    const to = await client.contact();
    for (const base of ['/graph/v13.0', '/v25.0']) {
      const other = new GraphClient(test, client.sender, base);
      const id = await other.taken({ to, text: { body: base } });
      expect(await client.reaches(id, 'read')).toMatchObject({ body: base });
    }
  });

  it('reaches a user id, which the answer repeats', async () => {
    const userId = `DE.${Date.now()}`;
    await test.factories.conversation({ connection: client.sender.connection, phone: null, userId });
    const { body } = await client.send({ recipient: userId, text: { body: 'Hello' } });
    expect(body.contacts).toEqual([{ input: userId, user_id: userId }]);
    await client.reaches(body.messages?.[0]?.id ?? '', 'read');
  });

  it('sends the same message as POST /messages: journal, window and rules are one', async () => {
    const to = await client.contact();
    const id = await client.taken({ to, type: 'text', text: { body: 'Hello' } });
    expect(await client.message(id)).toMatchObject({
      type: 'text',
      to,
      content: { body: 'Hello', preview_url: false },
    });
    const closed = await client.send({ to: testPhone(), text: { body: 'Hello' } });
    expect(closed.body.error).toMatchObject({ code: 131047, error_data: { herald_code: 'SERVICE_WINDOW_CLOSED' } });
    const optOut = { method: 'PUT', path: '/opt-outs', body: { to, category: 'all' } };
    expect((await client.sender.api.request(optOut)).status).toBe(200);
    const optedOut = await client.send({ to, text: { body: 'Again' } });
    expect(optedOut.body.error).toMatchObject({ code: 131050, error_data: { herald_code: 'RECIPIENT_OPTED_OUT' } });
  });
});

describe('context and reactions', () => {
  it('name a message by the id of Herald or of the platform, also one that was sent', async () => {
    const to = await client.contact();
    const { id, wamid } = await client.received(to);
    const own = await client.taken({ to, text: { body: 'first' } });
    const { meta_message_id: sentWamid } = await client.reaches(own, 'read');
    for (const [name, quoted] of [
      [id, wamid],
      [wamid, wamid],
      [own, sentWamid],
      [sentWamid as string, sentWamid],
    ] as const) {
      const reply = await client.taken({ to, text: { body: `to ${name}` }, context: { message_id: name } });
      await client.reaches(reply, 'read');
      expect(client.takenBy(to)).toMatchObject({ context: { message_id: quoted } });
    }
    const reaction = { message_id: wamid, emoji: '👍' };
    await client.reaches(await client.taken({ to, type: 'reaction', reaction }), 'read');
    expect(client.takenBy(to)).toMatchObject({ type: 'reaction', reaction });
  });

  it('refuse a message that the number does not have', async () => {
    const to = await client.contact();
    const stranger = new GraphClient(test, await test.sender());
    const { wamid } = await stranger.received(testPhone());
    for (const name of [wamid, 'wamid.none', newId()]) {
      const { status, body } = await client.send({ to, text: { body: 'x' }, context: { message_id: name } });
      expect([status, body.error?.error_data.details]).toEqual([400, expect.stringContaining('context.message_id')]);
      const reacted = await client.send({ to, type: 'reaction', reaction: { message_id: name, emoji: '👍' } });
      expect(reacted.body.error?.error_data.details).toContain('reaction.message_id');
    }
  });
});

describe('biz_opaque_callback_data', () => {
  it('is kept, and comes back with the message in the journal and in each event', async () => {
    expect((await client.sender.api.get('/events?after=now')).status).toBe(200);
    const to = await client.contact();
    const data = '{"order":4711}';
    const id = await client.taken({ to, text: { body: 'Hello' }, biz_opaque_callback_data: data });
    expect(await client.reaches(id, 'read')).toMatchObject({ metadata: { biz_opaque_callback_data: data } });
    interface Event {
      type: string;
      data: { message_id: string; status: string; metadata: unknown };
    }
    const events = await waitFor(
      async () => {
        const { data: all } = (await client.sender.api.get('/events?limit=250')).body as { data: Event[] };
        const own = all.filter((event) => event.data.message_id === id);
        return own.some((event) => event.data.status === 'read') ? own : null;
      },
      { what: 'the event that it was read' },
    );
    for (const event of events) expect(event.data.metadata).toEqual({ biz_opaque_callback_data: data });
  });
});

describe('mark as read', () => {
  it('reaches the platform, with a typing indicator where it is asked for', async () => {
    const { id, wamid } = await client.received(testPhone());
    const read = { messaging_product: 'whatsapp', status: 'read' };
    for (const name of [wamid, id]) {
      const answer = await client.post(`${client.number}/messages`, { ...read, message_id: name });
      expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    }
    expect(test.simulator.inboundLog.get(wamid)).toMatchObject({ reads: 1 });
    const typing = { ...read, message_id: wamid, typing_indicator: { type: 'text' } };
    expect((await client.post(`${client.number}/messages`, typing)).body).toEqual({ success: true });
    expect(test.simulator.inboundLog.get(wamid)).toMatchObject({ typingAt: expect.any(Number) as number });
  });

  it('refuses another status, and a message that was not received', async () => {
    const path = `${client.number}/messages`;
    const own = await client.taken({ to: await client.contact(), text: { body: 'Hello' } });
    for (const [change, detail] of [
      [{ status: 'delivered', message_id: own }, 'status must be read'],
      [{ status: 'read' }, 'message_id is missing'],
      [{ status: 'read', message_id: 'wamid.none' }, 'message_id names no message'],
      [{ status: 'read', message_id: own }, 'sent by you'],
    ] as const) {
      const { status, body } = await client.post(path, { messaging_product: 'whatsapp', ...change });
      expect([status, body.error?.error_data.details]).toEqual([400, expect.stringContaining(detail)]);
    }
  });
});
