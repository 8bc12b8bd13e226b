import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphAnswer } from '../../../test/support/simulator/simulator-client.js';
import { type SimulatorRig, startRig, WABA_ID } from '../../../test/support/simulator/simulator-rig.js';

const LIST = `/v26.0/${WABA_ID}/message_templates`;
const BODY = { type: 'BODY', text: 'Hello there, all is well.' };
const withVariable = (text: string, example?: unknown) => ({ type: 'BODY', text, example });
const GREETING = withVariable('Hello {{1}}, all is well.', { body_text: [['Ana']] });
const header = (format: string, handle?: unknown) => ({ type: 'HEADER', format, example: { header_handle: handle } });
const buttons = (...list: object[]) => ({ type: 'BUTTONS', buttons: list });
const reply = (text: string) => ({ type: 'QUICK_REPLY', text });
const link = (url: string, example?: unknown) => ({ type: 'URL', text: 'Open', url, example });
const card = (kind = 'IMAGE', text = 'Look.') => ({
  components: [header(kind, ['4::aW']), { type: 'BODY', text }, buttons(reply('More'))],
});
const otp = (rest: object = {}) => buttons({ type: 'OTP', otp_type: 'COPY_CODE', ...rest });
const ONE_TAP = { otp_type: 'ONE_TAP', supported_apps: [{ package_name: 'com.example', signature_hash: 'short' }] };
const ANA = { type: 'text', text: 'Ana' };
const SECURE = { type: 'BODY', add_security_recommendation: true };

