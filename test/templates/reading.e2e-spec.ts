import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { newId } from '../../src/common/ids.js';
import { Drain } from '../../src/infrastructure/http/drain.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { platformId } from '../support/factories.js';
import { deferred } from '../support/deferred.js';
import { waitFor } from '../support/wait-for.js';
import { graphError } from '../support/whatsapp/fake-templates.js';
import { ageMirror, startTemplateStage, templateWorkspace, type TemplateStage } from './fixture.js';

let stage: TemplateStage;

beforeAll(async () => {
  stage = await startTemplateStage({ WHATSAPP_TIMEOUT_MS: '4000' });
});
afterAll(() => stage.stop());
afterEach(() => stage.platform.recover());

describe('GET /connections/{id}/templates', () => {
  it('shows every field of a template', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId, {
      status: 'REJECTED',
      rejected_reason: 'INVALID_FORMAT',
      quality_score: { score: 'GREEN' },
    });
    const { status, body } = await workspace.api.get(workspace.path);
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          connection_id: workspace.connection.id,
          name: 'order_update',
          language: 'en_US',
          category: 'UTILITY',
          announced_category: null,
          announced_for: null,
          status: 'rejected',
          platform_status: 'REJECTED',
          rejected_reason: 'INVALID_FORMAT',
          quality: 'GREEN',
          parameter_format: 'POSITIONAL',
          message_send_ttl_seconds: null,
          components: [{ type: 'BODY', text: 'Hello {{1}}.', example: { body_text: [['Ana']] } }],
          header_media: null,
          variables: [{ component: 'body', name: '1', button_index: null, card_index: null, example: 'Ana' }],
          created_at: expect.stringMatching(/Z$/),
          updated_at: expect.stringMatching(/Z$/),
          synced_at: expect.stringMatching(/Z$/),
        },
      ],
      pagination: { next_after: null },
    });
  });

  it('shows the same templates, with the same ids, on both numbers of an account', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId);
    const first = await workspace.api.get(workspace.path);
    const second = await workspace.api.get(`/connections/${workspace.second.id}/templates`);
    expect(second.body.data).toEqual([{ ...first.body.data[0], connection_id: workspace.second.id }]);
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(1);
  });

  it('reads every page, whatever the platform gives at a time', async () => {
    const workspace = await templateWorkspace(stage.test);
    for (let index = 0; index < 63; index++) stage.platform.add(workspace.wabaId, { name: `notice_${100 + index}` });
    const { body } = await workspace.api.get(workspace.path);
    expect(body.data).toHaveLength(63);
    expect(body.data[62].name).toBe('notice_162');
    expect(stage.platform.pages(workspace.wabaId)).toHaveLength(3);
  });

  it('has pages of its own for who wants them, and the whole for who does not', async () => {
    const workspace = await templateWorkspace(stage.test);
    for (const language of ['de', 'en_US', 'fr']) {
      for (const name of ['a_1', 'b_2', 'c_3']) stage.platform.add(workspace.wabaId, { name, language });
    }
    const seen: string[] = [];
    let after = '';
    do {
      const { body } = await workspace.api.get(`${workspace.path}?limit=4${after}`);
      expect(body.data.length).toBeLessThanOrEqual(4);
      seen.push(...body.data.map((each: { name: string; language: string }) => `${each.name} ${each.language}`));
      const next = (body.pagination as unknown as { next_after: string | null }).next_after;
      after = next === null ? '' : `&after=${next}`;
    } while (after !== '');
    expect(seen).toEqual(
      ['a', 'b', 'c'].flatMap((letter, index) =>
        ['de', 'en_US', 'fr'].map((language) => `${letter}_${index + 1} ${language}`),
      ),
    );
  });

  it('filters by status, category, language and part of the name', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId, { name: 'order_sent', status: 'PAUSED' });
    stage.platform.add(workspace.wabaId, { name: 'order_sent', language: 'de', category: 'MARKETING' });
    stage.platform.add(workspace.wabaId, { name: 'ordersent' });
    const names = async (query: string) => {
      const { body } = await workspace.api.get(`${workspace.path}?${query}`);
      return body.data.map((each: { name: string; language: string }) => `${each.name} ${each.language}`);
    };
    expect(await names('status=paused')).toEqual(['order_sent en_US']);
    expect(await names('category=MARKETING')).toEqual(['order_sent de']);
    expect(await names('category=marketing')).toEqual(['order_sent de']);
    expect(await names('language=en-US')).toEqual(['ordersent en_US', 'order_sent en_US'].sort());
    expect(await names('name=r_s')).toEqual(['order_sent de', 'order_sent en_US']);
    expect(await names('name=order_sent&language=de')).toEqual(['order_sent de']);
  });

  it.each(['status=gone', 'category=OTHER', 'limit=0', 'limit=6001', 'limit=x', 'after=%00', 'after=abc', 'name=A'])(
    'refuses ?%s',
    async (query) => {
      const workspace = await templateWorkspace(stage.test);
      const { status, body } = await workspace.api.get(`${workspace.path}?${query}`);
      expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
      expect(body.error.details?.[0]?.field).toBe(query.split('=')[0]);
    },
  );

  it('turns a status that has no word into disabled', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId, { status: 'LIMIT_EXCEEDED' });
    stage.platform.add(workspace.wabaId, { name: 'gone', status: 'DELETED' });
    const { body } = await workspace.api.get(workspace.path);
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({ status: 'disabled', platform_status: 'LIMIT_EXCEEDED' });
  });

  it('asks the platform again after a minute, and takes over what is new, changed and gone', async () => {
    const workspace = await templateWorkspace(stage.test);
    const kept = stage.platform.add(workspace.wabaId, { name: 'kept' });
    stage.platform.add(workspace.wabaId, { name: 'going' });
    const before = await workspace.api.get(workspace.path);
    stage.platform.of(workspace.wabaId).pop();
    stage.platform.add(workspace.wabaId, { name: 'coming' });
    kept.status = 'PAUSED';
    expect((await workspace.api.get(workspace.path)).body.data).toEqual(before.body.data);
    await ageMirror(stage.test, workspace.wabaId, 61);
    const after = await workspace.api.get(workspace.path);
    expect(after.body.data.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
      ['coming', 'approved'],
      ['kept', 'paused'],
    ]);
    const idOf = (body: typeof after.body, name: string) =>
      body.data.find((each: { name: string }) => each.name === name)?.id;
    expect(idOf(after.body, 'kept')).toBe(idOf(before.body, 'kept'));
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(2);
  });

  it('shares one sync among all who ask at once', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId);
    const page = deferred();
    stage.platform.beforePage = () => page.promise;
    const asked = Array.from({ length: 12 }, () => workspace.api.get(workspace.path));
    await waitFor(() => stage.test.app.get(Drain).inFlight === 12);
    page.resolve();
    const answers = await Promise.all(asked);
    expect(answers.map(({ body }) => body.data.length)).toEqual(Array.from({ length: 12 }, () => 1));
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(1);
  });

  it('leaves the mirror as it was when a later page fails', async () => {
    const workspace = await templateWorkspace(stage.test);
    for (let index = 0; index < 30; index++) stage.platform.add(workspace.wabaId, { name: `notice_${100 + index}` });
    await workspace.api.get(workspace.path);
    stage.platform.of(workspace.wabaId).shift();
    await ageMirror(stage.test, workspace.wabaId, 61);
    stage.platform.fate = ({ query }) =>
      query.has('after') ? { kind: 'error', status: 500, body: {} } : { kind: 'answer' };
    expect((await workspace.api.get(workspace.path)).body.data).toHaveLength(30);
  });

  it('keeps what an unreadable item of the list may have been', async () => {
    const workspace = await templateWorkspace(stage.test);
    const template = stage.platform.add(workspace.wabaId);
    stage.platform.add(workspace.wabaId, { name: 'other' });
    await workspace.api.get(workspace.path);
    template.id = '';
    template.components = [];
    stage.platform.of(workspace.wabaId).push({ ...template, id: platformId(), name: 'third\u0000' });
    await ageMirror(stage.test, workspace.wabaId, 61);
    const { body } = await workspace.api.get(workspace.path);
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['order_update', 'other']),
    );
  });

  it('uses the token of a number that is connected', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId);
    await stage.test.database.execute(`update connection set status = 'disconnected' where id = $1`, [
      workspace.connection.id,
    ]);
    const { body } = await workspace.api.get(workspace.path);
    expect(body.data).toHaveLength(1);
    expect(stage.platform.lists(workspace.wabaId)[0]?.token).toBe(`token-${workspace.second.id}`);
  });
});

