import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { testPhone } from '../support/factories.js';
import { MESSAGE_EXAMPLES } from '../../src/modules/messages/dto/message-examples.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { VARIANT_CASES } from './variant-cases.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

/** What the platform gets, beside `messaging_product`, `recipient_type`, `to` and our callback data. */
const PLATFORM_BODIES: Record<string, Record<string, unknown>> = {
  text: {
    type: 'text',
    text: { body: 'Your table for two is ready: https://example.com/r/4711', preview_url: true },
  },
  reply: { type: 'text', text: { body: 'Yes, until ten.', preview_url: false } },
  legacy_text: { type: 'text', text: { body: 'Your table for two is ready.', preview_url: false } },
  image: { type: 'image', image: { link: 'https://example.com/menu.jpg', caption: 'Menu of the day' } },
  video: { type: 'video', video: { link: 'https://example.com/tour.mp4', caption: 'A look around' } },
  voice: { type: 'audio', audio: { id: '1037543291543636', voice: true } },
  document: {
    type: 'document',
    document: { link: 'https://example.com/invoice.pdf', filename: 'invoice-4711.pdf', caption: 'Your invoice' },
  },
  sticker: { type: 'sticker', sticker: { id: '1037543291543636' } },
  template: { type: 'template', template: MESSAGE_EXAMPLES.template?.value.template },
  buttons: { type: 'interactive', interactive: MESSAGE_EXAMPLES.buttons?.value.interactive },
  list: { type: 'interactive', interactive: MESSAGE_EXAMPLES.list?.value.interactive },
  ...Object.fromEntries(
    [
      'cta_url',
      'flow',
      'location_request',
      'contact_request',
      'product',
      'product_list',
      'catalog',
      'carousel',
      'address_request',
    ].map((name) => [name, { type: 'interactive', interactive: MESSAGE_EXAMPLES[name]?.value.interactive }]),
  ),
  location: { type: 'location', location: MESSAGE_EXAMPLES.location?.value.location },
  contacts: { type: 'contacts', contacts: MESSAGE_EXAMPLES.contacts?.value.contacts },
  reaction: { type: 'reaction' },
};

/** Those of files in templates are in test/messages/media.e2e-spec.ts, and need a file of ours. */
const ELSEWHERE = new Set(['user_id', 'template_image', 'template_document']);

const JOURNAL_BODIES: Record<string, string | null> = {
  text: 'Your table for two is ready: https://example.com/r/4711',
  reply: 'Yes, until ten.',
  legacy_text: 'Your table for two is ready.',
  image: 'Menu of the day',
  video: 'A look around',
  voice: null,
  document: 'Your invoice',
  sticker: null,
  template: 'Hello Ana, your order 4711 is on its way.',
  buttons: 'Shall we keep your table?',
  list: 'When would you like to come?',
  cta_url: 'The menu for tonight is here.',
  flow: 'Choose day and time.',
  location_request: 'Where shall we deliver?',
  contact_request: 'May we call you about your order?',
  product: 'This is the coffee you asked for.',
  product_list: 'Freshly roasted this week.',
  catalog: 'All that we have, delivered tomorrow.',
  carousel: 'Two tables are free tonight.',
  address_request: 'Where shall we send your order?',
  location: 'Lighthouse Coffee',
  contacts: 'Ana Lima',
  reaction: '👍',
};

describe('each variant reaches the platform as its reference has it, and is read', () => {
  // What goes to a user id is in user-ids.e2e-spec.ts.
  it.each(Object.keys(MESSAGE_EXAMPLES).filter((name) => !ELSEWHERE.has(name)))('%s', async (name) => {
    const to = await workspace.contact();
    const { reply_to_message_id: repliesTo, ...example } = MESSAGE_EXAMPLES[name]?.value ?? {};
    const places: Record<string, unknown> = { connection_id: workspace.connection.id, to };
    let quoted: string | undefined;
    if (repliesTo !== undefined) {
      const earlier = await workspace.sendText(to);
      quoted = (await workspace.reaches(earlier, 'read')).meta_message_id as string;
      places.reply_to_message_id = earlier;
    }
    const response = await workspace.send(to, { body: { text: undefined, type: undefined, ...example, ...places } });
    expect([response.status, response.body.error]).toEqual([202, undefined]);
    const message = await workspace.reaches(response.body.data.id as string, 'read');
    expect(message.body).toBe(JOURNAL_BODIES[name]);

    const taken = test.simulator.messages.list({ to }).at(-1)?.body as Record<string, unknown>;
    const { biz_opaque_callback_data: callback, ...sent } = taken;
    expect(callback).toMatch(/^[0-9a-f-]{36}\.[0-9a-f-]{36}$/);
    expect(sent).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: `+${to}`,
      ...PLATFORM_BODIES[name],
      ...(name === 'reply' ? { context: { message_id: quoted } } : {}),
      ...(name === 'reaction' ? { reaction: { message_id: quoted, emoji: '👍' } } : {}),
    });
  });

  it('a reaction is taken back with an empty emoji', async () => {
    const to = await workspace.contact();
    const earlier = await workspace.sendText(to);
    await workspace.reaches(earlier, 'read');
    const response = await workspace.send(to, {
      body: { type: 'reaction', text: undefined, reply_to_message_id: earlier, reaction: { emoji: '' } },
    });
    expect(response.status).toBe(202);
    await workspace.reaches(response.body.data.id as string, 'read');
    expect(test.simulator.messages.list({ to }).at(-1)?.body).toMatchObject({ reaction: { emoji: '' } });
  });
});

