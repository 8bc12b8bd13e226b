import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import type { ApiResponse } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';
import { graphError, type Fate, type FakeCall } from '../support/whatsapp/fake-templates.js';
import {
  ageMirror,
  startTemplateStage,
  templateWorkspace,
  type TemplateStage,
  type TemplateWorkspace,
} from './fixture.js';

let stage: TemplateStage;
let workspace: TemplateWorkspace;

beforeAll(async () => {
  // More than a second: a shorter time runs out in a pause of this process, although the answer has come meanwhile.
  stage = await startTemplateStage({ WHATSAPP_TIMEOUT_MS: '1100' });
});
afterAll(() => stage.stop());
beforeEach(async () => {
  workspace = await templateWorkspace(stage.test);
});
afterEach(() => stage.platform.recover());

const BODY = 'Hello {{1}}, your order {{2}} is on its way.';
const BASE = { name: 'order_update', language: 'en_US', category: 'UTILITY' };
const TEXT = { ...BASE, body: BODY, variable_examples: ['Ana', '4711'] };
const COMPONENTS = [{ type: 'BODY', text: BODY, example: { body_text: [['Ana', '4711']] } }];

const TTL = 'message_send_ttl_seconds';

const create = (body: unknown = TEXT): Promise<ApiResponse> => workspace.api.post(workspace.path, body);
const edit = (body: unknown, name = 'order_update'): Promise<ApiResponse> =>
  workspace.api.request({ method: 'PATCH', path: `${workspace.path}/${name}`, body });
const remove = (name = 'order_update'): Promise<ApiResponse> =>
  workspace.api.request({ method: 'DELETE', path: `${workspace.path}/${name}` });
const writes = (): FakeCall[] =>
  stage.platform.calls.filter(({ method, token }) => method !== 'GET' && token.includes(workspace.connection.id));

/** Every write meets this; lists work. */
function writesMeet(fate: Fate): void {
  stage.platform.fate = ({ method }) => (method === 'GET' ? { kind: 'answer' } : fate);
}

