import { GraphError } from '../graph-error.js';
import { Table } from '../store.js';
import { type Template, type TemplateComponent, TemplateStore } from '../templates/template-store.js';
import { Param } from '../http/param.js';
import { checkTemplateMessage } from './template-checks.js';

const WABA = '102290129340398';
const store = new TemplateStore(new Table('templates', () => undefined));

function add(name: string, components: TemplateComponent[], rest: Partial<Template> = {}): void {
  store.put({
    id: String(1000 + store.ofAccount(WABA).length),
    wabaId: WABA,
    name,
    language: 'en_US',
    category: 'UTILITY',
    status: 'APPROVED',
    parameterFormat: 'POSITIONAL',
    components,
    rejectedReason: 'NONE',
    qualityScore: 'UNKNOWN',
    createdAt: 0,
    updatedAt: 0,
    ...rest,
  });
}

const BODY = (text: string): TemplateComponent => ({ type: 'BODY', text });
add('plain', [BODY('Hello.')]);
add('order', [BODY('Hello {{1}}, order {{2}} is here.')]);
add('named', [BODY('Hello {{first_name}}.')], { parameterFormat: 'NAMED' });
add('picture', [{ type: 'HEADER', format: 'IMAGE' }, BODY('Look.')]);
add('titled', [{ type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' }, BODY('Done.')]);
add('linked', [
  BODY('Track it.'),
  {
    type: 'BUTTONS',
    buttons: [
      { type: 'QUICK_REPLY', text: 'Stop' },
      { type: 'URL', text: 'Track', url: 'https://example.com/{{1}}' },
    ],
  },
]);
add('code', [{ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', text: 'Copy' }] }], {
  category: 'AUTHENTICATION',
});
const location = { type: 'location', location: { latitude: 52.5, longitude: '13.4', name: 'Shop' } };
const card = (text = 'Look.') => ({
  components: [
    { type: 'HEADER', format: 'IMAGE' },
    BODY(text),
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Open', url: 'https://example.com/{{1}}' }] },
  ],
});
add('place', [{ type: 'HEADER', format: 'LOCATION' }, BODY('Here.')]);
add('cards', [BODY('Offers.'), { type: 'CAROUSEL', cards: [card(), card('Hello {{1}}.')] }]);
add('offer', [
  { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends soon', has_expiration: true } },
  BODY('Buy now.'),
  {
    type: 'BUTTONS',
    buttons: [
      { type: 'COPY_CODE', example: 'OFF25' },
      { type: 'URL', text: 'A', url: 'https://a.co' },
    ],
  },
]);
add('paused', [BODY('x')], { status: 'PAUSED' });
add('disabled', [BODY('x')], { status: 'DISABLED' });
add('pending', [BODY('x')], { status: 'PENDING' });

function check(name: string, components?: unknown, toUserId = false, language = 'en_US'): GraphError | null {
  try {
    const message = new Param({ template: { name, language: { code: language }, components } }, '');
    checkTemplateMessage(message, WABA, store, toUserId);
    return null;
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw error;
  }
}

const text = (...values: unknown[]) => values.map((value) => ({ type: 'text', text: value }));
const body = (...values: unknown[]) => [{ type: 'body', parameters: text(...values) }];
const url = (index: number | string, value: string) => ({
  type: 'button',
  sub_type: 'url',
  index,
  parameters: text(value),
});

const button = (subType: string, index: number, parameter: object) => ({
  type: 'button',
  sub_type: subType,
  index,
  parameters: [parameter],
});
const coupon = (code: string) => button('copy_code', 0, { type: 'coupon_code', coupon_code: code });
const ends = (ms: unknown) => ({
  type: 'limited_time_offer',
  parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: ms } }],
});
const soon = Date.now() + 3_600_000;
const header = (...parameters: object[]) => [{ type: 'header', parameters }];
const sentCard = (index: number, ...more: object[]) => ({
  card_index: index,
  components: [...header({ type: 'image', image: { id: '1' } }), url(0, '42'), ...more],
});
const cards = (...list: object[]) => [{ type: 'carousel', cards: list }];

describe('a template message', () => {
  it.each<[string, string, unknown]>([
    ['without variables', 'plain', undefined],
    ['with all its values', 'order', body('Ana', '42')],
    ['with a localised value', 'order', [{ type: 'BODY', parameters: [...text('Ana'), currency()] }]],
    [
      'with named values',
      'named',
      [{ type: 'body', parameters: [{ type: 'text', parameter_name: 'first_name', text: 'A' }] }],
    ],
    ['with its picture', 'picture', [{ type: 'header', parameters: [{ type: 'image', image: { id: '1' } }] }]],
    ['with a button value, index as text', 'linked', [url('1', '42')]],
    ['with a button value, index as number', 'linked', [url(1, '42')]],
    ['with its place', 'place', header(location)],
    ['with a payload', 'linked', [button('quick_reply', 0, { type: 'payload', payload: 'STOP' }), url(1, '42')]],
    ['with its offer', 'offer', [ends(soon), coupon('OFF25')]],
    ['with its cards, in any order', 'cards', cards(sentCard(1, ...body('Ana')), sentCard(0))],
    ['with a code, twice', 'code', [...body('123456'), url('0', '123456')]],
  ])('%s is taken', (_, name, components) => {
    expect(check(name, components)).toBeNull();
  });

  it.each<[string, number, string, unknown]>([
    ['of an unknown name', 132001, 'unknown_name', undefined],
    ['that waits for review', 132001, 'pending', undefined],
    ['that is paused', 132015, 'paused', undefined],
    ['that is disabled', 132016, 'disabled', undefined],
    ['with too few values', 132000, 'order', body('Ana')],
    ['with too many values', 132000, 'plain', body('Ana')],
    ['with none where some are needed', 132000, 'order', undefined],
    ['with a value that is no text', 100, 'order', body('Ana', 42)],
    ['with an empty value', 131008, 'order', body('Ana', '')],
    ['with a line break in a value', 132018, 'order', body('Ana', 'a\nb')],
    ['with five spaces in a value', 132018, 'order', body('Ana', 'a     b')],
    ['with a picture in its text', 132012, 'order', [{ type: 'body', parameters: [...text('A'), { type: 'image' }] }]],
    ['that gets too long', 132005, 'order', body('Ana', 'x'.repeat(1024))],
    [
      'with a value of another name',
      132000,
      'named',
      [{ type: 'body', parameters: [{ type: 'text', parameter_name: 'x', text: 'A' }] }],
    ],
    ['with a value without a name', 100, 'named', body('Ana')],
    ['without its picture', 132012, 'picture', undefined],
    ['with a text for its picture', 132012, 'picture', [{ type: 'header', parameters: text('x') }]],
    ['without its title', 132000, 'titled', undefined],
    ['without its button value', 131008, 'linked', undefined],
    ['with the value at another button', 131008, 'linked', [url('0', '42')]],
    ['without its place', 132012, 'place', undefined],
    ['with a place that is nowhere', 131008, 'place', header({ type: 'location', location: { latitude: 1 } })],
    [
      'with a place beyond the poles',
      131009,
      'place',
      header({ ...location, location: { latitude: 91, longitude: 0 } }),
    ],
    ['with two pictures', 132000, 'picture', header(...[1, 2].map(() => ({ type: 'image', image: { id: '1' } })))],
    ['with a component that is none', 100, 'plain', [{ type: 'sidebar' }]],
    ['with a button that is not there', 131009, 'linked', [url(1, '42'), url(2, '42')]],
    ['with a button given twice', 131009, 'linked', [url(1, '42'), url('1', '42')]],
    ['with a button of another type', 132012, 'linked', [button('copy_code', 1, { type: 'text', text: '42' })]],
    [
      'with a text for a payload',
      132012,
      'linked',
      [button('quick_reply', 0, { type: 'text', text: 'a' }), url(1, '42')],
    ],
    ['with a value for a fixed link', 132018, 'offer', [ends(soon), coupon('OFF25'), url(1, '42')]],
    ['without its coupon', 131008, 'offer', [ends(soon)]],
    ['with a coupon of 21 characters', 131009, 'offer', [ends(soon), coupon('x'.repeat(21))]],
    ['without the end of its offer', 132012, 'offer', [coupon('OFF25')]],
    ['whose offer has ended', 131009, 'offer', [ends(1), coupon('OFF25')]],
    ['whose offer ends at a text', 131009, 'offer', [ends('soon'), coupon('OFF25')]],
    ['without its cards', 132000, 'cards', undefined],
    ['with a card too few', 132000, 'cards', cards(sentCard(0))],
    ['with one card twice', 131009, 'cards', cards(sentCard(0), sentCard(0))],
    ['with a card whose value is missing', 132000, 'cards', cards(sentCard(0), sentCard(1))],
    ['with a card without picture', 132012, 'cards', cards({ card_index: 0, components: [url(0, '1')] }, sentCard(1))],
    ['with cards that it has not', 132000, 'plain', cards(sentCard(0))],
    ['with a code of 16 characters', 131009, 'code', [...body('1'.repeat(16)), url(0, '1'.repeat(16))]],
    ['with the code only once', 131008, 'code', body('123456')],
  ])('%s is refused', (_, code, name, components) => {
    expect(check(name, components)?.code).toBe(code);
  });

  it('is looked up by its language too, and answered 404', () => {
    const error = check('plain', undefined, false, 'de');
    expect(error?.code).toBe(132001);
    expect(error?.httpStatus).toBe(404);
  });

  it('with a code needs a phone number', () => {
    expect(check('code', [...body('123456'), url('0', '123456')], true)?.code).toBe(131062);
  });
});

function currency(): object {
  return { type: 'currency', currency: { fallback_value: '$9', code: 'USD', amount_1000: 9000 } };
}
