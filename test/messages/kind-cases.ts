import { cases, LINK, long, type VariantCase } from './case.js';

/** Locations, contacts, and the kinds of interactive messages that have a variant of their own. */

const place = (change: Record<string, unknown>): Record<string, unknown> => ({
  type: 'location',
  location: { latitude: 53.3498, longitude: -6.2603, ...change },
});

const locations = cases('location', [
  ['two numbers', place({}), []],
  ['degrees as text', place({ latitude: '-90', longitude: '180.0' }), []],
  ['at the limits', place({ latitude: -90, longitude: -180 }), []],
  ['name and address of 1000 characters', place({ name: long(1000), address: long(1000) }), []],
  ['beyond the pole', place({ latitude: 90.1 }), ['location.latitude:range']],
  ['beyond the date line', place({ longitude: -180.1 }), ['location.longitude:range']],
  ['beyond the pole, as text', place({ latitude: '90.1' }), ['location.latitude:format']],
  ['latitude that is a word', place({ latitude: 'north' }), ['location.latitude:format']],
  ['latitude with a line break', place({ latitude: '1\n' }), ['location.latitude:format']],
  ['latitude null', place({ latitude: null }), ['location.latitude:type']],
  ['latitude missing', place({ latitude: undefined }), ['location.latitude:required']],
  ['longitude missing', place({ longitude: undefined }), ['location.longitude:required']],
  ['name of 1001 characters', place({ name: long(1001) }), ['location.name:length']],
  ['a surplus key', place({ url: LINK }), ['location.url:unknown_field']],
  ['location missing', { type: 'location' }, ['location:required']],
]);

const contacts = (...list: unknown[]): Record<string, unknown> => ({ type: 'contacts', contacts: list });
const ana = { name: { formatted_name: 'Ana Lima' } };

const contactCards = cases('contacts', [
  ['a name alone', contacts(ana), []],
  [
    'every field',
    contacts({
      name: {
        formatted_name: 'Ana Lima',
        first_name: 'Ana',
        middle_name: 'M',
        last_name: 'Lima',
        prefix: 'Dr',
        suffix: 'PhD',
      },
      phones: [{ phone: '+1 555 000 1234', wa_id: '15550001234', type: 'WORK' }],
      emails: [{ email: 'ana@example.com', type: 'WORK' }],
      urls: [{ url: LINK, type: 'HOME' }],
      addresses: [
        {
          street: '1 Harbour Road',
          city: 'Dublin',
          state: 'D',
          zip: '1',
          country: 'Ireland',
          country_code: 'ie',
          type: 'HOME',
        },
      ],
      org: { company: 'Lighthouse', department: 'Events', title: 'Lead' },
      birthday: '1990-01-31',
    }),
    [],
  ],
  ['257 of them', contacts(...Array.from({ length: 257 }, () => ana)), []],
  ['258 of them', contacts(...Array.from({ length: 258 }, () => ana)), ['contacts:length']],
  ['none', contacts(), ['contacts:length']],
  ['an object', { type: 'contacts', contacts: ana }, ['contacts:type']],
  ['a name as text', contacts({ name: 'Ana' }), ['contacts[0].name:type']],
  ['no name', contacts({}), ['contacts[0].name:required']],
  ['no formatted name', contacts(ana, { name: { first_name: 'Ana' } }), ['contacts[1].name.formatted_name:required']],
  ['an empty name', contacts({ name: { formatted_name: '' } }), ['contacts[0].name.formatted_name:length']],
  ['phones as text', contacts({ ...ana, phones: '+1 555' }), ['contacts[0].phones:type']],
  ['a phone that is a number', contacts({ ...ana, phones: [{ phone: 5 }] }), ['contacts[0].phones[0].phone:type']],
  ['a birthday of another form', contacts({ ...ana, birthday: '31.1.1990' }), ['contacts[0].birthday:format']],
  ['a surplus key', contacts({ ...ana, age: 5 }), ['contacts[0].age:unknown_field']],
]);

const sent = (type: string, action: unknown, change: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'interactive',
  interactive: { type, body: { text: 'Here it is' }, action, ...change },
});
const link = (change: Record<string, unknown> = {}, rest: Record<string, unknown> = {}): Record<string, unknown> =>
  sent('cta_url', { name: 'cta_url', parameters: { display_text: 'Open', url: LINK, ...change } }, rest);