describe('POST /connections/{id}/templates', () => {
  it('makes a template of a body with examples', async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      connection_id: workspace.connection.id,
      ...BASE,
      status: 'pending',
      platform_status: 'PENDING',
      parameter_format: 'POSITIONAL',
      rejected_reason: null,
      quality: null,
      components: COMPONENTS,
      variables: [
        { component: 'body', name: '1', example: 'Ana' },
        { component: 'body', name: '2', example: '4711' },
      ],
    });
    expect(writes().map((call) => call.body)).toEqual([{ ...BASE, components: COMPONENTS }]);
    const [here, there] = [
      await workspace.version(),
      (await workspace.api.get(`/connections/${workspace.second.id}/templates/order_update`)).body.data.versions[0],
    ];
    expect(here.id).toBe(body.data.id);
    expect(there).toEqual({ ...here, connection_id: workspace.second.id });
  });

  it('makes a template of components, with named variables', async () => {
    const components = [
      {
        type: 'BODY',
        text: 'Hello {{first_name}}, your order is on its way.',
        example: { body_text_named_params: [{ param_name: 'first_name', example: 'Ana' }] },
      },
      { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Stop messages' }] },
    ];
    const { status, body } = await create({ ...BASE, parameter_format: 'NAMED', components });
    expect([status, body.data?.parameter_format, body.data?.variables[0].name]).toEqual([201, 'NAMED', 'first_name']);
    expect(writes()[0]?.body).toEqual({ ...BASE, parameter_format: 'NAMED', components });
  });

  it('takes the words of the platform in either case, and checks, sends and stores them in capitals', async () => {
    const card = (header: string, kind: string) => ({
      components: [
        { type: header, format: header === 'header' ? 'image' : 'IMAGE', example: { header_handle: ['4::aW'] } },
        { type: header === 'header' ? 'buttons' : 'BUTTONS', buttons: [{ type: kind, text: 'Stop' }] },
      ],
    });
    const written = (lower: boolean) => {
      const word = (text: string) => (lower ? text : text.toUpperCase());
      const cards = Array.from({ length: 2 }, () => card(word('header'), word('quick_reply')));
      return [
        { type: word('header'), format: word('text'), text: 'Your order' },
        { type: word('body'), text: 'Hello there, it left today.' },
        { type: word('carousel'), cards },
      ];
    };
    const { status, body } = await create({
      ...BASE,
      category: 'marketing',
      parameter_format: 'named',
      components: written(true),
    });
    expect([status, body.error]).toEqual([201, undefined]);
    expect(body.data).toMatchObject({ category: 'MARKETING', parameter_format: 'NAMED', components: written(false) });
    expect(writes()[0]?.body).toEqual({
      ...BASE,
      category: 'MARKETING',
      parameter_format: 'NAMED',
      components: written(false),
    });
    expect(await workspace.version()).toMatchObject({ category: 'MARKETING', components: written(false) });
    // Checked as what they mean: a code's template has no text of its own.
    const code = { ...BASE, name: 'code', category: 'authentication', components: [{ type: 'body', text: 'Hello' }] };
    expect((await create(code)).body.error.details?.map(({ field }) => field)).toEqual(['components[0].text']);
  });

  it('passes a time to live on, and shows it', async () => {
    const { status, body } = await create({ ...TEXT, message_send_ttl_seconds: 3600 });
    expect([status, body.data.message_send_ttl_seconds]).toEqual([201, 3600]);
    expect(writes()[0]?.body).toEqual({ ...BASE, message_send_ttl_seconds: 3600, components: COMPONENTS });
    expect(await workspace.version()).toMatchObject({ message_send_ttl_seconds: 3600 });
    const components = { ...BASE, name: 'other', components: COMPONENTS, message_send_ttl_seconds: -1 };
    expect((await create(components)).body.data.message_send_ttl_seconds).toBe(-1);
  });

  it.each<[string, object, string]>([
    ['a time to live that the category does not have', { ...TEXT, message_send_ttl_seconds: 29 }, TTL],
    ['a time to live of half a second', { ...TEXT, message_send_ttl_seconds: 30.5 }, TTL],
    ['a time to live as text', { ...TEXT, message_send_ttl_seconds: '3600' }, TTL],
    [
      'an emoji in a button',
      { ...BASE, components: [...COMPONENTS, { type: 'buttons', buttons: [{ type: 'quick_reply', text: 'OK 👍' }] }] },
      'components[1].buttons[0].text',
    ],
    ['no name', { ...TEXT, name: undefined }, 'name'],
    ['a name in capitals', { ...TEXT, name: 'Order' }, 'name'],
    ['a name that is too long', { ...TEXT, name: 'a'.repeat(513) }, 'name'],
    ['no language', { ...TEXT, language: undefined }, 'language'],
    ['a language in another spelling', { ...TEXT, language: 'en-US' }, 'language'],
    ['an unknown category', { ...TEXT, category: 'NEWS' }, 'category'],
    ['an unknown key', { ...TEXT, allow: true }, 'allow'],
    ['a body that is too long', { ...BASE, body: 'a'.repeat(1025) }, 'body'],
    ['body and components', { ...TEXT, components: COMPONENTS }, 'components'],
    ['neither', BASE, 'body'],
    ['examples without a body', { ...BASE, components: COMPONENTS, variable_examples: ['x'] }, 'variable_examples'],
    ['too few examples', { ...TEXT, variable_examples: ['Ana'] }, 'variable_examples'],
    [
      'variables with a gap',
      { ...BASE, body: 'Hello {{1}}, order {{3}} left.', variable_examples: ['a', 'b'] },
      'body',
    ],
    ['no components', { ...BASE, components: [] }, 'components'],
    ['eleven components', { ...BASE, components: Array.from({ length: 11 }, () => COMPONENTS[0]) }, 'components'],
    ['a component of no type', { ...BASE, components: [{ text: 'Hello' }] }, 'components[0].type'],
    ['a component of an unknown type', { ...BASE, components: [{ type: 'SONG' }] }, 'components[0].type'],
    ['U+0000', { ...TEXT, body: 'Hello \u0000 there' }, 'body'],
  ])('refuses %s, naming the field', async (_case, body, field) => {
    const answer = await create(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toContain(field);
    expect(writes()).toHaveLength(0);
  });

  it("passes on the platform's refusal in its own words", async () => {
    await create();
    const { status, body } = await create();
    expect([status, body.error.code]).toEqual([400, 'PLATFORM_REJECTED']);
    expect(body.error.platform).toEqual({
      code: 100,
      subcode: 2_388_024,
      message: 'Content in this language already exists.',
      trace_id: 'Az8trace',
    });
  });

  it('answers 400, for create and edit, where the request is longer than the platform takes', async () => {
    stage.platform.add(workspace.wabaId, { name: 'other' });
    await workspace.version('other');
    writesMeet({ kind: 'error', status: 413, body: '' });
    const long = [{ type: 'BODY', text: 'Hi {{1}} there.', example: { body_text: [['a'.repeat(200_000)]] } }];
    for (const { status, body } of [
      await create({ ...BASE, components: long }),
      await edit({ language: 'en_US', components: long }, 'other'),
    ]) {
      expect([status, body.error.code]).toEqual([400, 'PLATFORM_REJECTED']);
      expect(body.error.platform).toMatchObject({ code: null, message: expect.stringContaining('too large') });
    }
  });

  it('distinguishes a limit of the platform from a refusal', async () => {
    writesMeet({ kind: 'error', ...graphError(80_007, null, 'Too many calls.'), status: 429 });
    const { status, body, headers } = await create();
    expect([status, body.error.code, body.error.retry_after_seconds]).toEqual([429, 'RATE_LIMITED', 60]);
    expect(headers.get('retry-after')).toBe('60');
  });

  it('disconnects a number whose token is no good', async () => {
    writesMeet({ kind: 'error', ...graphError(190, 463, 'The access token has expired.'), status: 401 });
    const { status, body } = await create();
    expect([status, body.error.code, body.error.status]).toEqual([409, 'CONNECTION_NOT_READY', 'disconnected']);
  });

  it('refuses a number that is not connected, whose templates can still be read', async () => {
    await create();
    await workspace.version();
    await stage.test.app
      .get(ConnectionsService)
      .setStatus(workspace.organizationId, workspace.connection.id, 'disconnected');
    const answer = await create({ ...TEXT, language: 'de' });
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({ code: 'CONNECTION_NOT_READY', status: 'disconnected' });
    expect(await workspace.version()).toMatchObject({ status: 'pending' });
    expect((await edit({ language: 'en_US', components: COMPONENTS })).status).toBe(409);
    expect((await remove()).status).toBe(409);
  });

  it('keeps what became known while the answer was on its way', async () => {
    await workspace.api.get(workspace.path);
    stage.platform.fate = async ({ method }) => {
      if (method !== 'POST') return { kind: 'answer' };
      // The template is approved and reported before its creator has the answer.
      const made = stage.platform.add(workspace.wabaId, { components: COMPONENTS });
      await notifyOf(made.id, 'APPROVED');
      await waitFor(async () => (await workspace.version())?.status === 'approved');
      const { id, category } = made;
      return { kind: 'error', status: 200, body: { id, category, status: 'PENDING' } };
    };
    const { status, body } = await create();
    expect(status).toBe(201);
    stage.platform.fate = () => ({ kind: 'answer' });
    expect(await workspace.version()).toMatchObject({ id: body.data.id, status: 'approved' });
  });
});

