import type { TemplateComponent } from '../templates.types.js';
import type { TemplateDraft } from '../templates.types.js';
import { checkTemplate } from './check-template.js';

type Json = Record<string, unknown>;

const draft = (components: unknown, rest: Partial<TemplateDraft> = {}): TemplateDraft => ({
  name: 'order_update',
  language: 'en_US',
  category: 'UTILITY',
  parameterFormat: 'POSITIONAL',
  components: components as TemplateComponent[],
  ...rest,
});
const BODY = { type: 'BODY', text: 'Your order is on its way.' };
const positional = (text: string, ...examples: unknown[]): Json => ({
  type: 'BODY',
  text,
  example: { body_text: [examples] },
});
const named = (text: string, ...params: [string, string][]): Json => ({
  type: 'BODY',
  text,
  example: { body_text_named_params: params.map(([name, example]) => ({ param_name: name, example })) },
});
const withBody = (body: unknown): TemplateDraft => draft([body]);
const withNamed = (body: unknown): TemplateDraft => draft([body], { parameterFormat: 'NAMED' });
const withHeader = (header: Json): TemplateDraft => draft([{ type: 'HEADER', ...header }, BODY]);
const textHeader = (text: unknown, ...examples: unknown[]): TemplateDraft =>
  withHeader({ format: 'TEXT', text, example: { header_text: examples } });
const withFooter = (text: unknown): TemplateDraft => draft([BODY, { type: 'FOOTER', text }]);
const withButtons = (...buttons: unknown[]): TemplateDraft => draft([BODY, { type: 'BUTTONS', buttons }]);
const QR = { type: 'QUICK_REPLY', text: 'Stop' };
const URL_BUTTON = { type: 'URL', text: 'Track', url: 'https://example.com/' };
const PHONE = { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550001111' };
const COPY = { type: 'COPY_CODE', example: 'OFF25' };
const CALL = { type: 'VOICE_CALL', text: 'Call on WhatsApp' };
const authentication = (...components: Json[]): TemplateDraft => draft(components, { category: 'AUTHENTICATION' });
const OTP = { type: 'OTP', otp_type: 'COPY_CODE' };
const withOtp = (button: Json): TemplateDraft =>
  authentication({ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ ...OTP, ...button }] });
const APP = { package_name: 'com.example.shop', signature_hash: 'K8a/AINcGX7' };
const withApps = (...apps: unknown[]): TemplateDraft => withOtp({ otp_type: 'ONE_TAP', supported_apps: apps });
const HANDLE = { header_handle: ['4::aW1hZ2U='] };
const CARD_HEADER = { type: 'HEADER', format: 'IMAGE', example: HANDLE };
const CARD_BUTTONS = { type: 'BUTTONS', buttons: [QR] };
const card = (...components: unknown[]): Json => ({ components });
const CARD = card(CARD_HEADER, CARD_BUTTONS);
const withCards = (cards: unknown): TemplateDraft => draft([BODY, { type: 'CAROUSEL', cards }]);
const offer = (text: unknown, ...more: unknown[]): TemplateDraft =>
  draft([{ type: 'LIMITED_TIME_OFFER', limited_time_offer: { text, has_expiration: true } }, BODY, ...more]);

interface Rule {
  accepted: TemplateDraft;
  refused: TemplateDraft;
  field: string;
  rule: string;
}

const at = (field: string, rule: string, accepted: TemplateDraft, refused: TemplateDraft): Rule => ({
  accepted,
  refused,
  field,
  rule,
});

