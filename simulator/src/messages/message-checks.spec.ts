import { DEMO_NUMBERS } from '../demo-numbers.js';
import { GraphError } from '../graph-error.js';
import type { SimulatorNumber } from '../simulator.types.js';
import { Table } from '../store.js';
import { TemplateStore } from '../templates/template-store.js';
import { checkMessage } from './message.routes.js';

const templates = new TemplateStore(new Table('templates', () => undefined));
const sender = DEMO_NUMBERS[0] as SimulatorNumber;

function check(body: Record<string, unknown>): GraphError | null {
  try {
    checkMessage({ messaging_product: 'whatsapp', to: '+4915112345678', ...body }, sender, templates);
    return null;
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw error;
  }
}

const x = (length: number) => 'x'.repeat(length);
const interactive = (type: string, action: object, rest: object = {}) => ({
  type: 'interactive',
  interactive: { type, body: { text: 'Choose' }, action, ...rest },
});
const buttons = (...titles: string[]) => ({
  buttons: titles.map((title, i) => ({ type: 'reply', reply: { id: `b${i}`, title } })),
});
const rows = (count: number, prefix = 'r') =>
  Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, title: `Row ${i}` }));
const list = (...sections: object[]) => interactive('list', { button: 'Open', sections });
const flow = (parameters: object) =>
  interactive('flow', { name: 'flow', parameters: { flow_message_version: '3', flow_cta: 'Open', ...parameters } });
const cta = (parameters: object) => interactive('cta_url', { name: 'cta_url', parameters });
const products = (action: object, rest: object = { header: { type: 'text', text: 'Coffee' } }) =>
  interactive('product_list', { catalog_id: '1', ...action }, rest);
const items = (count: number) => Array.from({ length: count }, (_, i) => ({ product_retailer_id: `p${i}` }));
const address = (parameters: object) => interactive('address_message', { name: 'address_message', parameters });
const replyCard = (index: number, ...titles: string[]) => ({
  card_index: index,
  header: { type: 'video', video: { id: '1' } },
  action: { buttons: titles.map((title) => ({ type: 'quick_reply', quick_reply: { id: title, title } })) },
});
const productCard = (index: number, catalog = '1') => ({
  card_index: index,
  type: 'product',
  action: { catalog_id: catalog, product_retailer_id: 'p' },
});
const card = (rest: object = {}) => ({
  card_index: 0,
  type: 'cta_url',
  header: { type: 'image', image: { link: 'https://example.com/1.jpg' } },
  action: { name: 'cta_url', parameters: { display_text: 'See', url: 'https://example.com' } },
  ...rest,
});

describe('a message that the platform takes', () => {
  it.each<[string, Record<string, unknown>]>([
    ['text', { type: 'text', text: { body: x(4096), preview_url: true } }],
    ['text without a type', { text: { body: 'hi' } }],
    ['text of 4,096 emoji, which are 8,192 UTF-16 units', { text: { body: '\u{1F44D}'.repeat(4096) } }],
    ['image by id', { type: 'image', image: { id: '1037543291543636', caption: x(1024) } }],
    ['image by link', { type: 'image', image: { link: 'https://example.com/a.jpg' } }],
    ['video', { type: 'video', video: { link: 'https://example.com/v.mp4', caption: 'Demo' } }],
    ['voice message', { type: 'audio', audio: { id: '998877', voice: true } }],
    ['document', { type: 'document', document: { id: '55', filename: 'a.pdf', caption: 'Bill' } }],
    ['sticker', { type: 'sticker', sticker: { id: '66' } }],
    ['location', { type: 'location', location: { latitude: -23.55, longitude: '-46.63', name: 'Shop' } }],
    ['contacts', { type: 'contacts', contacts: [{ name: { formatted_name: 'Ana' }, phones: [{ phone: '+55' }] }] }],
    ['reaction', { type: 'reaction', reaction: { message_id: 'wamid.X', emoji: '\u{1F44D}' } }],
    ['reaction taken back', { type: 'reaction', reaction: { message_id: 'wamid.X', emoji: '' } }],
    ['reply', { text: { body: 'hi' }, context: { message_id: 'wamid.X' } }],
    ['callback data of 512 characters', { text: { body: 'hi' }, biz_opaque_callback_data: x(512) }],
    ['reply buttons', interactive('button', buttons(x(20), 'b', 'c'), { footer: { text: x(60) } })],
    ['buttons below an image', interactive('button', buttons('a'), { header: { type: 'image', image: { id: '1' } } })],
    ['list of ten rows', list({ title: 'A', rows: rows(6) }, { title: 'B', rows: rows(4, 's') })],
    ['list with a long body', { ...list({ rows: rows(1) }), interactive: listWithBody(x(4096)) }],
    ['link button', cta({ display_text: 'Open', url: 'https://example.com/x' })],
    ['location request', interactive('location_request_message', { name: 'send_location' })],
    ['contact request', interactive('request_contact_info', { name: 'request_contact_info' })],
    ['flow', flow({ flow_id: '123', flow_action: 'navigate' })],
    ['carousel', interactive('carousel', { cards: [card(), card({ card_index: 1 })] })],
    ['carousel of quick replies', interactive('carousel', { cards: [replyCard(0, 'a'), replyCard(1, 'b')] })],
    ['carousel of products', interactive('carousel', { cards: [productCard(0), productCard(1)] })],
    ['catalog', interactive('catalog_message', { name: 'catalog_message' })],
    [
      'product without a body',
      { type: 'interactive', interactive: { type: 'product', action: productCard(0).action } },
    ],
    [
      '30 products',
      products({
        sections: [
          { title: 'A', product_items: items(20) },
          { title: 'B', product_items: items(10) },
        ],
      }),
    ],
    ['address request', address({ country: 'IN', values: { city: 'Pune' } })],
    [
      'whole contact',
      {
        type: 'contacts',
        contacts: [
          {
            name: { formatted_name: 'A', first_name: 'A' },
            org: { company: 'C' },
            emails: [{ email: 'a@example.com', type: 'WORK' }],
            birthday: '1990-01-31',
          },
        ],
      },
    ],
  ])('%s', (_, body) => {
    expect(check(body)).toBeNull();
  });
});