describe('a write whose answer was lost', () => {
  const CASES: [string, Fate, number, string][] = [
    ['took effect in silence', { kind: 'silence', after: true }, 504, 'PLATFORM_TIMEOUT'],
    ['took effect before the connection broke', { kind: 'cut', after: true }, 502, 'PLATFORM_UNAVAILABLE'],
    ['took no effect', { kind: 'cut' }, 502, 'PLATFORM_UNAVAILABLE'],
    ['met a fault of the platform', { kind: 'error', status: 500, body: '' }, 502, 'PLATFORM_UNAVAILABLE'],
  ];

  it.each(CASES)(
    'and that %s: the caller gets the reason, and the mirror the true state',
    async (_case, fate, status, code) => {
      await workspace.api.get(workspace.path);
      const happened = 'after' in fate && fate.after === true;
      writesMeet(fate);
      const created = await create();
      expect([created.status, created.body.error.code]).toEqual([status, code]);
      expect(created.body.error.message).toContain('may still have been made');
      expect(await workspace.version()).toEqual(happened ? expect.objectContaining({ status: 'pending' }) : undefined);
      if (!happened) return;
      const deleted = await remove();
      expect([deleted.status, deleted.body.error.code]).toEqual([status, code]);
      expect(await workspace.version()).toBeUndefined();
    },
  );
});