const RULES: Record<string, Rule> = {
  'a name is made of small letters, digits and underscores': at(
    'name',
    'format',
    draft([BODY], { name: 'a_1' }),
    draft([BODY], { name: 'A-1' }),
  ),
  'a name has at most 512 characters': at(
    'name',
    'format',
    draft([BODY], { name: 'a'.repeat(512) }),
    draft([BODY], { name: 'a'.repeat(513) }),
  ),
  'components are a list': at('components', 'type', draft([BODY]), draft({ 0: BODY })),
  'a component is an object': at(
    'components[1]',
    'type',
    draft([BODY, { type: 'SOMETHING_NEW' }]),
    draft([BODY, null]),
  ),
  'a component has a type': at(
    'components[1].type',
    'required',
    draft([BODY, { type: 'footer', text: 'Shop' }]),
    draft([BODY, { text: 'Shop' }]),
  ),
  'each component stands once': at(
    'components[1]',
    'duplicate',
    draft([BODY]),
    draft([BODY, { ...BODY, type: 'body' }]),
  ),
  'a body is required': at('components', 'required', draft([BODY]), draft([{ type: 'FOOTER', text: 'Shop' }])),
  'but not in a template for codes': at(
    'components',
    'required',
    authentication({ type: 'BUTTONS', buttons: [OTP] }),
    draft([{ type: 'BUTTONS', buttons: [QR] }]),
  ),

  'a header has a format': at(
    'components[0].format',
    'required',
    withHeader({ format: 'text', text: 'Hi' }),
    withHeader({ text: 'Hi' }),
  ),
  'a text header has a text': at('components[0].text', 'required', textHeader('Hi'), textHeader(undefined)),
  'a header has at most 60 characters': at(
    'components[0].text',
    'length',
    textHeader('é😀'.repeat(30)),
    textHeader('x'.repeat(61)),
  ),
  'a header has at most one variable': at(
    'components[0].text',
    'variable_count',
    textHeader('Order {{1}}', '42'),
    textHeader('{{1}} of {{2}}', '42', '43'),
  ),
  "a header's variable has an example": at(
    'components[0].example',
    'variable_example',
    textHeader('Order {{1}}', '42'),
    textHeader('Order {{1}}'),
  ),
  'a header is plain text': at(
    'components[0].text',
    'markdown',
    textHeader('2 * 3 = 6, snake_case_name'),
    textHeader('A *bold* word'),
  ),
  'a media header has a sample': at(
    'components[0].example.header_handle',
    'required',
    withHeader({ format: 'IMAGE', example: HANDLE }),
    withHeader({ format: 'IMAGE', example: { header_handle: [] } }),
  ),
  'a place is for utility and marketing': at(
    'components[0].format',
    'one_of',
    withHeader({ format: 'LOCATION' }),
    authentication({ type: 'HEADER', format: 'LOCATION' }, { type: 'BODY' }),
  ),

  'a body has a text': at('components[0].text', 'required', withBody(BODY), withBody({ type: 'BODY' })),
  'a body is not empty': at('components[0].text', 'required', withBody(BODY), withBody({ type: 'BODY', text: ' ' })),
  'a body is text': at('components[0].text', 'type', withBody(BODY), withBody({ type: 'BODY', text: 7 })),
  'a body has at most 1024 characters': at(
    'components[0].text',
    'length',
    withBody({ type: 'BODY', text: '😀'.repeat(1024) }),
    withBody({ type: 'BODY', text: 'x'.repeat(1025) }),
  ),
  'variables are numbered': at(
    'components[0].text',
    'variable_format',
    withBody(positional('Hi {{1}}!', 'Ana')),
    withBody(named('Hi {{first_name}}!', ['first_name', 'Ana'])),
  ),
  'variables are numbered from {{1}}': at(
    'components[0].text',
    'variable_sequence',
    withBody(positional('Hi {{1}}!', 'Ana')),
    withBody(positional('Hi {{2}}!', 'Ana', 'Bo')),
  ),
  'variables are numbered without gaps': at(
    'components[0].text',
    'variable_sequence',
    withBody(positional('Hi {{2}} and {{1}}!', 'Ana', 'Bo')),
    withBody(positional('Hi {{1}} and {{3}}!', 'Ana', 'Bo', 'Cy')),
  ),
  'a name has small letters, digits and underscores': at(
    'components[0].text',
    'variable_format',
    withNamed(named('Hi {{name_2}}!', ['name_2', 'Ana'])),
    withNamed(named('Hi {{firstName}}!', ['firstName', 'Ana'])),
  ),
  'a name stands once': at(
    'components[0].text',
    'variable_unique',
    withNamed(named('Hi {{a}} and {{b}}!', ['a', 'x'], ['b', 'y'])),
    withNamed(named('Hi {{a}} and {{a}}!', ['a', 'x'])),
  ),
  'names and numbers do not mix': at(
    'components[0].text',
    'variable_mixed',
    withNamed(named('Hi {{a}} and {{b}}!', ['a', 'x'], ['b', 'y'])),
    withNamed(named('Hi {{a}} and {{1}}!', ['a', 'x'], ['1', 'y'])),
  ),
  'a body does not begin with a variable': at(
    'components[0].text',
    'variable_position',
    withBody(positional('Hi {{1}}!', 'Ana')),
    withBody(positional('{{1}}, hello', 'Ana')),
  ),
  'a body does not end with a variable': at(
    'components[0].text',
    'variable_position',
    withBody(positional('Hi {{1}}.', 'Ana')),
    withBody(positional('Hi {{1}}', 'Ana')),
  ),
  'variables do not touch': at(
    'components[0].text',
    'variable_adjacent',
    withBody(positional('Hi {{1}} {{2}}!', 'Ana', 'Bo')),
    withBody(positional('Hi {{1}}{{2}}!', 'Ana', 'Bo')),
  ),
  'each number has an example': at(
    'components[0].example',
    'variable_example',
    withBody(positional('Hi {{1}} and {{2}}!', 'Ana', 'Bo')),
    withBody(positional('Hi {{1}} and {{2}}!', 'Ana')),
  ),
  'each name has an example': at(
    'components[0].example',
    'variable_example',
    withNamed(named('Hi {{a}} and {{b}}!', ['a', 'x'], ['b', 'y'])),
    withNamed(named('Hi {{a}} and {{b}}!', ['a', 'x'], ['c', 'y'])),
  ),

  'a footer has a text': at('components[1].text', 'required', withFooter('Shop'), withFooter(undefined)),
  'a footer has at most 60 characters': at(
    'components[1].text',
    'length',
    withFooter('x'.repeat(60)),
    withFooter('x'.repeat(61)),
  ),
  'a footer has no variable': at(
    'components[1].text',
    'variable_not_allowed',
    withFooter('Shop {1}'),
    withFooter('Shop {{1}}'),
  ),

  'buttons are a list': at(
    'components[1].buttons',
    'type',
    withButtons(QR),
    draft([BODY, { type: 'BUTTONS', buttons: QR }]),
  ),
  'a button is an object': at('components[1].buttons[0]', 'type', withButtons(QR), withButtons('Stop')),
  'a button has a type': at(
    'components[1].buttons[0].type',
    'required',
    withButtons({ type: 'quick_reply', text: 'Stop' }),
    withButtons({ text: 'Stop' }),
  ),
  'a template has at most ten buttons': at(
    'components[1].buttons',
    'count',
    withButtons(...Array.from({ length: 10 }, () => QR)),
    withButtons(...Array.from({ length: 11 }, () => QR)),
  ),
  'at most two are links': at(
    'components[1].buttons',
    'count',
    withButtons(URL_BUTTON, URL_BUTTON),
    withButtons(URL_BUTTON, URL_BUTTON, URL_BUTTON),
  ),
  'at most one calls': at('components[1].buttons', 'count', withButtons(PHONE), withButtons(PHONE, PHONE)),
  'at most one copies a code': at('components[1].buttons', 'count', withButtons(COPY), withButtons(COPY, COPY)),
  'at most one calls on WhatsApp': at('components[1].buttons', 'count', withButtons(CALL), withButtons(CALL, CALL)),
  'quick replies stand together': at(
    'components[1].buttons',
    'order',
    withButtons(QR, QR, URL_BUTTON),
    withButtons(QR, URL_BUTTON, QR),
  ),
  'a label is given': at(
    'components[1].buttons[0].text',
    'required',
    withButtons(QR),
    withButtons({ type: 'QUICK_REPLY' }),
  ),
  'a label has at most 25 characters': at(
    'components[1].buttons[0].text',
    'length',
    withButtons({ ...QR, text: '𝟙'.repeat(25) }),
    withButtons({ ...QR, text: 'x'.repeat(26) }),
  ),
  ...Object.fromEntries(
    Object.entries({
      'a variable': ['{{1}', 'Order {{1}}'],
      'a named variable': ['{ name }', 'Hello {{name}}'],
      'a line break': ['Stop now', 'Stop\nnow'],
      'a carriage return': ['Stop ', 'Stop\r'],
      'an emoji': ['OK', '✅ OK'],
      'a symbol drawn as an emoji': ['\u2714 OK ™ ©', '\u2714\uFE0F OK'],
      'a flag': ['DE', '🇩🇪'],
      'a keycap': ['1 #2', '1\uFE0F\u20E3'],
      'bold words': ['5* hotel', 'See *all*'],
      'italic words': ['my_order_id _', '_now_'],
      'struck words': ['~5 km', 'was ~5~ 4'],
      'fixed-width words': ["it's", '```code```'],
    } satisfies Record<string, [string, string]>).flatMap(([what, [accepted, refused]]) =>
      [QR, URL_BUTTON, PHONE].map((button) => [
        `a label of ${button.type} holds no ${what}`,
        at(
          'components[1].buttons[0].text',
          'plain_text',
          withButtons({ ...button, text: accepted }),
          withButtons({ ...button, text: refused }),
        ),
      ]),
    ),
  ),
  'nor does that of a code': at(
    'components[1].buttons[0].text',
    'plain_text',
    withOtp({ text: 'Copy code' }),
    withOtp({ text: 'Copy 🔑' }),
  ),
  'nor does that of a card': at(
    'components[1].cards[1].components[1].buttons[0].text',
    'plain_text',
    withCards([CARD, CARD]),
    withCards([CARD, card(CARD_HEADER, { type: 'BUTTONS', buttons: [{ ...QR, text: 'Stop 🛑' }] })]),
  ),
  'a time to live of codes is 30 to 900 s': at(
    'message_send_ttl_seconds',
    'range',
    draft([{ type: 'BODY' }], { category: 'AUTHENTICATION', messageSendTtlSeconds: 900 }),
    draft([{ type: 'BODY' }], { category: 'AUTHENTICATION', messageSendTtlSeconds: 901 }),
  ),
  'of utility templates at least 30 s': at(
    'message_send_ttl_seconds',
    'range',
    draft([BODY], { messageSendTtlSeconds: 30 }),
    draft([BODY], { messageSendTtlSeconds: 29 }),
  ),
  'and at most 12 h': at(
    'message_send_ttl_seconds',
    'range',
    draft([BODY], { messageSendTtlSeconds: 43_200 }),
    draft([BODY], { messageSendTtlSeconds: 43_201 }),
  ),
  'of marketing templates 12 h to 30 days': at(
    'message_send_ttl_seconds',
    'range',
    draft([BODY], { category: 'MARKETING', messageSendTtlSeconds: 2_592_000 }),
    draft([BODY], { category: 'MARKETING', messageSendTtlSeconds: 43_199 }),
  ),
  'which alone can not have -1': at(
    'message_send_ttl_seconds',
    'range',
    draft([BODY], { messageSendTtlSeconds: -1 }),
    draft([BODY], { category: 'MARKETING', messageSendTtlSeconds: -1 }),
  ),
  'so has that of a kind unknown here': at(
    'components[1].buttons[0].text',
    'length',
    withButtons({ type: 'NEW', text: 'x'.repeat(25) }),
    withButtons({ type: 'NEW', text: 'x'.repeat(26) }),
  ),
  'a link has an address': at(
    'components[1].buttons[0].url',
    'required',
    withButtons(URL_BUTTON),
    withButtons({ type: 'URL', text: 'Track' }),
  ),
  'an address has at most 2000 characters': at(
    'components[1].buttons[0].url',
    'length',
    withButtons({ ...URL_BUTTON, url: 'x'.repeat(2000) }),
    withButtons({ ...URL_BUTTON, url: 'x'.repeat(2001) }),
  ),
  'an address has at most one variable': at(
    'components[1].buttons[0].url',
    'variable_count',
    withButtons({ ...URL_BUTTON, url: 'https://x/{{1}}', example: ['1'] }),
    withButtons({ ...URL_BUTTON, url: 'https://x/{{1}}/{{2}}', example: ['1'] }),
  ),
  "an address's variable stands at its end": at(
    'components[1].buttons[0].url',
    'variable_position',
    withButtons({ ...URL_BUTTON, url: 'https://x/{{1}}', example: ['1'] }),
    withButtons({ ...URL_BUTTON, url: 'https://x/{{1}}/', example: ['1'] }),
  ),
  "an address's variable has an example": at(
    'components[1].buttons[0].example',
    'variable_example',
    withButtons({ ...URL_BUTTON, url: 'https://x/{{1}}', example: '1' }),
    withButtons({ ...URL_BUTTON, url: 'https://x/{{1}}' }),
  ),
  'a number to call is given': at(
    'components[1].buttons[0].phone_number',
    'required',
    withButtons(PHONE),
    withButtons({ type: 'PHONE_NUMBER', text: 'Call' }),
  ),
  'a number to call has at most 20 characters': at(
    'components[1].buttons[0].phone_number',
    'length',
    withButtons({ ...PHONE, phone_number: '1'.repeat(20) }),
    withButtons({ ...PHONE, phone_number: '1'.repeat(21) }),
  ),
  'a coupon has at most 20 characters': at(
    'components[1].buttons[0].example',
    'length',
    withButtons({ ...COPY, example: ['x'.repeat(20)] }),
    withButtons({ ...COPY, example: 'x'.repeat(21) }),
  ),

  'a template for codes has no words of its own': at(
    'components[0].text',
    'not_allowed',
    authentication({ type: 'BODY', add_security_recommendation: true }),
    authentication({ type: 'BODY', text: 'Your code is {{1}}.' }),
  ),
  'nor has its footer': at(
    'components[1].text',
    'not_allowed',
    authentication({ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 1 }),
    authentication({ type: 'BODY' }, { type: 'FOOTER', text: 'Hurry' }),
  ),
  'a code lives at most 90 minutes': at(
    'components[1].code_expiration_minutes',
    'range',
    authentication({ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 90 }),
    authentication({ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 91 }),
  ),
  'a code lives at least a minute': at(
    'components[1].code_expiration_minutes',
    'range',
    authentication({ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 1 }),
    authentication({ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 0 }),
  ),
  'a code lives whole minutes': at(
    'components[1].code_expiration_minutes',
    'range',
    authentication({ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 5 }),
    authentication({ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: '5' }),
  ),
  'apps are a list': at(
    'components[1].buttons[0].supported_apps',
    'type',
    withApps(APP),
    withOtp({ otp_type: 'ONE_TAP', supported_apps: APP }),
  ),
  'at most five apps': at(
    'components[1].buttons[0].supported_apps',
    'count',
    withApps(APP, APP, APP, APP, APP),
    withApps(APP, APP, APP, APP, APP, APP),
  ),
  'an app is an object': at(
    'components[1].buttons[0].supported_apps[0]',
    'type',
    withApps(APP),
    withApps('com.example.shop'),
  ),
  'a package name has at most 224 characters': at(
    'components[1].buttons[0].supported_apps[0].package_name',
    'length',
    withApps({ ...APP, package_name: 'x'.repeat(224) }),
    withApps({ ...APP, package_name: 'x'.repeat(225) }),
  ),
  'a signature hash has 11 characters': at(
    'components[1].buttons[0].supported_apps[0].signature_hash',
    'length',
    withApps(APP),
    withApps({ ...APP, signature_hash: 'K8a/AINcGX' }),
  ),

  'cards are a list': at('components[1].cards', 'type', withCards([CARD, CARD]), withCards(null)),
  'a carousel has at least two cards': at('components[1].cards', 'count', withCards([CARD, CARD]), withCards([CARD])),
  'a carousel has at most ten cards': at(
    'components[1].cards',
    'count',
    withCards(Array(10).fill(CARD)),
    withCards(Array(11).fill(CARD)),
  ),
  'a card has a list of components': at(
    'components[1].cards[0].components',
    'type',
    withCards([CARD, CARD]),
    withCards([{}, 'card']),
  ),
  "a card's component is an object": at(
    'components[1].cards[0].components[1]',
    'type',
    withCards([CARD, CARD]),
    withCards([card(CARD_HEADER, null, CARD_BUTTONS), card(CARD_HEADER, null, CARD_BUTTONS)]),
  ),
  'a card has a header': at(
    'components[1].cards[0].components',
    'required',
    withCards([CARD, CARD]),
    withCards([card(CARD_BUTTONS), card(CARD_BUTTONS)]),
  ),
  'a card has buttons': at(
    'components[1].cards[0].components',
    'required',
    withCards([CARD, CARD]),
    withCards([card(CARD_HEADER), card(CARD_HEADER)]),
  ),
  "a card's header is media or a product": at(
    'components[1].cards[0].components[0].format',
    'one_of',
    withCards(Array(2).fill(card({ type: 'HEADER', format: 'PRODUCT' }, CARD_BUTTONS))),
    withCards(Array(2).fill(card({ type: 'HEADER', format: 'TEXT', text: 'A' }, CARD_BUTTONS))),
  ),
  "a card's media has a sample": at(
    'components[1].cards[0].components[0].example.header_handle',
    'required',
    withCards([CARD, CARD]),
    withCards(Array(2).fill(card({ type: 'HEADER', format: 'VIDEO' }, CARD_BUTTONS))),
  ),
  "a card's text has at most 160 characters": at(
    'components[1].cards[0].components[1].text',
    'length',
    withCards(Array(2).fill(card(CARD_HEADER, { type: 'BODY', text: 'x'.repeat(160) }, CARD_BUTTONS))),
    withCards(Array(2).fill(card(CARD_HEADER, { type: 'BODY', text: 'x'.repeat(161) }, CARD_BUTTONS))),
  ),
  'a card has at most two buttons': at(
    'components[1].cards[0].components[1].buttons',
    'count',
    withCards(Array(2).fill(card(CARD_HEADER, { type: 'BUTTONS', buttons: [QR, QR] }))),
    withCards(Array(2).fill(card(CARD_HEADER, { type: 'BUTTONS', buttons: [QR, QR, QR] }))),
  ),
  'a card has at least one button': at(
    'components[1].cards[0].components[1].buttons',
    'count',
    withCards([CARD, CARD]),
    withCards(Array(2).fill(card(CARD_HEADER, { type: 'BUTTONS', buttons: [] }))),
  ),
  'all cards have the same components': at(
    'components[1].cards[1]',
    'same_shape',
    withCards([CARD, CARD]),
    withCards([CARD, card(CARD_HEADER, { type: 'BODY', text: 'B' }, CARD_BUTTONS)]),
  ),
  'all cards have the same kind of header': at(
    'components[1].cards[1]',
    'same_shape',
    withCards([CARD, CARD]),
    withCards([CARD, card({ ...CARD_HEADER, format: 'VIDEO' }, CARD_BUTTONS)]),
  ),
  'all cards have the same kinds of buttons': at(
    'components[1].cards[1]',
    'same_shape',
    withCards([CARD, CARD]),
    withCards([CARD, card(CARD_HEADER, { type: 'BUTTONS', buttons: [URL_BUTTON] })]),
  ),

  'an offer is described': at(
    'components[0].limited_time_offer',
    'required',
    offer('Ends soon'),
    draft([{ type: 'LIMITED_TIME_OFFER' }, BODY]),
  ),
  'an offer has at most 16 characters': at(
    'components[0].limited_time_offer.text',
    'length',
    offer('x'.repeat(16)),
    offer('x'.repeat(17)),
  ),
  'an offer has no footer': at(
    'components[2]',
    'not_allowed',
    offer('Ends soon'),
    offer('Ends soon', { type: 'FOOTER', text: 'Shop' }),
  ),
  'an offer copies the code before it links': at(
    'components[2].buttons',
    'order',
    offer('Ends soon', { type: 'BUTTONS', buttons: [COPY, URL_BUTTON] }),
    offer('Ends soon', { type: 'BUTTONS', buttons: [URL_BUTTON, COPY] }),
  ),
};

