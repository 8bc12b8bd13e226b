import { EXAMPLE_CONNECTION_ID, EXAMPLE_MESSAGE_ID } from '../../../common/example-ids.js';

interface Example {
  summary: string;
  value: Record<string, unknown>;
}

function example(summary: string, fields: Record<string, unknown>): Example {
  return { summary, value: { connection_id: EXAMPLE_CONNECTION_ID, to: '+15550001234', ...fields } };
}

/** One real request for each variant, for the API description. */
export const MESSAGE_EXAMPLES: Record<string, Example> = {
  text: example('Text', {
    type: 'text',
    text: { body: 'Your table for two is ready: https://example.com/r/4711', preview_url: true },
    client_message_id: 'reservation-4711',
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
  image: example('Image by link', {
    type: 'image',
    media: { link: 'https://example.com/menu.jpg', caption: 'Menu of the day' },
  }),
  video: example('Video by link', {
    type: 'video',
    media: { link: 'https://example.com/tour.mp4', caption: 'A look around' },
  }),
  voice: example('Voice note by id', { type: 'audio', media: { id: '1037543291543636', voice: true } }),
  document: example('Document by link', {
    type: 'document',
    media: { link: 'https://example.com/invoice.pdf', filename: 'invoice-4711.pdf', caption: 'Your invoice' },
  }),
  sticker: example('Sticker by id', { type: 'sticker', media: { id: '1037543291543636' } }),
  template: example('Template with two values', {
    type: 'template',
    template: {
      name: 'order_update',
      language: { code: 'en_US' },
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ana' },
            { type: 'text', text: '4711' },
          ],
        },
      ],
    },
  }),
  buttons: example('Reply buttons', {
    type: 'interactive',
    interactive: {
      type: 'button',
      body: { text: 'Shall we keep your table?' },
      action: {
        buttons: [
          { type: 'reply', reply: { id: 'keep', title: 'Keep it' } },
          { type: 'reply', reply: { id: 'cancel', title: 'Cancel' } },
        ],
      },
    },
  }),
  list: example('List', {
    type: 'interactive',
    interactive: {
      type: 'list',
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
    },
  }),
  reaction: example('Reaction', {
    type: 'reaction',
    reply_to_message_id: EXAMPLE_MESSAGE_ID,
    reaction: { emoji: '👍' },
  }),
};
