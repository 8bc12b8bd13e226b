import type { TemplateForm } from '../templates.types.js';
import { renderBody } from './preview.js';
import { checkSendParameters, headerMediaOf } from './send-parameters.js';

type Json = Record<string, unknown>;

const form = (components: Json[], rest: Partial<TemplateForm> = {}): TemplateForm => ({
  category: 'UTILITY',
  parameterFormat: 'POSITIONAL',
  components: components as unknown as TemplateForm['components'],
  ...rest,
});
const text = (value: unknown, name?: string): Json => ({
  type: 'text',
  ...(name !== undefined && { parameter_name: name }),
  text: value,
});
const body = (...parameters: unknown[]): Json => ({ type: 'body', parameters });
const header = (...parameters: unknown[]): Json => ({ type: 'header', parameters });
const button = (index: unknown, subType: string, ...parameters: unknown[]): Json => ({
  type: 'button',
  sub_type: subType,
  index,
  parameters,
});

const GREETING = form([{ type: 'BODY', text: 'Hi {{1}}, order {{2}} left.' }]);
const NAMED = form([{ type: 'BODY', text: 'Hi {{first_name}}, order {{order}} left.' }], { parameterFormat: 'NAMED' });
const HEADED = (format: string): TemplateForm =>
  form([
    { type: 'HEADER', format },
    { type: 'BODY', text: 'Look.' },
  ]);
const BUTTONS = form([
  { type: 'BODY', text: 'Look.' },
  {
    type: 'BUTTONS',
    buttons: [
      { type: 'QUICK_REPLY', text: 'Stop' },
      { type: 'URL', text: 'Track', url: 'https://x/{{1}}' },
      { type: 'URL', text: 'Shop', url: 'https://x/' },
      { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550001111' },
      { type: 'FLOW', text: 'Open', flow_id: '1' },
    ],
  },
]);
const CODE = form([{ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] }], {
  category: 'AUTHENTICATION',
});
const TRACK = button('1', 'url', text('42'));
const CARD = (url: string): Json => ({
  components: [
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: 'Only {{1}}.' },
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Buy', url }] },
  ],
});
const CAROUSEL = form([
  { type: 'BODY', text: 'Offers' },
  { type: 'CAROUSEL', cards: [CARD('https://x/{{1}}'), CARD('https://x/{{1}}')] },
]);
const IMAGE = { type: 'image', image: { id: '1' } };
const cards = (...list: Json[]): Json => ({ type: 'carousel', cards: list });
const cardOf = (index: unknown, ...more: Json[]): Json => ({
  ...(index !== undefined && { card_index: index }),
  components: [header(IMAGE), body(text('5 €')), button(0, 'url', text('a')), ...more],
});
const OFFER = (hasExpiration: boolean): TemplateForm =>
  form([
    { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends', has_expiration: hasExpiration } },
    { type: 'BODY', text: 'Look.' },
  ]);
const ENDS = {
  type: 'limited_time_offer',
  parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: 1 } }],
};

describe('parameters that fit', () => {
  it.each<[string, TemplateForm, Json[]]>([
    ['values in the order of the numbers', GREETING, [body(text('Ana'), text('42'))]],
    ['names in any order', NAMED, [body(text('42', 'order'), text('Ana', 'first_name'))]],
    [
      'money and times',
      GREETING,
      [
        body(
          { type: 'currency', currency: { fallback_value: '$5', code: 'USD', amount_1000: 5000 } },
          { type: 'date_time', date_time: { fallback_value: 'today' } },
        ),
      ],
    ],
    ['types in capitals', GREETING, [{ type: 'BODY', parameters: [{ ...text('a'), type: 'TEXT' }, text('b')] }]],
    ['kinds of parameter that are new', GREETING, [body({ type: 'something_new' }, text('b'))]],
    ['values with four spaces', GREETING, [body(text('a    b'), text(' c '))]],
    ['an image by id', HEADED('IMAGE'), [header({ type: 'image', image: { id: '1' } })]],
    ['a document by link', HEADED('DOCUMENT'), [header({ type: 'document', document: { link: 'https://x/a.pdf' } })]],
    ['a GIF as a video', HEADED('GIF'), [header({ type: 'video', video: { id: '1' } })]],
    ['a place', HEADED('LOCATION'), [header({ type: 'location', location: { latitude: 1, longitude: 2 } })]],
    ['a header of a kind that is new', HEADED('PRODUCT'), []],
    ['a link’s suffix, the index as text', BUTTONS, [TRACK]],
    ['a payload for a quick reply', BUTTONS, [button(0, 'quick_reply', { type: 'payload', payload: 'STOP' }), TRACK]],
    ['a token for a flow', BUTTONS, [TRACK, button(4, 'flow', { type: 'action', action: { flow_token: 't' } })]],
    ['components without parameters', GREETING, [header(), body(text('a'), text('b')), { type: 'footer' }]],
    ['a button without an index is the first', CODE, [body(text('123456')), button(undefined, 'url', text('123456'))]],
    ['cards by their index', CAROUSEL, [cards(cardOf(1), cardOf('0'))]],
    ['cards by their place', CAROUSEL, [cards(cardOf(undefined), cardOf(undefined))]],
    ['an offer’s end', OFFER(true), [ENDS]],
    ['words in braces that are no variable', form([{ type: 'BODY', text: 'Write {{Name}} here' }]), []],
  ])('%s', (_name, template, sent) => {
    expect(checkSendParameters(template, sent)).toBeNull();
  });
});