const links = cases('cta_url', [
  ['a link button', link(), []],
  ['label of 20 characters', link({ display_text: long(20) }), []],
  ['label of 21', link({ display_text: long(21) }), ['interactive.action.parameters.display_text:length']],
  ['label missing', link({ display_text: undefined }), ['interactive.action.parameters.display_text:required']],
  ['address of plain http', link({ url: 'http://example.com' }), []],
  ['address of another kind', link({ url: 'ftp://example.com' }), ['interactive.action.parameters.url:format']],
  ['address of 2001 characters', link({ url: `${LINK}${long(1977)}` }), ['interactive.action.parameters.url:length']],
  [
    'another name',
    sent('cta_url', { name: 'open' }),
    ['interactive.action.name:one_of', 'interactive.action.parameters:required'],
  ],
  ['body of 1024 characters', link({}, { body: { text: long(1024) } }), []],
  ['body of 1025', link({}, { body: { text: long(1025) } }), ['interactive.body.text:length']],
  ['body empty', link({}, { body: { text: '' } }), ['interactive.body.text:length']],
  ['body missing', link({}, { body: undefined }), ['interactive.body:required']],
  ['footer of 61 characters', link({}, { footer: { text: long(61) } }), ['interactive.footer.text:length']],
  ['text header', link({}, { header: { type: 'text', text: long(60) } }), []],
  ['text header of 61', link({}, { header: { type: 'text', text: long(61) } }), ['interactive.header.text:length']],
  ['image header by link', link({}, { header: { type: 'image', image: { link: LINK } } }), []],
  ['video header by id', link({}, { header: { type: 'video', video: { id: '1037543291543636' } } }), []],
  ['document header', link({}, { header: { type: 'document', document: { link: LINK, filename: 'menu.pdf' } } }), []],
  ['header of no kind', link({}, { header: { image: { link: LINK } } }), ['interactive.header.type:required']],
  ['header of another kind', link({}, { header: { type: 'audio' } }), ['interactive.header.type:one_of']],
  ['image header without a file', link({}, { header: { type: 'image' } }), ['interactive.header.image:required']],
  [
    'image header without id and link',
    link({}, { header: { type: 'image', image: {} } }),
    ['interactive.header.image:exactly_one'],
  ],
  [
    'image header with both',
    link({}, { header: { type: 'image', image: { id: '1', link: LINK } } }),
    ['interactive.header.image:exactly_one'],
  ],
  ['header null', link({}, { header: null }), ['interactive.header:type']],
  ['action missing', sent('cta_url', undefined), ['interactive.action:required']],
  ['a surplus key', link({}, { colour: 'red' }), ['interactive.colour:unknown_field']],
]);

const flow = (change: Record<string, unknown>): Record<string, unknown> =>
  sent('flow', { name: 'flow', parameters: { flow_message_version: '3', flow_cta: 'Open', ...change } });

const flows = cases('flow', [
  ['by id', flow({ flow_id: '1' }), []],
  [
    'by name, with everything',
    flow({ flow_name: 'book', flow_token: 't', mode: 'draft', flow_action: 'data_exchange' }),
    [],
  ],
  ['with a first screen', flow({ flow_id: '1', flow_action_payload: { screen: 'DAY', data: { a: 1 }, more: 1 } }), []],
  ['label of 30 characters', flow({ flow_id: '1', flow_cta: long(30) }), []],
  ['label of 31', flow({ flow_id: '1', flow_cta: long(31) }), ['interactive.action.parameters.flow_cta:length']],
  ['neither id nor name', flow({}), ['interactive.action.parameters.flow_id:exactly_one']],
  ['id and name', flow({ flow_id: '1', flow_name: 'a' }), ['interactive.action.parameters.flow_id:exactly_one']],
  ['another mode', flow({ flow_id: '1', mode: 'live' }), ['interactive.action.parameters.mode:one_of']],
  ['another action', flow({ flow_id: '1', flow_action: 'jump' }), ['interactive.action.parameters.flow_action:one_of']],
  [
    'version missing',
    flow({ flow_id: '1', flow_message_version: undefined }),
    ['interactive.action.parameters.flow_message_version:required'],
  ],
  [
    'a first screen that is text',
    flow({ flow_id: '1', flow_action_payload: 'DAY' }),
    ['interactive.action.parameters.flow_action_payload:type'],
  ],
]);

const requests = cases('location_request_message', [
  ['its name', sent('location_request_message', { name: 'send_location' }), []],
  ['another name', sent('location_request_message', { name: 'where' }), ['interactive.action.name:one_of']],
  [
    'a header',
    sent('location_request_message', { name: 'send_location' }, { header: { type: 'text', text: 'x' } }),
    ['interactive.header:unknown_field'],
  ],
]);

