import type { GraphAnswer } from '../../../test/support/simulator/simulator-client.js';
import { type SimulatorRig, startRig, WABA_ID } from '../../../test/support/simulator/simulator-rig.js';

const LIST = `/v26.0/${WABA_ID}/message_templates`;
const BODY = { type: 'BODY', text: 'Hello there, all is well.' };
const body = (text: string) => ({ type: 'BODY', text });
const footer = (text: string) => ({ type: 'FOOTER', text });
const header = (text: string) => ({ type: 'HEADER', format: 'TEXT', text });
const buttons = (...list: object[]) => ({ type: 'BUTTONS', buttons: list });
const reply = (text: string) => ({ type: 'QUICK_REPLY', text });
const link = (url: string) => ({ type: 'URL', text: 'Open', url });

describe('what the platform refuses in templates', () => {
  let rig: SimulatorRig;
  let names = 0;

  beforeAll(async () => {
    rig = await startRig({ templateReviewMs: null, templateCreationsPerHour: 1_000 });
  });
  afterAll(() => rig.stop());

  const create = (draft: Record<string, unknown>) =>
    rig.client.call('POST', LIST, {
      name: `note_${++names}`,
      language: 'en_US',
      category: 'UTILITY',
      components: [BODY],
      ...draft,
    });
  const codes = ({ status, json }: GraphAnswer) => [status, json.error?.code, json.error?.error_subcode];
  const read = async (path: string) => (await rig.client.call('GET', path)).json;

  it.each<[string, object[], number | undefined]>([
    ['five spaces in a row', [body('Hello     there.')], 2388072],
    ['three new lines in a row', [body('Hello\n\n\nthere.')], 2388072],
    ['three new lines of Windows', [body('Hello\r\n\r\n\r\nthere.')], 2388072],
    ['five spaces in the header', [header('Hello     there'), BODY], 2388047],
    ['five spaces in the footer', [BODY, footer('Hello     there')], 2388073],
    ['an emoji in the footer', [BODY, footer('Thanks \u{1F44D}')], 2388073],
    ['an emoji in a button', [BODY, buttons(reply('Yes \u{1F44D}'))], 2388060],
    ['a variable in a button', [BODY, buttons(reply('Yes {{1}}'))], 2388060],
    ['bold letters in a button', [BODY, buttons(reply('*Yes*'))], 2388060],
    ['a text twice', [BODY, buttons(reply('Yes'), reply('yes '))], undefined],
    ['a link to wa.me', [BODY, buttons(link('https://wa.me/16505550134'))], undefined],
    ['a link to WhatsApp', [BODY, buttons(link('https://api.whatsapp.com/send?phone=1'))], undefined],
  ])('%s', async (_, components, subcode) => {
    expect(codes(await create({ components }))).toEqual([400, 100, subcode]);
  });

  it.each<[string, object[]]>([
    ['four spaces', [body('Hello    there.')]],
    ['two new lines', [body('Hello\n\nthere.\r\n\r\nBye.')]],
    ['a star and a sign in the footer', [BODY, footer('Terms* apply ©')]],
    ['two texts', [BODY, buttons(reply('Yes'), reply('No'))]],
    [
      'a label of no text, where the platform writes it',
      [BODY, buttons({ type: 'COPY_CODE', example: 'SAVE20', text: 5 })],
    ],
    ['a link to another host', [BODY, buttons(link('https://example.com/wa.me'))]],
    ['a host that ends alike', [BODY, buttons(link('https://owa.me.example.com/'))]],
  ])('not: %s', async (_, components) => {
    expect((await create({ components })).status).toBe(200);
  });

  it.each(['xx', 'en-US', 'en_us', 'de_DE', 'EN', 'english'])('the language %s', async (language) => {
    expect(codes(await create({ language }))).toEqual([400, 100, undefined]);
  });

  it.each(['en', 'en_US', 'pt_BR', 'fil', 'prs_AF', 'zh_HK'])('not: the language %s', async (language) => {
    expect((await create({ language })).status).toBe(200);
  });

  it('shows every documented field of a template', async () => {
    const { json } = await create({});
    const fields = 'health_status{can_send_message},source,degrees_of_freedom_spec,is_sms_fallback_enabled,bid_spec';
    expect(await read(`/v26.0/${String(json.id)}?fields=${fields}`)).toEqual({
      id: json.id,
      health_status: { can_send_message: 'BLOCKED' },
      source: 'DEVELOPER',
      is_sms_fallback_enabled: false,
    });
  });

  it('makes templates of the library', async () => {
    const { data } = (await read('/v26.0/message_template_library?topic=PAYMENTS')) as unknown as {
      data: { name: string; body: string; body_params: string[] }[];
    };
    expect(data).toMatchObject([{ name: 'payment_due_reminder_1', category: 'UTILITY', language: 'en_US' }]);
    const draft = { components: undefined, library_template_name: 'payment_due_reminder_1' };
    expect(codes(await create(draft))).toEqual([400, 100, undefined]);
    expect(codes(await create({ ...draft, library_template_name: 'nothing' }))).toEqual([400, 100, undefined]);
    const inputs = JSON.stringify([{ type: 'PHONE_NUMBER', phone_number: '+16505550199' }]);
    const { json } = await create({ ...draft, library_template_button_inputs: inputs });
    expect(await read(`/v26.0/${String(json.id)}?fields=library_template_name,components`)).toMatchObject({
      library_template_name: 'payment_due_reminder_1',
      components: [
        { type: 'BODY', text: data[0]?.body, example: { body_text: [data[0]?.body_params] } },
        { type: 'BUTTONS', buttons: [{ type: 'PHONE_NUMBER', phone_number: '+16505550199' }] },
      ],
    });
    const page = await read('/v26.0/message_template_library?limit=1&name=delivery');
    expect(page).toMatchObject({ data: [{ name: 'delivery_update_1' }] });
  });

  it('creates and edits authentication templates in many languages at once, all or none', async () => {
    const upsert = (languages: unknown, rest: object = {}) =>
      rig.client.call('POST', `/v26.0/${WABA_ID}/upsert_message_templates`, {
        name: 'code',
        languages,
        category: 'AUTHENTICATION',
        components: [{ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] }],
        ...rest,
      });
    expect(codes(await upsert(['en_US', 'nonsense']))).toEqual([400, 100, undefined]);
    expect(codes(await upsert([]))).toEqual([400, 100, undefined]);
    expect(codes(await upsert(['en_US'], { category: 'UTILITY' }))).toEqual([400, 100, undefined]);
    expect((await read(`${LIST}?name=code`)).data).toEqual([]);
    const { json } = await upsert(['en_US', 'de']);
    const made = json.data as { id: string; language: string }[];
    expect(made).toMatchObject([{ status: 'PENDING', language: 'en_US' }, { language: 'de' }]);
    for (const { id } of made) await rig.client.control('POST', `templates/${id}/review`, { event: 'APPROVED' });
    const footerWithMinutes = { type: 'FOOTER', code_expiration_minutes: 5 };
    const again = await upsert(['de', 'fr'], {
      components: [
        { type: 'BODY' },
        footerWithMinutes,
        { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
      ],
    });
    expect(again.json.data).toMatchObject([{ id: made[1]?.id, status: 'PENDING' }, { language: 'fr' }]);
    expect(await read(`/v26.0/${String(made[1]?.id)}?fields=components{type}`)).toMatchObject({
      components: [{ type: 'BODY' }, { type: 'FOOTER' }, { type: 'BUTTONS' }],
    });
  });

  it('ends a pause, and says where there is none', async () => {
    const { json } = await create({});
    const unpause = async () => (await rig.client.call('POST', `/v26.0/${String(json.id)}/unpause`)).json;
    expect(await unpause()).toMatchObject({ success: false, reason: expect.stringContaining('PENDING') });
    await rig.client.control('POST', `templates/${String(json.id)}/review`, { event: 'PAUSED' });
    expect(await unpause()).toEqual({ success: true });
    expect((await read(`/v26.0/${String(json.id)}?fields=status`)).status).toBe('APPROVED');
  });
});