it('a number whose token the platform refuses leaves the account to the other ones', async () => {
  const workspace = await templateWorkspace(stage.test);
  stage.platform.add(workspace.wabaId);
  stage.platform.fate = ({ token }) =>
    token === `token-${workspace.connection.id}`
      ? { kind: 'error', ...graphError(190, null, 'Error validating access token.') }
      : { kind: 'answer' };
  expect((await workspace.api.get(workspace.path)).body.data).toHaveLength(1);
});

describe('GET /connections/{id}/templates/{name}', () => {
  it('gives all languages, or the one asked for', async () => {
    const workspace = await templateWorkspace(stage.test);
    for (const language of ['en_US', 'de']) stage.platform.add(workspace.wabaId, { language });
    const all = await workspace.api.get(`${workspace.path}/order_update`);
    expect(all.body.data.name).toBe('order_update');
    expect(all.body.data.versions.map(({ language }: { language: string }) => language)).toEqual(['de', 'en_US']);
    const one = await workspace.api.get(`${workspace.path}/order_update?language=en_US`);
    expect(one.body.data.versions).toEqual([all.body.data.versions[1]]);
  });

  it('answers 404 for a name, and for a language, that is not there', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId);
    for (const path of ['nothing', 'order_update?language=de', 'ORDER', '%00', 'x'.repeat(600)]) {
      const { status, body } = await workspace.api.get(`${workspace.path}/${path}`);
      expect([path, status, body.error.code]).toEqual([path, 404, 'TEMPLATE_NOT_FOUND']);
    }
    // However many ask for what is not there, the platform is asked once in a few seconds.
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(1);
  });

  it('finds what was made elsewhere a moment ago', async () => {
    const workspace = await templateWorkspace(stage.test);
    await workspace.api.get(workspace.path);
    stage.platform.add(workspace.wabaId);
    await ageMirror(stage.test, workspace.wabaId, 6);
    expect(await workspace.version()).toMatchObject({ status: 'approved' });
  });
});