function listWithBody(text: string): object {
  return { type: 'list', body: { text }, action: { button: 'Open', sections: [{ rows: rows(1) }] } };
}

describe('a message that the platform refuses', () => {
  it.each<[string, number, Record<string, unknown>]>([
    ['no messaging product', 100, { messaging_product: undefined }],
    ['another product', 100, { messaging_product: 'sms' }],
    ['an unknown type', 100, { type: 'poll', poll: {} }],
    ['an unknown recipient type', 100, { recipient_type: 'crowd', text: { body: 'hi' } }],
    ['no content', 131008, { type: 'text' }],
    ['content that is no object', 100, { type: 'text', text: 'hi' }],
    ['an empty text', 131008, { text: { body: '' } }],
    ['a text that is a number', 100, { text: { body: 5 } }],
    ['a text of 4,097 characters', 100, { text: { body: x(4097) } }],
    ['an unknown key in a text', 100, { text: { body: 'hi', bold: true } }],
    ['callback data of 513 characters', 100, { text: { body: 'hi' }, biz_opaque_callback_data: x(513) }],
    ['a context without an id', 131008, { text: { body: 'hi' }, context: {} }],
    ['media without id or link', 100, { type: 'image', image: {} }],
    ['media with both', 100, { type: 'image', image: { id: '1', link: 'https://example.com' } }],
    ['a media id that is none', 131009, { type: 'image', image: { id: 'abc' } }],
    ['a link that is none', 100, { type: 'image', image: { link: 'ftp://example.com/a.jpg' } }],
    ['a caption of 1,025 characters', 100, { type: 'image', image: { id: '1', caption: x(1025) } }],
    ['a caption on audio', 100, { type: 'audio', audio: { id: '1', caption: 'x' } }],
    ['a caption on a sticker', 100, { type: 'sticker', sticker: { id: '1', caption: 'x' } }],
    ['a location without longitude', 131008, { type: 'location', location: { latitude: 1 } }],
    ['a latitude beyond the pole', 131009, { type: 'location', location: { latitude: 91, longitude: 0 } }],
    ['no contacts', 131009, { type: 'contacts', contacts: [] }],
    ['contacts that are no list', 100, { type: 'contacts', contacts: { name: {} } }],
    ['a contact without a name', 131008, { type: 'contacts', contacts: [{ phones: [] }] }],
    [
      '258 contacts',
      131009,
      { type: 'contacts', contacts: Array.from({ length: 258 }, () => ({ name: { formatted_name: 'A' } })) },
    ],
    ['a reaction to nothing', 131008, { type: 'reaction', reaction: { emoji: 'x' } }],
    ['a reaction without emoji', 131008, { type: 'reaction', reaction: { message_id: 'wamid.X' } }],
    ['an unknown interactive type', 100, interactive('quiz', {})],
    [
      'an interactive body that is too long',
      100,
      { ...interactive('button', buttons('a'), { body: { text: x(1025) } }) },
    ],
    ['a footer that is too long', 100, interactive('button', buttons('a'), { footer: { text: x(61) } })],
    ['no buttons', 131009, interactive('button', buttons())],
    ['four buttons', 131009, interactive('button', buttons('a', 'b', 'c', 'd'))],
    ['a button title of 21 characters', 131009, interactive('button', buttons(x(21)))],
    ['two buttons of one title', 131009, interactive('button', buttons('a', 'a'))],
    ['a list of eleven rows', 131009, list({ title: 'A', rows: rows(6) }, { title: 'B', rows: rows(5, 's') })],
    ['two sections, one without title', 131009, list({ title: 'A', rows: rows(1) }, { rows: rows(1, 's') })],
    ['a row title of 25 characters', 131009, list({ rows: [{ id: 'a', title: x(25) }] })],
    ['a row description of 73 characters', 131009, list({ rows: [{ id: 'a', title: 'A', description: x(73) }] })],
    ['two rows of one id', 131009, list({ rows: [...rows(1), ...rows(1)] })],
    [
      'a list below an image',
      131009,
      interactive(
        'list',
        { button: 'Open', sections: [{ rows: rows(1) }] },
        { header: { type: 'image', image: { id: '1' } } },
      ),
    ],
    ['a link button of 21 characters', 131009, cta({ display_text: x(21), url: 'https://example.com' })],
    ['a link button without address', 131008, cta({ display_text: 'Open' })],
    ['a location request of another name', 100, interactive('location_request_message', { name: 'where' })],
    ['a flow without an id', 131008, flow({})],
    ['a flow with id and name', 131009, flow({ flow_id: '1', flow_name: 'a' })],
    ['a flow of another mode', 100, flow({ flow_id: '1', mode: 'live' })],
    [
      'a carousel card without header',
      131008,
      interactive('carousel', { cards: [card({ header: undefined }), card({ card_index: 1 })] }),
    ],
    ['a carousel of one card', 131009, interactive('carousel', { cards: [card()] })],
    [
      'a carousel of eleven cards',
      131009,
      interactive('carousel', { cards: Array.from({ length: 11 }, () => card()) }),
    ],
    ['a carousel with one index twice', 131009, interactive('carousel', { cards: [card(), card()] })],
    [
      'a carousel without indexes',
      131009,
      interactive('carousel', { cards: [card({ card_index: undefined }), card()] }),
    ],
    ['a carousel of links and replies', 131009, interactive('carousel', { cards: [card(), replyCard(1, 'a')] })],
    [
      'a carousel of one and two replies',
      131009,
      interactive('carousel', { cards: [replyCard(0, 'a'), replyCard(1, 'a', 'b')] }),
    ],
    ['a carousel of two catalogs', 131009, interactive('carousel', { cards: [productCard(0), productCard(1, '2')] })],
    [
      'a card text of four lines',
      131009,
      interactive('carousel', { cards: [card({ body: { text: 'a\nb\nc\nd' } }), card({ card_index: 1 })] }),
    ],
    [
      'a carousel with a footer',
      100,
      interactive('carousel', { cards: [card(), card({ card_index: 1 })] }, { footer: { text: 'x' } }),
    ],
    ['a product of no catalog', 131008, interactive('product', { product_retailer_id: 'p' })],
    [
      'a product below a header',
      100,
      interactive('product', productCard(0).action, { header: { type: 'text', text: 'x' } }),
    ],
    [
      '31 products',
      131009,
      products({
        sections: [
          { title: 'A', product_items: items(20) },
          { title: 'B', product_items: items(11) },
        ],
      }),
    ],
    ['products without a header', 131008, products({ sections: [{ product_items: items(1) }] }, {})],
    [
      'products below an image',
      131009,
      products({ sections: [{ product_items: items(1) }] }, { header: { type: 'image', image: { id: '1' } } }),
    ],
    [
      'two sections of products without titles',
      131009,
      products({ sections: [{ product_items: items(1) }, { product_items: items(1) }] }),
    ],
    ['an address request without a country', 131008, address({})],
    ['an address request for a country in words', 131009, address({ country: 'India' })],
    ['an unknown key of a contact', 100, { type: 'contacts', contacts: [{ name: { formatted_name: 'A' }, age: 5 }] }],
    [
      'a phone that is a number',
      100,
      { type: 'contacts', contacts: [{ name: { formatted_name: 'A' }, phones: [{ phone: 5 }] }] },
    ],
    [
      'a birthday in words',
      131009,
      { type: 'contacts', contacts: [{ name: { formatted_name: 'A' }, birthday: 'in January' }] },
    ],
  ])('%s', (_, code, body) => {
    expect(check(body)?.code).toBe(code);
  });

  it('says what is wrong in the details', () => {
    const error = check(interactive('button', buttons(x(21))));
    expect(JSON.parse(error?.body('trace') ?? '{}')).toEqual({
      error: {
        message: '(#131009) Parameter value is not valid',
        type: 'OAuthException',
        code: 131009,
        error_data: {
          messaging_product: 'whatsapp',
          details: 'Button title length invalid. Min length: 1, Max length: 20',
        },
        fbtrace_id: 'trace',
      },
    });
  });
});