const contactRequests = cases('request_contact_info', [
  ['its name', sent('request_contact_info', { name: 'request_contact_info' }), []],
  [
    'a header',
    sent('request_contact_info', { name: 'request_contact_info' }, { header: { type: 'text', text: 'x' } }),
    [],
  ],
  ['another name', sent('request_contact_info', { name: 'who' }), ['interactive.action.name:one_of']],
]);

const product = { catalog_id: '1', product_retailer_id: 'a' };
const sections = (...counts: number[]): Record<string, unknown> => ({
  catalog_id: '1',
  sections: counts.map((count, index) => ({
    title: `Section ${index}`,
    product_items: Array.from({ length: count }, (_, id) => ({ product_retailer_id: `p${id}` })),
  })),
});
const products = (action: unknown, change: Record<string, unknown> = {}): Record<string, unknown> =>
  sent('product_list', action, { header: { type: 'text', text: 'Coffee' }, ...change });
const untitled = { product_items: [{ product_retailer_id: 'a' }] };

const catalogs = cases('products', [
  ['one product', sent('product', product), []],
  ['one product without a body', sent('product', product, { body: undefined }), []],
  [
    'a product of no catalog',
    sent('product', { product_retailer_id: 'a' }),
    ['interactive.action.catalog_id:required'],
  ],
  [
    'a catalog without a product',
    sent('product', { catalog_id: '1' }),
    ['interactive.action.product_retailer_id:required'],
  ],
  [
    'one product with a header',
    sent('product', product, { header: { type: 'text', text: 'x' } }),
    ['interactive.header:unknown_field'],
  ],
  ['30 products in two sections', products(sections(20, 10)), []],
  ['31 products', products(sections(20, 11)), ['interactive.action.sections:length']],
  ['31 products in one section', products(sections(31)), ['interactive.action.sections[0].product_items:length']],
  ['ten sections', products(sections(...Array<number>(10).fill(1))), []],
  ['eleven sections', products(sections(...Array<number>(11).fill(1))), ['interactive.action.sections:length']],
  ['no section', products(sections()), ['interactive.action.sections:length']],
  ['an empty section', products(sections(0)), ['interactive.action.sections[0].product_items:length']],
  ['one section without a title', products({ catalog_id: '1', sections: [untitled] }), []],
  [
    'two sections without titles',
    products({ catalog_id: '1', sections: [untitled, untitled] }),
    ['interactive.action.sections[0].title:required', 'interactive.action.sections[1].title:required'],
  ],
  [
    'a section title of 25 characters',
    products({ catalog_id: '1', sections: [{ ...untitled, title: long(25) }] }),
    ['interactive.action.sections[0].title:length'],
  ],
  ['products without a header', products(sections(1), { header: undefined }), ['interactive.header:required']],
  [
    'products below an image',
    products(sections(1), { header: { type: 'image', image: { link: LINK } } }),
    ['interactive.header.type:one_of', 'interactive.header.text:required', 'interactive.header.image:unknown_field'],
  ],
  ['a catalog', sent('catalog_message', { name: 'catalog_message' }), []],
  [
    'a catalog with a picture',
    sent('catalog_message', { name: 'catalog_message', parameters: { thumbnail_product_retailer_id: 'a' } }),
    [],
  ],
  ['a catalog of another name', sent('catalog_message', { name: 'catalog' }), ['interactive.action.name:one_of']],
]);

const linkCard = (index: number, change: Record<string, unknown> = {}): Record<string, unknown> => ({
  card_index: index,
  type: 'cta_url',
  header: { type: 'image', image: { link: LINK } },
  action: { name: 'cta_url', parameters: { display_text: 'Open', url: LINK } },
  ...change,
});
const replyCard = (index: number, ...titles: string[]): Record<string, unknown> =>
  linkCard(index, {
    type: undefined,
    action: {
      buttons: titles.map((title, at) => ({ type: 'quick_reply', quick_reply: { id: `${index}-${at}`, title } })),
    },
  });
const productCard = (index: number, catalog = '1'): Record<string, unknown> => ({
  card_index: index,
  type: 'product',
  action: { ...product, catalog_id: catalog },
});
const carousel = (...list: unknown[]): Record<string, unknown> => sent('carousel', { cards: list });
const inOrder = (count: number): unknown[] => Array.from({ length: count }, (_, index) => linkCard(index));
const CARD = 'interactive.action.cards';