describe('POST /connections/{id}/templates/preview', () => {
  it('fills the variables, and names what is missing and unused', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId, {
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' },
        { type: 'BODY', text: 'Hello {{1}}, {{2}} is on its way.' },
        { type: 'FOOTER', text: 'Lucky Shrub' },
        {
          type: 'BUTTONS',
          buttons: [{ type: 'URL', text: 'Track', url: 'https://x.co/{{1}}', example: ['https://x.co/1'] }],
        },
      ],
    });
    const { status, body } = await workspace.api.post(`${workspace.path}/preview`, {
      template_name: 'order_update',
      parameters: { header: ['4711', 'too much'], body: ['Ana'] },
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      name: 'order_update',
      language: 'en_US',
      header: { format: 'TEXT', text: 'Order 4711' },
      body: 'Hello Ana, {{2}} is on its way.',
      footer: 'Lucky Shrub',
      buttons: [{ type: 'URL', text: 'Track', url: 'https://x.co/1' }],
    });
    expect(body.data.missing).toEqual(['body.{{2}}', 'buttons[0].{{1}}']);
    expect(body.data.unused).toHaveLength(1);
  });

  it('takes the components that a message takes, or values alone, and not both', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId, {
      components: [
        { type: 'BODY', text: 'Hello {{1}}, {{2}} is on its way.' },
        {
          type: 'BUTTONS',
          buttons: [{ type: 'URL', text: 'Track', url: 'https://x.co/{{1}}', example: ['https://x.co/1'] }],
        },
      ],
    });
    const text = (value: string) => ({ type: 'text', text: value });
    const components = [
      { type: 'body', parameters: [text('Ana'), text('4711')] },
      { type: 'button', sub_type: 'url', index: '0', parameters: [text('t-9')] },
    ];
    const asked = { template_name: 'order_update', components };
    const { status, body } = await workspace.api.post(`${workspace.path}/preview`, asked);
    expect([status, body.data.missing, body.data.unused]).toEqual([200, [], []]);
    expect(body.data).toMatchObject({ body: 'Hello Ana, 4711 is on its way.', buttons: [{ url: 'https://x.co/t-9' }] });
    const both = await workspace.api.post(`${workspace.path}/preview`, { ...asked, parameters: { body: ['Ana'] } });
    expect([both.status, both.body.error.code, both.body.error.details?.[0]?.field]).toEqual([
      400,
      'INVALID_REQUEST',
      'parameters',
    ]);
  });

  it.each([
    ['an empty value', '', 'empty'],
    ['a line break', 'Ana\nBea', 'line_break'],
    ['a tab', 'Ana\tBea', 'tab'],
    ['five spaces in a row', 'Ana     Bea', 'five_spaces'],
  ])('refuses %s as a send does, also beside one that is missing', async (_what, value, given) => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId, { components: [{ type: 'BODY', text: 'Hello {{1}}, {{2}} is ready.' }] });
    const template = { name: 'order_update', language: 'en_US' };
    const components = [{ type: 'body', parameters: [{ type: 'text', text: value }] }];
    for (const sent of [{ parameters: { body: [value] } }, { components }]) {
      const { status, body } = await workspace.api.post(`${workspace.path}/preview`, {
        template_name: template.name,
        ...sent,
      });
      expect([status, body.error.code]).toEqual([422, 'TEMPLATE_PARAMETERS_MISMATCH']);
      expect(body.error).toMatchObject({ given: { component: 'body', parameter: 1, value: given } });
    }
    const whole = [
      {
        type: 'body',
        parameters: [
          { type: 'text', text: value },
          { type: 'text', text: 'x' },
        ],
      },
    ];
    const previewed = await workspace.api.post(`${workspace.path}/preview`, {
      template_name: template.name,
      components: whole,
    });
    const sent = await workspace.api.post(
      '/messages',
      {
        connection_id: workspace.connection.id,
        to: '+15550001234',
        type: 'template',
        template: { ...template, components: whole },
      },
      { headers: { 'idempotency-key': newId() } },
    );
    const { request_id: _one, ...refusal } = sent.body.error;
    const { request_id: _other, ...same } = previewed.body.error;
    expect([sent.status, same]).toEqual([previewed.status, refusal]);
  });

  it('takes an approved version where no language is given', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId, { language: 'de', status: 'REJECTED' });
    stage.platform.add(workspace.wabaId, { language: 'fr' });
    const preview = (more: object) =>
      workspace.api.post(`${workspace.path}/preview`, { template_name: 'order_update', ...more });
    expect((await preview({})).body.data.language).toBe('fr');
    expect((await preview({ language: 'de' })).body.data.language).toBe('de');
    expect((await preview({ language: 'es' })).status).toBe(404);
  });

  it.each([
    [{}, 'template_name'],
    [{ template_name: 7 }, 'template_name'],
    [{ template_name: 'a', more: 1 }, 'more'],
    [{ template_name: 'a', parameters: { body: ['x', 1] } }, 'parameters.body[1]'],
    [{ template_name: 'a', components: [{ parameters: [] }] }, 'components[0].type'],
    [{ template_name: 'a', parameters: { footer: [] } }, 'parameters.footer'],
  ])('refuses %j', async (body, field) => {
    const workspace = await templateWorkspace(stage.test);
    const answer = await workspace.api.post(`${workspace.path}/preview`, body);
    expect([answer.status, answer.body.error.details?.[0]?.field]).toEqual([400, field]);
  });
});