describe('parameters that do not fit', () => {
  it.each<[string, TemplateForm, Json[], object, object]>([
    ['no values', GREETING, [], { component: 'body', parameters: 2 }, { component: 'body', parameters: 0 }],
    [
      'a value too many',
      GREETING,
      [body(text('a'), text('b'), text('c'))],
      { component: 'body', parameters: 2 },
      { component: 'body', parameters: 3 },
    ],
    [
      'values without names',
      NAMED,
      [body(text('a'), text('b'))],
      { component: 'body', names: ['first_name', 'order'] },
      { component: 'body', names: ['', ''] },
    ],
    [
      'a name twice',
      NAMED,
      [body(text('a', 'order'), text('b', 'order'))],
      { component: 'body', names: ['first_name', 'order'] },
      { component: 'body', names: ['order', 'order'] },
    ],
    [
      'a number for a text',
      GREETING,
      [body(text('a'), text(42))],
      { component: 'body', parameter: 2, type: 'text', value: 'text' },
      { component: 'body', parameter: 2, type: 'text', value: 'number' },
    ],
    [
      'an empty text',
      GREETING,
      [body(text('a'), text(''))],
      { component: 'body', parameter: 2, type: 'text', value: 'text' },
      { component: 'body', parameter: 2, type: 'text', value: 'empty' },
    ],
    [
      'a line break in a text',
      GREETING,
      [body(text('a\nb'), text('b'))],
      { component: 'body', parameter: 1, type: 'text', value: 'single_line' },
      { component: 'body', parameter: 1, type: 'text', value: 'line_break' },
    ],
    [
      'a tab in a text',
      GREETING,
      [body(text('a\tb'), text('b'))],
      { component: 'body', parameter: 1, type: 'text', value: 'single_line' },
      { component: 'body', parameter: 1, type: 'text', value: 'tab' },
    ],
    [
      'five spaces in a text',
      GREETING,
      [body(text('a'), text('a     b'))],
      { component: 'body', parameter: 2, type: 'text', value: 'single_line' },
      { component: 'body', parameter: 2, type: 'text', value: 'five_spaces' },
    ],
    [
      'an image in the body',
      GREETING,
      [body(IMAGE, text('a'))],
      { component: 'body', parameter: 1, type: 'text' },
      { component: 'body', parameter: 1, type: 'image' },
    ],
    [
      'a value without a type',
      GREETING,
      [body({ text: 'a' }, text('b'))],
      { component: 'body', parameter: 1, type: 'text' },
      { component: 'body', parameter: 1 },
    ],
    [
      'a value that is no object',
      GREETING,
      [body('a', 'b')],
      { component: 'body', parameter: 1, type: 'text' },
      { component: 'body', parameter: 1 },
    ],
    [
      'a header that the template has not',
      GREETING,
      [header(text('x')), body(text('a'), text('b'))],
      { component: 'header', parameters: 0 },
      { component: 'header', parameters: 1 },
    ],
    [
      'no image',
      HEADED('IMAGE'),
      [],
      { component: 'header', type: 'image', parameters: 1 },
      { component: 'header', parameters: 0 },
    ],
    [
      'text for an image',
      HEADED('IMAGE'),
      [header(text('x'))],
      { component: 'header', type: 'image', parameters: 1 },
      { component: 'header', type: 'text', parameters: 1 },
    ],
    [
      'an image without id and link',
      HEADED('IMAGE'),
      [header({ type: 'image', image: {} })],
      { component: 'header', type: 'image', parameters: 1, value: 'id_or_link' },
      { component: 'header', type: 'image', parameters: 1, value: 'missing' },
    ],
    [
      'two images',
      HEADED('IMAGE'),
      [header(IMAGE, IMAGE)],
      { component: 'header', parameters: 1 },
      { component: 'header', parameters: 2 },
    ],
    [
      'no suffix for a link',
      BUTTONS,
      [],
      { component: 'button', index: 1, sub_type: 'url', parameters: 1 },
      { component: 'button', index: 1, parameters: 0 },
    ],
    [
      'a suffix for a link without a variable',
      BUTTONS,
      [TRACK, button(2, 'url', text('x'))],
      { component: 'button', index: 2, sub_type: 'url', parameters: 0 },
      { component: 'button', index: 2, parameters: 1 },
    ],
    [
      'a parameter for a call',
      BUTTONS,
      [TRACK, button(3, 'phone_number', text('x'))],
      { component: 'button', index: 3, sub_type: 'phone_number', parameters: 0 },
      { component: 'button', index: 3, parameters: 1 },
    ],
    [
      'another kind of button than at that place',
      BUTTONS,
      [button(0, 'url', text('42'))],
      { component: 'button', index: 0, sub_type: 'quick_reply' },
      { component: 'button', index: 0, sub_type: 'url' },
    ],
    [
      'a button that is not there',
      BUTTONS,
      [TRACK, button(9, 'url', text('42'))],
      { component: 'button', parameters: 0 },
      { component: 'button', index: 9, parameters: 1 },
    ],
    [
      'an index that is no place',
      BUTTONS,
      [TRACK, button('first', 'url', text('42'))],
      { component: 'button', parameters: 0 },
      { component: 'button', parameters: 1 },
    ],
    [
      'a button of a template without buttons',
      GREETING,
      [body(text('a'), text('b')), TRACK],
      { component: 'button', parameters: 0 },
      { component: 'button', index: 1, parameters: 1 },
    ],
    [
      'a code in the body alone',
      CODE,
      [body(text('123456'))],
      { component: 'button', index: 0, sub_type: 'url', parameters: 1 },
      { component: 'button', index: 0, parameters: 0 },
    ],
    [
      'a card that is not there',
      CAROUSEL,
      [cards(cardOf(0), cardOf(1), cardOf(2))],
      { component: 'carousel', cards: 2 },
      { component: 'carousel', cards: 3 },
    ],
    [
      'a card left out',
      CAROUSEL,
      [cards(cardOf(0))],
      { component: 'header', card: 1, type: 'image', parameters: 1 },
      { component: 'header', card: 1, parameters: 0 },
    ],
    [
      'a carousel that the template has not',
      GREETING,
      [body(text('a'), text('b')), cards(cardOf(0))],
      { component: 'carousel', cards: 0 },
      { component: 'carousel', cards: 1 },
    ],
    [
      'no end of an offer that ends',
      OFFER(true),
      [],
      { component: 'limited_time_offer', parameters: 1 },
      { component: 'limited_time_offer', parameters: 0 },
    ],
    [
      'the end of an offer that is none',
      GREETING,
      [body(text('a'), text('b')), ENDS],
      { component: 'limited_time_offer', parameters: 0 },
      { component: 'limited_time_offer', parameters: 1 },
    ],
  ])('%s', (_name, template, sent, expected, given) => {
    expect(checkSendParameters(template, sent)).toEqual({ expected, given, message: expect.any(String) });
  });

  it('are reported in a sentence that says what to do', () => {
    const messages = [
      checkSendParameters(GREETING, [body(text('Ana'))]),
      checkSendParameters(NAMED, [body(text('a'), text('b'))]),
      checkSendParameters(HEADED('IMAGE'), []),
      checkSendParameters(BUTTONS, []),
      checkSendParameters(CAROUSEL, [cards(cardOf(0))]),
    ].map((mismatch) => mismatch?.message);
    expect(messages).toEqual([
      'The body takes 2 parameters, not 1.',
      'Give each parameter of the body its parameter_name: first_name, order.',
      'Give the header one parameter of type image, with its id or link.',
      'The button at index 1 takes 1 parameter, not 0.',
      'Give the header of card 1 one parameter of type image, with its id or link.',
    ]);
  });
});