describe('media', () => {
  it.each(['image', 'video', 'audio', 'document', 'sticker'])(
    'with a filename and a voice is sent as %s with what the platform has a place for, and kept as it was given',
    async (type) => {
      const to = await workspace.contact();
      const media = { id: '1037543291543636', filename: 'a.bin', voice: true };
      const response = await workspace.send(to, { body: { type, text: undefined, media } });
      expect([response.status, response.body.error]).toEqual([202, undefined]);
      const message = await workspace.reaches(response.body.data.id as string, 'read');
      expect(message.content).toEqual(media);
      const taken = test.simulator.messages.list({ to }).at(-1)?.body as Record<string, unknown>;
      expect(taken[type]).toEqual({
        id: media.id,
        ...(type === 'document' && { filename: media.filename }),
        ...(type === 'audio' && { voice: true }),
      });
    },
  );
});

describe('an interactive message', () => {
  it.each([
    ['an empty action', {}],
    ['too many buttons', { buttons: ['a', 'b', 'c', 'd'].map((id) => ({ type: 'reply', reply: { id, title: id } })) }],
  ])('with %s is taken, and fails as invalid_content where the platform refuses it', async (_name, action) => {
    const to = await workspace.contact();
    const interactive = { type: 'button', body: { text: 'Choose' }, action };
    const key = newId();
    const body = { type: 'interactive', text: undefined, interactive };
    const response = await workspace.send(to, { body, key });
    expect([response.status, response.body.error]).toEqual([202, undefined]);
    const id = response.body.data.id as string;
    expect(await workspace.reaches(id, 'failed')).toMatchObject({
      failure_category: 'invalid_content',
      content: interactive,
      attempt_count: 1,
    });
    expect((await workspace.send(to, { body, key })).body.data).toEqual({ id, status: 'queued' });
  });
});

describe('a reaction', () => {
  it('to a message that the platform does not know fails as invalid_content', async () => {
    const to = await workspace.contact();
    const [conversation] = await test.database.query<{ id: string }>(
      'select id from conversation where connection_id = $1 and phone = $2',
      [workspace.connection.id, to],
    );
    const { id: target } = await test.factories.message({
      connection: workspace.connection,
      status: 'outcome_unknown',
      recipient: to,
      conversationId: conversation?.id ?? '',
    });
    const response = await workspace.send(to, {
      body: { type: 'reaction', text: undefined, reply_to_message_id: target, reaction: { emoji: '👍' } },
    });
    expect(response.status).toBe(202);
    expect(await workspace.reaches(response.body.data.id as string, 'failed')).toMatchObject({
      failure_category: 'invalid_content',
    });
    expect(test.simulator.messages.list({ to })).toHaveLength(0);
  });
});

describe('a template', () => {
  const template = {
    type: 'template',
    text: undefined,
    template: { name: 'hello_world', language: { code: 'en_US' } },
  };

  it('goes to a contact who never wrote, and opens no window', async () => {
    const to = testPhone();
    const response = await workspace.send(to, { body: template });
    expect(response.status).toBe(202);
    const message = await workspace.reaches(response.body.data.id as string, 'read');
    expect(message.conversation_id).not.toBeNull();
    expect((await workspace.send(to)).body.error.code).toBe('SERVICE_WINDOW_CLOSED');
    const second = await workspace.send(to, { body: template });
    const { conversation_id: conversation } = await workspace.message(second.body.data.id as string);
    expect(conversation).toBe(message.conversation_id);
  });
});

/** Well-formed, but the account has no such template, or the template takes no such parameters. */
const REFUSED_FOR_MORE_THAN_FORM: Record<string, string> = {
  'template: name of 512 characters': 'TEMPLATE_NOT_FOUND',
  'template: 20 components': 'TEMPLATE_PARAMETERS_MISMATCH',
  'template: values alone': 'TEMPLATE_PARAMETERS_MISMATCH',
};

describe('202 at every limit', () => {
  it.each(VARIANT_CASES.filter(({ violations }) => violations.length === 0))('$name', async ({ name, body }) => {
    const to = typeof body.to === 'string' ? body.to.replace('+', '') : await workspace.contact();
    if (body.to !== undefined) {
      await test.database.execute(
        `insert into conversation (id, organization_id, connection_id, phone, last_inbound_at)
         values (gen_random_uuid(), $1, $2, $3, now()) on conflict do nothing`,
        [workspace.organizationId, workspace.connection.id, to],
      );
    }
    const response = await workspace.send(to, { body: { type: undefined, text: undefined, ...body } });
    const code = REFUSED_FOR_MORE_THAN_FORM[name];
    expect([response.status, response.body.error?.code]).toEqual([code === undefined ? 202 : 422, code]);
  });
});