describe('while the platform is down', () => {
  it('says so where there is no mirror that could answer', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.fate = () => ({ kind: 'cut' });
    const down = await workspace.api.get(workspace.path);
    expect([down.status, down.body.error.code]).toEqual([502, 'PLATFORM_UNAVAILABLE']);

    const other = await templateWorkspace(stage.test);
    stage.platform.fate = () => ({ kind: 'error', ...graphError(190, 463, 'The access token has expired.') });
    const refused = await other.api.get(other.path);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'PLATFORM_REJECTED']);
    expect(refused.body.error.platform).toMatchObject({ code: 190, subcode: 463 });
    // Both numbers' tokens were refused; one of them gets a new one.
    const { body } = await other.api.get('/connections');
    expect(body.data.map(({ status }: { status: string }) => status)).toEqual(['disconnected', 'disconnected']);
    stage.platform.fate = () => ({ kind: 'answer' });
    const { wabaId, phoneNumberId, phoneNumber } = other.connection;
    await stage.test.app
      .get(ConnectionsService)
      .add({ organizationId: other.organizationId, wabaId, phoneNumberId, phoneNumber, token: 'a-new-token' });
    await ageMirror(stage.test, other.wabaId, 11);
    expect((await other.api.get(other.path)).status).toBe(200);
  });
});