describe('PATCH /connections/{id}/templates/{name}', () => {
  const COMPONENTS_2 = [{ type: 'BODY', text: 'Hello {{1}}, it left.', example: { body_text: [['Ana']] } }];

  it('replaces the components of one language, which waits for its review again', async () => {
    const template = stage.platform.add(workspace.wabaId, { rejected_reason: 'SCAM', status: 'REJECTED' });
    stage.platform.add(workspace.wabaId, { language: 'de' });
    const before = await workspace.version();
    const { status, body } = await edit({ language: 'en_US', components: COMPONENTS_2 });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: before.id,
      language: 'en_US',
      status: 'pending',
      rejected_reason: null,
      components: COMPONENTS_2,
    });
    expect(writes()).toMatchObject([{ path: `/v26.0/${template.id}`, body: { components: COMPONENTS_2 } }]);
    expect(await workspace.version('order_update', 'de')).toMatchObject({ status: 'approved' });
  });

  it('changes the time to live where one is given, within what the category has', async () => {
    const template = stage.platform.add(workspace.wabaId, { status: 'REJECTED', message_send_ttl_seconds: 60 });
    expect(await workspace.version()).toMatchObject({ message_send_ttl_seconds: 60 });
    const body = { language: 'en_US', components: [{ ...COMPONENTS_2[0], type: 'body' }] };
    expect((await edit(body)).body.data).toMatchObject({ message_send_ttl_seconds: 60, components: COMPONENTS_2 });
    const refused = await edit({ ...body, message_send_ttl_seconds: 43_201 });
    expect([refused.status, refused.body.error.details?.[0]?.field]).toEqual([400, TTL]);
    expect((await edit({ ...body, message_send_ttl_seconds: 600 })).body.data.message_send_ttl_seconds).toBe(600);
    expect(writes().map((call) => call.body)).toEqual([
      { components: COMPONENTS_2 },
      { components: COMPONENTS_2, message_send_ttl_seconds: 600 },
    ]);
    // The platform clears it where it puts the template into another category.
    delete template.message_send_ttl_seconds;
    await ageMirror(stage.test, workspace.wabaId, 61);
    expect(await workspace.version()).toMatchObject({ message_send_ttl_seconds: null });
  });

  it.each<[string, object, string]>([
    ['no language', { components: COMPONENTS_2 }, 'language'],
    ['no components', { language: 'en_US' }, 'components'],
    ['an unknown key', { language: 'en_US', components: COMPONENTS_2, category: 'UTILITY' }, 'category'],
    ['a body without an example', { language: 'en_US', components: [{ type: 'BODY', text: BODY }] }, 'components[0]'],
  ])('refuses %s', async (_case, body, field) => {
    stage.platform.add(workspace.wabaId);
    const answer = await edit(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.body.error.details?.[0]?.field).toContain(field);
    expect(writes()).toHaveLength(0);
  });

  it('answers 404 where there is no such template, or not in that language', async () => {
    stage.platform.add(workspace.wabaId);
    const body = { language: 'en_US', components: COMPONENTS_2 };
    expect((await edit(body, 'nothing')).body.error.code).toBe('TEMPLATE_NOT_FOUND');
    const other = await edit({ ...body, language: 'de' });
    expect([other.status, other.body.error.available_languages]).toEqual([404, ['en_US']]);
    expect(writes()).toHaveLength(0);
  });

  it('learns that a template is gone from the refusal of its change', async () => {
    stage.platform.add(workspace.wabaId);
    await workspace.version();
    stage.platform.accounts.delete(workspace.wabaId);
    const { status, body } = await edit({ language: 'en_US', components: COMPONENTS_2 });
    expect([status, body.error.code]).toEqual([400, 'PLATFORM_REJECTED']);
    expect(await workspace.version()).toBeUndefined();
  });

  it('leaves the mirror as it was where the platform refuses', async () => {
    stage.platform.add(workspace.wabaId);
    const before = await workspace.version();
    writesMeet({ kind: 'error', ...graphError(100, 2_388_025, 'You can only change it once in 24 hours.') });
    const { status, body } = await edit({ language: 'en_US', components: COMPONENTS_2 });
    expect([status, body.error.code]).toEqual([400, 'PLATFORM_REJECTED']);
    expect(await workspace.version()).toEqual(before);
  });
});