const carousels = cases('carousel', [
  ['two cards', carousel(...inOrder(2)), []],
  ['ten cards', carousel(...inOrder(10)), []],
  ['one card', carousel(...inOrder(1)), [`${CARD}:length`]],
  ['eleven cards', carousel(...inOrder(10), linkCard(9)), [`${CARD}:length`]],
  ['image and video', carousel(linkCard(0), linkCard(1, { header: { type: 'video', video: { id: '1' } } })), []],
  ['quick replies', carousel(replyCard(0, 'Yes', 'No'), replyCard(1, 'Yes', 'No')), []],
  ['products', carousel(productCard(0), productCard(1)), []],
  ['card text of 160 characters', carousel(linkCard(0, { body: { text: long(160) } }), linkCard(1)), []],
  [
    'card text of 161',
    carousel(linkCard(0, { body: { text: long(161) } }), linkCard(1)),
    [`${CARD}[0].body.text:length`],
  ],
  ['card text of three lines', carousel(linkCard(0, { body: { text: 'a\nb\r\nc' } }), linkCard(1)), []],
  [
    'card text of four lines',
    carousel(linkCard(0), linkCard(1, { body: { text: 'a\nb\nc\nd' } })),
    [`${CARD}[1].body.text:format`],
  ],
  ['an index twice', carousel(linkCard(0), linkCard(0)), [`${CARD}[1].card_index:unique`]],
  ['an index beyond nine', carousel(linkCard(0), linkCard(10)), [`${CARD}[1].card_index:range`]],
  ['an index as text', carousel(linkCard(0), linkCard(1, { card_index: '1' })), [`${CARD}[1].card_index:type`]],
  [
    'a card without a header',
    carousel(linkCard(0), linkCard(1, { header: undefined })),
    [`${CARD}[1].header:required`],
  ],
  [
    'a card below a text',
    carousel(linkCard(0), linkCard(1, { header: { type: 'text', text: 'x' } })),
    [`${CARD}[1].header.type:one_of`],
  ],
  ['links and quick replies', carousel(linkCard(0), replyCard(1, 'Yes')), [`${CARD}[1].action:equal`]],
  [
    'different numbers of replies',
    carousel(replyCard(0, 'Yes'), replyCard(1, 'Yes', 'No')),
    [`${CARD}[1].action:equal`],
  ],
  ['products of two catalogs', carousel(productCard(0), productCard(1, '2')), [`${CARD}[1].action:equal`]],
  ['links and products', carousel(linkCard(0), productCard(1)), [`${CARD}[1].action:equal`]],
  [
    'two replies of one title on a card',
    carousel(replyCard(0, 'Yes', 'Yes'), replyCard(1, 'Yes', 'No')),
    [`${CARD}[0].action.buttons[1].quick_reply.title:unique`],
  ],
  [
    'four replies on a card',
    carousel(replyCard(0, 'a', 'b', 'c', 'd'), replyCard(1, 'a')),
    [`${CARD}[0].action.buttons:length`],
  ],
  [
    'a footer',
    sent('carousel', { cards: inOrder(2) }, { footer: { text: 'x' } }),
    ['interactive.footer:unknown_field'],
  ],
  ['cards that are none', carousel('a', linkCard(1)), [`${CARD}[0]:type`]],
]);

const address = (parameters: unknown): Record<string, unknown> =>
  sent('address_message', { name: 'address_message', parameters });

const addresses = cases('address_message', [
  ['a country', address({ country: 'IN' }), []],
  [
    'values and addresses',
    address({ country: 'IN', values: { city: 'Pune' }, saved_addresses: [{ id: '1', value: { city: 'Pune' } }] }),
    [],
  ],
  ['what was wrong', address({ country: 'IN', validation_errors: { in_pin_code: 'not known' } }), []],
  ['no country', address({}), ['interactive.action.parameters.country:required']],
  ['a country in words', address({ country: 'India' }), ['interactive.action.parameters.country:format']],
  [
    'parameters missing',
    sent('address_message', { name: 'address_message' }),
    ['interactive.action.parameters:required'],
  ],
  [
    'an address without an id',
    address({ country: 'IN', saved_addresses: [{ value: {} }] }),
    ['interactive.action.parameters.saved_addresses[0].id:required'],
  ],
]);

export const KIND_CASES: readonly VariantCase[] = [
  ...links,
  ...flows,
  ...requests,
  ...contactRequests,
  ...catalogs,
  ...carousels,
  ...addresses,
  ...locations,
  ...contactCards,
];