describe('a workspace', () => {
  it('sees nothing of another one that has the same account', async () => {
    const wabaId = platformId();
    const [mine, other] = [await templateWorkspace(stage.test, wabaId), await templateWorkspace(stage.test, wabaId)];
    stage.platform.add(wabaId);
    const [here, there] = [await mine.version(), await other.version()];
    expect(here.id).not.toBe(there.id);
  });

  it("gets for another one's connection what it gets for none, to the byte", async () => {
    const [mine, other] = [await templateWorkspace(stage.test), await templateWorkspace(stage.test)];
    stage.platform.add(other.wabaId);
    await other.api.get(other.path);
    const components = [{ type: 'BODY', text: 'Hello there, friend.' }];
    const create = { name: 'a', language: 'en_US', category: 'UTILITY', body: 'Hello there, friend.' };
    const calls: [method: string, tail: string, body?: unknown][] = [
      ['GET', ''],
      ['POST', '', create],
      ['GET', '/order_update'],
      ['PATCH', '/order_update', { language: 'en_US', components }],
      ['DELETE', '/order_update'],
      ['POST', '/preview', { template_name: 'order_update' }],
    ];
    for (const [method, tail, body] of calls) {
      const answers = await Promise.all(
        [other.connection.id, newId()].map((id) =>
          mine.api.request({
            method,
            path: `/connections/${id}/templates${tail}`,
            body,
            headers: { 'x-request-id': 'same' },
          }),
        ),
      );
      expect(answers[0]?.status).toBe(404);
      expect(answers[0]?.body.error.code).toBe('CONNECTION_NOT_FOUND');
      expect(answers[0]?.body).toEqual(answers[1]?.body);
    }
    expect(stage.platform.of(other.wabaId)).toHaveLength(1);
  });

  it('needs a key with the scope, and an id that is one', async () => {
    const workspace = await templateWorkspace(stage.test);
    const { text } = await stage.test.factories.apiKey({
      organizationId: workspace.organizationId,
      scopes: ['templates:read'],
    });
    const reader = stage.test.api.as(text);
    const create = { name: 'a', language: 'en_US', category: 'UTILITY', body: 'Hello there, friend.' };
    expect((await stage.test.api.get(workspace.path)).status).toBe(401);
    expect((await reader.get(workspace.path)).status).toBe(200);
    const refused = await reader.post(workspace.path, create);
    expect([refused.status, refused.body.error.required_scope]).toEqual([403, 'templates:write']);
    expect((await reader.request({ method: 'DELETE', path: `${workspace.path}/a` })).status).toBe(403);
    expect((await reader.request({ method: 'PATCH', path: `${workspace.path}/a`, body: {} })).status).toBe(403);
    expect((await reader.post(`${workspace.path}/preview`, { template_name: 'a' })).status).toBe(404);
    const malformed = await workspace.api.get('/connections/nonsense/templates');
    expect([malformed.status, malformed.body.error.details?.[0]?.field]).toEqual([400, 'id']);
  });

  it('is limited in its requests', async () => {
    const { factories, api } = stage.test;
    const { id: organizationId } = await factories.workspace({ ratePerSecond: 1, rateBurst: 2 });
    const { text } = await factories.apiKey({ organizationId });
    const { id } = await factories.connection({ organizationId });
    const statuses = await Promise.all(
      Array.from({ length: 5 }, async () => (await api.as(text).get(`/connections/${id}/templates`)).status),
    );
    expect(statuses).toContain(429);
  });
});

describe('the sweep', () => {
  it('syncs an account once an hour', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    await sweep();
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(1);
    await ageMirror(stage.test, workspace.wabaId, 3_601);
    await sweep();
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(2);
  });
});

function sweep(): Promise<number> {
  return stage.test.app.get(Sweeps).runNow('templates');
}