describe('the rules of a template', () => {
  it.each(Object.entries(RULES))('%s', (_name, { accepted, refused, field, rule }) => {
    expect(checkTemplate(accepted)).toEqual([]);
    const violations = checkTemplate(refused);
    expect(violations[0]).toMatchObject({ field, rule });
    // The same violation may show in each card; no other rule is broken.
    expect(new Set(violations.map((violation) => violation.rule))).toEqual(new Set([rule]));
    // The message names the place, so that it can be alone.
    expect(violations[0]?.message).toContain(field);
  });
});

const LEFT_TO_THE_PLATFORM: Record<string, TemplateDraft> = {
  'more variables than the number of words allows: the ratio is not published': withBody(
    positional('a {{1}} {{2}} {{3}} b', '1', '2', '3'),
  ),
  'a header that ends with its variable: known to pass': textHeader('Order {{1}}', '42'),
  'a number that stands twice': withBody(positional('Hi {{1}}, dear {{1}}!', 'Ana')),
  'white space in the braces': withBody(positional('Hi {{ 1 }}!', 'Ana')),
  'more examples than variables': withBody(positional('Hi {{1}}!', 'Ana', 'Bo')),
  'examples that are not nested, or numbers': withBody({
    type: 'BODY',
    text: 'Hi {{1}}!',
    example: { body_text: [42] },
  }),
  'empty or single braces': withBody({ type: 'BODY', text: '{{}} {1} {{ }} }}{{' }),
  'a body of more than 600 characters in an offer: not confirmed': draft([
    { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends soon' } },
    { type: 'BODY', text: 'x'.repeat(601) },
  ]),
  'a card whose text begins with a variable': withCards(
    Array(2).fill(card(CARD_HEADER, positional('{{1}}', 'Ana'), CARD_BUTTONS)),
  ),
  'a header format that it does not know, for the platform names those it knows': withHeader({ format: 'AUDIO' }),
  'flags that are none, and a kind of code button that it does not know': authentication(
    { type: 'BODY', add_security_recommendation: 'yes' },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'TWO_TAP' }] },
  ),
  'a coupon without an example': withButtons({ type: 'COPY_CODE' }),
  'the label of a kind unknown here': withButtons({ type: 'NEW', text: 'Yes {{1}} 👍' }),
  'buttons that take no more than a type': withButtons({ type: 'REQUEST_CONTACT_INFO' }),
  'flows, catalogues, products and kinds that are new': withButtons(
    { type: 'FLOW', text: 'Open', flow_id: '1' },
    { type: 'CATALOG', text: 'View catalogue' },
    { type: 'MPM', text: 'View items' },
    { type: 'SPM', text: 'View item' },
    { type: 'SOMETHING_NEW', text: 'New' },
  ),
  'the button of a template for codes as the platform reports it': authentication(
    { type: 'BODY', add_security_recommendation: true },
    { type: 'BUTTONS', buttons: [{ ...URL_BUTTON, url: 'https://x/code={{1}}', example: ['https://x/code=1'] }] },
  ),
};

describe('what is not known for sure', () => {
  it.each(Object.entries(LEFT_TO_THE_PLATFORM))('is left to the platform: %s', (_name, draft) => {
    expect(checkTemplate(draft)).toEqual([]);
  });
});

describe('violations', () => {
  it('are all named at once, each with its place', () => {
    const invalid = draft([{ type: 'HEADER', format: 'IMAGE' }, positional('{{2}}'), { type: 'FOOTER', text: '' }], {
      name: '',
    });
    expect(checkTemplate(invalid).map(({ field, rule }) => `${field} ${rule}`)).toEqual([
      'name format',
      'components[0].example.header_handle required',
      'components[1].text variable_sequence',
      'components[2].text required',
    ]);
  });
});
