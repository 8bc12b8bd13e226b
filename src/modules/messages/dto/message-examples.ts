import { EXAMPLE_CONNECTION_ID, EXAMPLE_MEDIA_ID, EXAMPLE_MESSAGE_ID } from '../../../common/example-ids.js';

interface Example {
  summary: string;
  value: Record<string, unknown>;
}

function example(summary: string, fields: Record<string, unknown>): Example {
  return { summary, value: { connection_id: EXAMPLE_CONNECTION_ID, to: '+15550001234', ...fields } };
}

const media = (summary: string, type: string, file: Record<string, unknown>): Example =>
  example(summary, { type, media: file });

const interactive = (summary: string, type: string, fields: Record<string, unknown>): Example =>
  example(summary, { type: 'interactive', interactive: { type, ...fields } });

const card = (card_index: number, text: string, place: string): object => ({
  card_index,
  type: 'cta_url',
  header: { type: 'image', image: { link: `https://example.com/${place}.jpg` } },
  body: { text },
  action: { name: 'cta_url', parameters: { display_text: 'Book', url: `https://example.com/book/${place}` } },
});

/** One real request for each variant, for the API description. */
export const MESSAGE_EXAMPLES: Record<string, Example> = {
  text: example('Text', {
    type: 'text',
    text: { body: 'Your table for two is ready: https://example.com/r/4711', preview_url: true },
    client_message_id: 'reservation-4711',
    tag: 'reservations',
    metadata: { customer: 'c-17' },
  }),
  reply: example('Text that quotes an earlier message', {
    type: 'text',
    text: { body: 'Yes, until ten.' },
    reply_to_message_id: EXAMPLE_MESSAGE_ID,
  }),
  user_id: {
    summary: 'Text to a contact who hides the number',
    value: {
      connection_id: EXAMPLE_CONNECTION_ID,
      recipient: 'US.13491208655302741918',
      type: 'text',
      text: { body: 'Your table for two is ready.' },
    },
  },
  legacy_text: example('Text, the older form', { body: 'Your table for two is ready.' }),
  image: media('Image by link', 'image', { link: 'https://example.com/menu.jpg', caption: 'Menu of the day' }),
  video: media('Video by link', 'video', { link: 'https://example.com/tour.mp4', caption: 'A look around' }),
  voice: media('Voice note by id', 'audio', { id: '1037543291543636', voice: true }),
  document: media('Document by link', 'document', {
    link: 'https://example.com/invoice.pdf',
    filename: 'invoice-4711.pdf',
    caption: 'Your invoice',
  }),
  sticker: media('Sticker by id', 'sticker', { id: '1037543291543636' }),
  template: example('Template with two values', {
    type: 'template',
    template: {
      name: 'order_update',
      language: { code: 'en_US' },
      components: [
        {
          type: 'body',
          parameters: ['Ana', '4711'].map((text) => ({ type: 'text', text })),
        },
      ],
    },
  }),
  template_image: example('Template with a picture', {
    type: 'template',
    template: { name: 'new_menu', language: { code: 'en_US' } },
    media_object_id: EXAMPLE_MEDIA_ID,
  }),
  template_document: example('Template with a document', {
    type: 'template',
    template: {
      name: 'invoice',
      language: { code: 'en_US' },
      components: [
        {
          type: 'header',
          parameters: [{ type: 'document', document: { id: EXAMPLE_MEDIA_ID, filename: '4711.pdf' } }],
        },
      ],
    },
  }),
  buttons: interactive('Reply buttons', 'button', {
    body: { text: 'Shall we keep your table?' },
    action: {
      buttons: [
        { type: 'reply', reply: { id: 'keep', title: 'Keep it' } },
        { type: 'reply', reply: { id: 'cancel', title: 'Cancel' } },
      ],
    },
  }),
  list: interactive('List', 'list', {
    header: { type: 'text', text: 'Tonight' },
    body: { text: 'When would you like to come?' },
    footer: { text: 'Kitchen closes at ten' },
    action: {
      button: 'Choose a time',
      sections: [
        {
          title: 'Evening',
          rows: [
            { id: '18', title: '18:00', description: 'By the window' },
            { id: '20', title: '20:00' },
          ],
        },
      ],
    },
  }),
  cta_url: interactive('Link button below an image', 'cta_url', {
    header: { type: 'image', image: { link: 'https://example.com/menu.jpg' } },
    body: { text: 'The menu for tonight is here.' },
    footer: { text: 'Kitchen closes at ten' },
    action: { name: 'cta_url', parameters: { display_text: 'See the menu', url: 'https://example.com/menu' } },
  }),
  flow: interactive('Flow', 'flow', {
    header: { type: 'text', text: 'Book a table' },
    body: { text: 'Choose day and time.' },
    action: {
      name: 'flow',
      parameters: {
        flow_message_version: '3',
        flow_id: '1247865123456789',
        flow_cta: 'Book',
        flow_token: 'reservation-4711',
        flow_action: 'navigate',
        flow_action_payload: { screen: 'DAY', data: { guests: '2' } },
      },
    },
  }),
  location_request: interactive('Request for a location', 'location_request_message', {
    body: { text: 'Where shall we deliver?' },
    action: { name: 'send_location' },
  }),
  contact_request: interactive('Request for the number', 'request_contact_info', {
    body: { text: 'May we call you about your order?' },
    action: { name: 'request_contact_info' },
  }),
  product: interactive('One product', 'product', {
    body: { text: 'This is the coffee you asked for.' },
    action: { catalog_id: '194836987003835', product_retailer_id: 'coffee-250' },
  }),
  product_list: interactive('Products in sections', 'product_list', {
    header: { type: 'text', text: 'Coffee' },
    body: { text: 'Freshly roasted this week.' },
    action: {
      catalog_id: '194836987003835',
      sections: [
        { title: 'Beans', product_items: [{ product_retailer_id: 'coffee-250' }] },
        {
          title: 'Ground',
          product_items: [{ product_retailer_id: 'ground-250' }, { product_retailer_id: 'ground-500' }],
        },
      ],
    },
  }),
  catalog: interactive('The whole catalog', 'catalog_message', {
    body: { text: 'All that we have, delivered tomorrow.' },
    action: { name: 'catalog_message', parameters: { thumbnail_product_retailer_id: 'coffee-250' } },
  }),
  carousel: interactive('Carousel of link buttons', 'carousel', {
    body: { text: 'Two tables are free tonight.' },
    action: { cards: [card(0, 'By the window', 'window'), card(1, 'In the garden', 'garden')] },
  }),
  address_request: interactive('Request for an address (India)', 'address_message', {
    body: { text: 'Where shall we send your order?' },
    action: { name: 'address_message', parameters: { country: 'IN', values: { city: 'Pune' } } },
  }),
  location: example('Place on the map', {
    type: 'location',
    location: { latitude: 53.3498, longitude: -6.2603, name: 'Lighthouse Coffee', address: '1 Harbour Road, Dublin' },
  }),
  contacts: example('Contact card', {
    type: 'contacts',
    contacts: [
      {
        name: { formatted_name: 'Ana Lima', first_name: 'Ana', last_name: 'Lima' },
        phones: [{ phone: '+1 555 000 1234', wa_id: '15550001234', type: 'WORK' }],
        emails: [{ email: 'ana@example.com', type: 'WORK' }],
        org: { company: 'Lighthouse Coffee', title: 'Events' },
      },
    ],
  }),
  reaction: example('Reaction', {
    type: 'reaction',
    reply_to_message_id: EXAMPLE_MESSAGE_ID,
    reaction: { emoji: '👍' },
  }),
};