describe('the rendered body', () => {
  it('holds money and times by their fallback', () => {
    const sent = [body({ type: 'currency', currency: { fallback_value: '$5' } }, text('42'))];
    expect(renderBody(GREETING, sent)).toBe('Hi $5, order 42 left.');
  });

  it('never fills a value that looks like a variable', () => {
    expect(renderBody(GREETING, [body(text('{{2}}'), text('$1'))])).toBe('Hi {{2}}, order $1 left.');
  });

  it('keeps the place of what is not given', () => {
    expect(renderBody(NAMED, [body(text('42', 'order'))])).toBe('Hi {{first_name}}, order 42 left.');
  });

  it('is the platform’s sentence for a code, and null where there is no body', () => {
    const code = form([{ type: 'BODY', add_security_recommendation: true }], { category: 'AUTHENTICATION' });
    expect(renderBody(code, [body(text('123456'))])).toBe(
      '*123456* is your verification code. For your security, do not share this code.',
    );
    expect(renderBody(form([{ type: 'FOOTER', text: 'x' }]), [])).toBeNull();
  });
});

describe('the media of a header', () => {
  it.each([
    ['IMAGE', 'image'],
    ['video', 'video'],
    ['GIF', 'video'],
    ['DOCUMENT', 'document'],
    ['TEXT', null],
    ['LOCATION', null],
  ])('%s is sent as %s', (format, media) => {
    expect(headerMediaOf(HEADED(format).components)).toBe(media);
  });

  it('is none without a header', () => {
    expect(headerMediaOf(GREETING.components)).toBeNull();
  });
});