describe('DELETE /connections/{id}/templates/{name}', () => {
  it('deletes all languages, and the name is gone whatever the platform still lists', async () => {
    for (const language of ['en_US', 'de']) stage.platform.add(workspace.wabaId, { language });
    stage.platform.add(workspace.wabaId, { name: 'other' });
    stage.platform.keepsDeleted = true;
    const { status, body } = await remove();
    expect([status, body]).toEqual([200, { data: { name: 'order_update', deleted_languages: ['de', 'en_US'] } }]);
    // A language that the mirror never knew is listed under the name as well.
    stage.platform.add(workspace.wabaId, { language: 'fr' });
    for (let round = 0; round < 3; round++) {
      const again = await workspace.api.get(`${workspace.path}/order_update`);
      expect([again.status, again.body.error.code]).toEqual([404, 'TEMPLATE_NOT_FOUND']);
      const { body: list } = await workspace.api.get(workspace.path);
      expect(list.data.map(({ name }: { name: string }) => name)).toEqual(['other']);
      await stage.test.database.execute(
        `update template_account set synced_at = synced_at - interval '2 minutes',
           tried_at = tried_at - interval '2 minutes' where waba_id = $1`,
        [workspace.wabaId],
      );
    }
    expect(stage.platform.lists(workspace.wabaId).length).toBeGreaterThan(2);
    expect((await remove()).status).toBe(404);
    expect((await edit({ language: 'de', components: COMPONENTS })).status).toBe(404);
    await expect(workspace.forSending()).rejects.toMatchObject({ code: 'TEMPLATE_NOT_FOUND', status: 422 });
  });

  it('reports what it deleted, also where the notification is faster than the answer', async () => {
    const { id } = stage.platform.add(workspace.wabaId);
    await workspace.version();
    stage.platform.fate = async ({ method }) => {
      if (method === 'DELETE') await notifyOf(id, 'DELETED');
      return { kind: 'answer' };
    };
    const { status, body } = await remove();
    expect([status, body.data]).toEqual([200, { name: 'order_update', deleted_languages: ['en_US'] }]);
    expect(await workspace.version()).toBeUndefined();
  });

  it('frees the name for a new template, here and elsewhere', async () => {
    stage.platform.add(workspace.wabaId);
    const before = await workspace.version();
    await remove();
    const { body } = await create();
    expect(body.data.id).not.toBe(before.id);
    expect(await workspace.version()).toMatchObject({ id: body.data.id, status: 'pending' });

    await remove();
    expect(await workspace.version()).toBeUndefined();
    const again = stage.platform.add(workspace.wabaId);
    await notifyOf(again.id, 'APPROVED');
    await waitFor(async () => (await workspace.version())?.status === 'approved', { what: 'the new one to be known' });
  });

  it('counts what is gone already as deleted, and two at once as one', async () => {
    stage.platform.add(workspace.wabaId);
    await workspace.version();
    stage.platform.accounts.delete(workspace.wabaId);
    const gone = await remove();
    expect([gone.status, gone.body.data]).toEqual([200, { name: 'order_update', deleted_languages: ['en_US'] }]);

    await create();
    const statuses = (await Promise.all([remove(), remove()])).map(({ status }) => status);
    // The one whose answer comes first removes it here; the other was told by the platform that it did, or that it is gone.
    expect([[200, 200].join(), [200, 404].join()]).toContain(statuses.sort((a, b) => a - b).join());
    expect((await remove()).status).toBe(404);
  });

  it('answers 404 for a name that is not there, and asks the platform for nothing', async () => {
    const { status, body } = await remove('nothing');
    expect([status, body.error.code]).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    expect(writes()).toHaveLength(0);
  });
});

function notifyOf(templateId: string, event: string): Promise<void> {
  return workspace.notify('message_template_status_update', {
    event,
    message_template_id: Number(templateId),
    message_template_name: 'order_update',
    message_template_language: 'en-US',
    reason: 'NONE',
  });
}