describe('templates', () => {
  let rig: SimulatorRig;
  let names = 0;

  beforeEach(async () => {
    rig = await startRig({ templateReviewMs: 20 });
  });
  afterEach(() => rig.stop());

  const create = (body: Record<string, unknown> = {}) =>
    rig.client.call('POST', LIST, {
      name: `note_${++names}`,
      language: 'en_US',
      category: 'UTILITY',
      components: [BODY],
      ...body,
    });
  const idOf = (answer: GraphAnswer) => {
    if (answer.status !== 200) throw new Error(answer.text);
    return String(answer.json.id);
  };
  const read = async (id: string, fields = 'status') =>
    (await rig.client.call('GET', `/v26.0/${id}?fields=${fields}`)).json;
  const codes = ({ status, json }: GraphAnswer) => [status, json.error?.code, json.error?.error_subcode];
  const notices = (field: string) =>
    rig.receiver.requests.flatMap(({ body }) =>
      body.entry.flatMap(({ changes }) => changes.filter((change) => change.field === field)),
    );
  const last = (id: string) =>
    notices('message_template_status_update')
      .map(({ value }) => value as unknown as Notice)
      .findLast((value) => String(value.message_template_id) === id) as Notice;
  const decided = async (id: string) => {
    await rig.receiver.until('its review', () => last(id) !== undefined);
    return last(id);
  };

  interface Notice {
    event: string;
    message_template_id: number;
    message_template_name: string;
    reason: string | null;
  }

  it('are created PENDING, and approved by a notification a moment later', async () => {
    const answer = await create({ name: 'welcome', components: [GREETING], category: 'utility' });
    expect(answer.json).toEqual({ id: expect.stringMatching(/^\d{16}$/), status: 'PENDING', category: 'UTILITY' });
    const id = idOf(answer);
    const notice = await decided(id);
    expect(notice).toEqual({
      event: 'APPROVED',
      message_template_id: Number(id),
      message_template_name: 'welcome',
      message_template_language: 'en_US',
      reason: 'NONE',
      message_template_category: 'UTILITY',
    });
    const [request] = rig.receiver.requests;
    expect(request?.body.entry[0]).toMatchObject({ id: WABA_ID, time: expect.any(Number) });
    expect(await read(id, 'status,components')).toEqual({ status: 'APPROVED', components: [GREETING], id });
    const sent = await rig.client.send({
      to: '+4915112345678',
      type: 'template',
      template: { name: 'welcome', language: { code: 'en_US' }, components: [{ type: 'body', parameters: [ANA] }] },
    });
    expect(sent.status).toBe(200);
  });

  it.each([
    ['that says so in its name', { name: 'reject_me_please' }],
    ['that says so in its body', { components: [{ type: 'BODY', text: 'Please reject_me now.' }] }],
    [
      'with two variables side by side',
      { components: [withVariable('Hello {{1}}{{2}} and more words.', { body_text: [['a', 'b']] })] },
    ],
  ])('one %s is rejected with a reason', async (_, body) => {
    const id = idOf(await create(body));
    expect(await decided(id)).toMatchObject({ event: 'REJECTED', reason: 'INVALID_FORMAT', rejection_info: {} });
    expect(await read(id, 'status,rejected_reason')).toMatchObject({
      status: 'REJECTED',
      rejected_reason: 'INVALID_FORMAT',
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['named variables', { parameter_format: 'named', components: [NAMED()] }],
    ['a text header with a variable', { components: [titled('Order {{1}}', ['42']), BODY] }],
    ['a picture', { components: [header('image', ['4::aW']), BODY] }],
    ['a location', { components: [{ type: 'HEADER', format: 'LOCATION' }, BODY] }],
    ['all kinds of buttons', { components: [BODY, ALL_BUTTONS()] }],
    ['a carousel', { category: 'MARKETING', components: [BODY, { type: 'CAROUSEL', cards: [card(), card()] }] }],
    ['a limited-time offer', { category: 'MARKETING', components: offer() }],
    ['a time to live', { message_send_ttl_seconds: 3600 }],
    [
      'labels with single marks',
      { components: [BODY, buttons(...['5* hotel', 'my_order_id', '~5 km', 'OK ™'].map(reply))] },
    ],
    ['a body of 1,024 characters', { components: [{ type: 'BODY', text: 'x'.repeat(1024) }] }],
  ])('may have %s', async (_, body) => {
    expect((await create(body)).json).toMatchObject({ status: 'PENDING' });
  });

  it('of codes get their texts from the platform, and a button of type URL', async () => {
    const footer = { type: 'FOOTER', code_expiration_minutes: 10 };
    const id = idOf(await create({ category: 'AUTHENTICATION', components: [SECURE, footer, otp({ text: 'Copy' })] }));
    const { components } = await read(id, 'components');
    expect(components).toMatchObject([
      { type: 'BODY', text: expect.stringMatching(/^\*\{\{1\}\}\* is your verification code\. For your security/) },
      { type: 'FOOTER', text: 'This code expires in 10 minutes.' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Copy', url: expect.stringContaining('{{1}}') }] },
    ]);
  });

  it.each<[string, number | undefined, Record<string, unknown>]>([
    ['no name', undefined, { name: undefined }],
    ['a name in capitals', 2388046, { name: 'Hello' }],
    ['a name of 513 characters', 2388046, { name: 'x'.repeat(513) }],
    ['no language', undefined, { language: undefined }],
    ['a language that is none', undefined, { language: 'English' }],
    ['no category', undefined, { category: undefined }],
    ['a category that is none', undefined, { category: 'NEWS' }],
    ['no components', undefined, { components: undefined }],
    ['an unknown component', undefined, { components: [BODY, { type: 'SIDEBAR' }] }],
    ['two bodies', undefined, { components: [BODY, BODY] }],
    ['no body', 2388043, { components: [{ type: 'FOOTER', text: 'x' }] }],
    ['a body of 1,025 characters', 2388040, { components: [{ type: 'BODY', text: 'x'.repeat(1025) }] }],
    ['a header of 61 characters', 2388040, { components: [titled('x'.repeat(61)), BODY] }],
    ['a header with two variables', 2388047, { components: [titled('A {{1}} b {{2}}', ['a', 'b']), BODY] }],
    ['a header in bold', 2388047, { components: [titled('*Order*'), BODY] }],
    ['a header variable without example', 2388043, { components: [titled('Order {{1}}'), BODY] }],
    ['a picture without example', 2388043, { components: [header('IMAGE'), BODY] }],
    ['a link for a handle', undefined, { components: [header('IMAGE', ['https://ex.co/a.jpg']), BODY] }],
    ['a footer with a variable', 2388073, { components: [BODY, { type: 'FOOTER', text: 'By {{1}}.' }] }],
    ['a variable at the start', 2388299, { components: [withVariable('{{1}} is here.', { body_text: [['a']] })] }],
    ['a variable at the end', 2388299, { components: [withVariable('Here is {{1}} ', { body_text: [['a']] })] }],
    [
      'more variables than words',
      2388293,
      { components: [withVariable('Hi {{1}} {{2}}!', { body_text: [['a', 'b']] })] },
    ],
    ['no example', 2388043, { components: [withVariable('Hello {{1}}, all is well.')] }],
    [
      'too few examples',
      2388043,
      { components: [withVariable('Hello {{1}} and {{2}} there.', { body_text: [['a']] })] },
    ],
    ['a position left out', 2388072, { components: [withVariable('Hello {{2}} over there.', { body_text: [['a']] })] }],
    ['names where positions belong', 2388072, { components: [NAMED()] }],
    ['a name that is none', 2388072, { parameter_format: 'NAMED', components: [NAMED('First-Name')] }],
    ['braces left over', 2388072, { components: [{ type: 'BODY', text: 'Hello {{1, all is well.' }] }],
    ['no buttons', undefined, { components: [BODY, buttons()] }],
    ['eleven buttons', undefined, { components: [BODY, buttons(...Array.from({ length: 11 }, () => reply('x')))] }],
    ['three links', undefined, { components: [BODY, buttons(LINK(), LINK(), LINK())] }],
    ['replies that are apart', undefined, { components: [BODY, buttons(reply('a'), LINK(), reply('b'))] }],
    ['a label of 26 characters', 2388040, { components: [BODY, buttons(reply('x'.repeat(26)))] }],
    ['an emoji in a label', 2388060, { components: [BODY, buttons(reply('OK 👍'))] }],
    ['a symbol drawn as an emoji in a label', 2388060, { components: [BODY, buttons(reply('OK \u2714\uFE0F'))] }],
    ['a variable in a label', 2388060, { components: [BODY, buttons(reply('Order {{1}}'))] }],
    ['a line break in a label', 2388060, { components: [BODY, buttons(reply('Stop\nnow'))] }],
    ['bold words in a label', 2388060, { components: [BODY, buttons(reply('Stop *now*'))] }],
    ['italic words in a label', 2388060, { components: [BODY, buttons({ ...link('https://x.co/'), text: '_Open_' })] }],
    ['code in a label', 2388060, { components: [BODY, buttons(reply('Say `yes`'))] }],
    [
      'an emoji in the label of a code',
      2388060,
      { category: 'AUTHENTICATION', components: [SECURE, otp({ text: '🔑' })] },
    ],
    ['a label left out', 2388043, { components: [BODY, buttons({ type: 'QUICK_REPLY' })] }],
    [
      'a link with its variable inside',
      undefined,
      { components: [BODY, buttons(link('https://x.co/{{1}}/a', ['b']))] },
    ],
    ['a link without example', 2388043, { components: [BODY, buttons(link('https://x.co/{{1}}'))] }],
    ['a link that is none', undefined, { components: [BODY, buttons(link('x.co'))] }],
    [
      'a code of 21 characters',
      2388040,
      { components: [BODY, buttons({ type: 'COPY_CODE', example: 'x'.repeat(21) })] },
    ],
    ['a one-time password elsewhere', undefined, { components: [BODY, otp()] }],
    ['one card', undefined, { category: 'MARKETING', components: [BODY, { type: 'CAROUSEL', cards: [card()] }] }],
    [
      'cards of two shapes',
      undefined,
      { category: 'MARKETING', components: [BODY, { type: 'CAROUSEL', cards: [card(), card('VIDEO')] }] },
    ],
    [
      'a card text of 161 characters',
      2388040,
      {
        category: 'MARKETING',
        components: [BODY, { type: 'CAROUSEL', cards: [card(), card('IMAGE', 'x'.repeat(161))] }],
      },
    ],
    ['an offer outside marketing', undefined, { components: offer() }],
    ['an offer with a footer', undefined, { category: 'MARKETING', components: offer({ type: 'FOOTER', text: 'x' }) }],
    ['a text in a code template', undefined, { category: 'AUTHENTICATION', components: [BODY, otp()] }],
    ['a code template without button', 2388043, { category: 'AUTHENTICATION', components: [SECURE] }],
    ['an app without its hash', undefined, { category: 'AUTHENTICATION', components: [SECURE, otp(ONE_TAP)] }],
    ['a code for 91 minutes', undefined, { category: 'AUTHENTICATION', components: [SECURE, EXPIRES(91), otp()] }],
    ['a time to live beyond its category', undefined, { message_send_ttl_seconds: 43_201 }],
  ])('with %s are refused', async (_, subcode, body) => {
    const answer = await create(body);
    expect(codes(answer)).toEqual([400, 100, subcode]);
    expect(answer.json.error?.message).toMatch(/\S/);
  });

  it('of the same name and language are refused with 2388024, of another language taken', async () => {
    await create({ name: 'twice' });
    const answer = await create({ name: 'twice' });
    expect(codes(answer)).toEqual([400, 100, 2388024]);
    expect(answer.json.error).toMatchObject({
      message: 'Invalid parameter',
      is_transient: false,
      error_user_title: 'Content in This Language Already Exists',
      error_user_msg: expect.stringContaining('en_US'),
    });
    expect((await create({ name: 'twice', language: 'de' })).status).toBe(200);
  });

  it('may be a hundred an hour, and as many as an account may have', async () => {
    const small = await startRig({ templatesPerAccount: 4, templateCreationsPerHour: 3 });
    const make = (name: string) =>
      small.client.call('POST', LIST, { name, language: 'en_US', category: 'UTILITY', components: [BODY] });
    // Two are there from the start.
    expect([await make('a'), await make('b')].map(({ status }) => status)).toEqual([200, 200]);
    expect(codes(await make('c'))).toEqual([400, 100, 2388019]);
    await small.client.call('DELETE', `${LIST}?name=a`);
    expect((await make('c')).status).toBe(200);
    expect(codes(await make('d'))).toEqual([429, 80007, undefined]);
    await small.client.control('POST', 'reset');
    expect(codes(await make('d'))).toEqual([400, 100, 2388019]);
    await small.stop();
  });

  it('are edited when approved once a day, and reviewed again', async () => {
    const id = idOf(await create({ name: 'hold_me' }));
    const approve = () => rig.client.control('POST', `templates/${id}/review`, { event: 'APPROVED' });
    const edit = (change: object) => rig.client.call('POST', `/v26.0/${id}`, change);
    expect(codes(await edit({ components: [GREETING] }))).toEqual([400, 100, 2388039]);
    await approve();
    const moved = await edit({ category: 'MARKETING' });
    expect([codes(moved)[1], moved.json.error?.message]).toEqual([100, expect.stringContaining('category')]);
    expect(codes(await edit({}))).toEqual([400, 100, undefined]);
    expect((await edit({ components: [GREETING] })).json).toEqual({ success: true });
    expect(await read(id, 'status,components')).toMatchObject({ status: 'PENDING', components: [GREETING] });
    await approve();
    expect(codes(await edit({ components: [BODY] }))).toEqual([400, 100, 2388039]);
  });

  it('are edited when rejected as often as one likes, category too', async () => {
    const id = idOf(await create({ name: 'reject_me' }));
    await decided(id);
    expect((await rig.client.call('POST', `/v26.0/${id}`, { category: 'MARKETING' })).status).toBe(200);
    await rig.receiver.until('both', () => notices('message_template_status_update').length === 2);
    const change = { components: [withVariable('Hi {{1}} there', { body_text: [['a']] })] };
    expect((await rig.client.call('POST', `/v26.0/${id}`, change)).status).toBe(200);
    expect(await read(id, 'category')).toMatchObject({ category: 'MARKETING' });
  });

  it('are deleted by name in all languages; an approved name stays blocked', async () => {
    // On hold, because the second one must not be approved before it is deleted.
    const first = idOf(await create({ name: 'gone_hold_me' }));
    await rig.client.control('POST', `templates/${first}/review`, { event: 'APPROVED' });
    await decided(first);
    idOf(await create({ name: 'gone_hold_me', language: 'de' }));
    expect((await rig.client.call('DELETE', `${LIST}?name=gone_hold_me`)).json).toEqual({ success: true });
    await rig.receiver.until('its deletion', () => last(first).event === 'PENDING_DELETION');
    expect(last(first).reason).toBeNull();
    expect(codes(await create({ name: 'gone_hold_me' }))).toEqual([400, 100, 2388023]);
    expect((await create({ name: 'gone_hold_me', language: 'de' })).status).toBe(200);
    for (;;) {
      const { json } = await rig.client.call('GET', `${LIST}?name=gone_hold_me&language=en_US`);
      if ((json.data as unknown[]).length === 0) break;
    }
    expect(codes(await rig.client.call('GET', `/v26.0/${first}`))).toEqual([400, 100, 33]);
    expect(codes(await rig.client.call('DELETE', `${LIST}?name=nothing`))).toEqual([400, 100, 2593002]);
  });

  it('are deleted by id, one with its name or many at once, all or none', async () => {
    const [a, b, c] = [idOf(await create({ name: 'a' })), idOf(await create({ name: 'b' })), idOf(await create({}))];
    const remove = (query: string) => rig.client.call('DELETE', `${LIST}?${query}`);
    expect((await remove(`name=a&hsm_id=${b}`)).status).toBe(400);
    expect((await remove(`name=a&hsm_id=${a}`)).status).toBe(200);
    expect((await remove(`hsm_ids=${encodeURIComponent(JSON.stringify([b, '1']))}`)).status).toBe(400);
    expect((await remove(`name=b&hsm_ids=[${b}]`)).status).toBe(400);
    expect((await read(b)).id).toBe(b);
    expect((await remove(`hsm_ids=${encodeURIComponent(JSON.stringify([b, c]))}`)).status).toBe(200);
    expect((await remove('')).status).toBe(400);
  });

  it('are still decided on, and remembered as deleted, after a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'simulator-templates-'));
    const components = [BODY];
    const make = (on: SimulatorRig, name: string) =>
      on.client.call('POST', LIST, { name, language: 'en_US', category: 'UTILITY', components });
    // Long enough for a slow machine to stop before it.
    const first = await startRig({ dataDir, templateReviewMs: 1_000 });
    const id = idOf(await make(first, 'pending'));
    await first.client.call('DELETE', `${LIST}?name=order_update`);
    await first.stop();
    const second = await startRig({ dataDir, templateReviewMs: 200 });
    await second.receiver.until('the approval', () =>
      second.receiver.requests.some(({ bytes }) => bytes.includes('APPROVED')),
    );
    expect(second.simulator.templates.get(id)?.status).toBe('APPROVED');
    expect(codes(await make(second, 'order_update'))).toEqual([400, 100, 2388023]);
    await second.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('are found by content, quality and several states, and counted', async () => {
    // On hold, because a review may come between two questions.
    idOf(await create({ name: 'about_parcels_hold_me', components: [{ type: 'BODY', text: 'Your Parcel is here.' }] }));
    const list = async (query: string) => (await rig.client.call('GET', `${LIST}?fields=name&${query}`)).json;
    const found = async (query: string) => ((await list(query)).data as { name: string }[]).map(({ name }) => name);
    expect(await found('content=parcel')).toEqual(['about_parcels_hold_me']);
    expect(await found('name_or_content=order')).toEqual(['order_update']);
    expect(await found('status=PENDING,REJECTED')).toEqual(['about_parcels_hold_me']);
    expect(await found('quality_score=GREEN')).toEqual([]);
    expect((await list('limit=1&summary=total_count,message_template_limit')).summary).toEqual({
      total_count: 3,
      message_template_limit: 6000,
    });
  });

  it('show an address in the place of a handle', async () => {
    const id = idOf(await create({ components: [header('IMAGE', ['4::aW']), BODY] }));
    const { components } = await read(id, 'components');
    expect(components).toMatchObject([
      { example: { header_handle: [expect.stringMatching(/^https:\/\/scontent\.whatsapp\.net\//)] } },
      BODY,
    ]);
  });

  it('of utility may come back as marketing ones, unless that is forbidden', async () => {
    expect((await create({ name: 'promo_me_1' })).json).toMatchObject({ category: 'MARKETING' });
    expect((await create({ name: 'promo_me_2', allow_category_change: false })).json).toMatchObject({
      category: 'UTILITY',
    });
  });
});

function NAMED(name = 'first_name'): object {
  const params = [{ param_name: name, example: 'Ana' }];
  return withVariable(`Hello {{${name}}}, all is well.`, { body_text_named_params: params });
}

function titled(text: string, examples?: string[]): object {
  return {
    type: 'HEADER',
    format: 'TEXT',
    text,
    ...(examples === undefined ? {} : { example: { header_text: examples } }),
  };
}

function LINK(): object {
  return link('https://example.com/{{1}}', ['https://example.com/42']);
}

function ALL_BUTTONS(): object {
  return buttons(
    reply('Yes'),
    reply('No'),
    LINK(),
    { type: 'phone_number', text: 'Call', phone_number: '+16505550134' },
    { type: 'COPY_CODE', example: ['OFF25'] },
    { type: 'FLOW', text: 'Start', flow_id: '1' },
  );
}

function EXPIRES(minutes: number): object {
  return { type: 'FOOTER', code_expiration_minutes: minutes };
}

function offer(...more: object[]): object[] {
  const text = { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends soon', has_expiration: true } };
  return [BODY, text, buttons({ type: 'COPY_CODE', example: 'OFF25' }, LINK()), ...more];
}
