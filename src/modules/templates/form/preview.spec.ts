import type { TemplateForm } from '../templates.types.js';
import { componentsOf, previewTemplate } from './preview.js';

/** With values of header and body alone. */
const preview = (
  template: TemplateForm,
  values: Parameters<typeof componentsOf>[1],
): ReturnType<typeof previewTemplate> => previewTemplate(template, componentsOf(template, values));

const ORDER: TemplateForm = {
  category: 'UTILITY',
  parameterFormat: 'NAMED',
  components: [
    { type: 'HEADER', format: 'TEXT', text: 'Order {{order}}' },
    { type: 'BODY', text: 'Hi {{first_name}}, it comes on {{day}}. Until {{day}}!' },
    { type: 'FOOTER', text: 'Lucky Shrub' },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'URL', text: 'Track', url: 'https://example.com/t/{{1}}', example: ['https://example.com/t/42'] },
        { type: 'URL', text: 'Return', url: 'https://example.com/r/{{1}}', example: '42' },
        { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550001111' },
        { type: 'COPY_CODE', example: 'OFF25' },
        { type: 'QUICK_REPLY', text: 'Stop' },
      ],
    },
  ],
};

/** A preview has no values for them, and a message needs them all. */
const ORDER_BUTTONS = ['buttons[0].{{1}}', 'buttons[1].{{1}}', 'buttons[3].{{coupon_code}}'];

describe('a preview', () => {
  it('names what a message must give for cards and offers', () => {
    const card = {
      components: [
        { type: 'BODY', text: 'For {{1}}.' },
        {
          type: 'BUTTONS',
          buttons: [
            { type: 'QUICK_REPLY', text: 'More' },
            { type: 'URL', text: 'See', url: 'https://x.co/{{1}}' },
          ],
        },
      ],
    };
    const components = [
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends soon', has_expiration: true } },
      { type: 'BODY', text: 'Look.' },
      { type: 'CAROUSEL', cards: [{ components: [] }, card] },
    ];
    expect(preview({ ...ORDER, parameterFormat: 'POSITIONAL', components }, {}).missing).toEqual([
      'limited_time_offer.{{expiration_time_ms}}',
      'cards[1].body.{{1}}',
      'cards[1].buttons[1].{{1}}',
    ]);
  });

  it('shows the template as its reader sees it', () => {
    expect(preview(ORDER, { header: ['42'], body: ['Ana', 'Monday'] })).toEqual({
      header: { format: 'TEXT', text: 'Order 42' },
      body: 'Hi Ana, it comes on Monday. Until Monday!',
      footer: 'Lucky Shrub',
      buttons: [
        { type: 'URL', text: 'Track', url: 'https://example.com/t/42' },
        { type: 'URL', text: 'Return', url: 'https://example.com/r/42' },
        { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550001111' },
        { type: 'COPY_CODE', text: 'Copy code', code: 'OFF25' },
        { type: 'QUICK_REPLY', text: 'Stop' },
      ],
      missing: ORDER_BUTTONS,
      unused: [],
    });
  });

  it('names what is missing and what is unused, and keeps the place of what is missing', () => {
    const rendered = preview(ORDER, { header: ['42', '43'], body: ['Ana'] });
    expect(rendered.body).toBe('Hi Ana, it comes on {{day}}. Until {{day}}!');
    expect(rendered).toMatchObject({ missing: ['body.{{day}}', ...ORDER_BUTTONS], unused: ['header[1]'] });
  });

  it('fills {{1}} with the first value and {{2}} with the second, wherever they stand', () => {
    const components = [{ type: 'BODY', text: 'On {{2}}: {{1}}.' }];
    const rendered = preview({ ...ORDER, parameterFormat: 'POSITIONAL', components }, { body: ['Ana', 'Monday'] });
    expect(rendered.body).toBe('On Monday: Ana.');
  });

  it('takes an empty value for a value', () => {
    expect(preview(ORDER, { header: [''], body: ['', ''] })).toMatchObject({
      header: { text: 'Order ' },
      missing: ORDER_BUTTONS,
    });
  });

  it('shows a media header by its format, and has no use for a text there', () => {
    const components = [
      { type: 'header', format: 'image' },
      { type: 'BODY', text: 'Look.' },
    ];
    const sent = [{ type: 'header', parameters: [{ type: 'text', text: 'x' }] }];
    expect(previewTemplate({ ...ORDER, components }, sent)).toMatchObject({
      header: { format: 'IMAGE', text: null },
      unused: ['header[0]'],
    });
  });

  it('shows the platform’s own sentences of a template for codes, and the code in its button', () => {
    const template: TemplateForm = {
      category: 'AUTHENTICATION',
      parameterFormat: 'POSITIONAL',
      components: [
        { type: 'BODY', add_security_recommendation: true },
        { type: 'FOOTER', code_expiration_minutes: 10 },
        { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
      ],
    };
    expect(preview(template, { body: ['123456'] })).toEqual({
      header: null,
      body: '*123456* is your verification code. For your security, do not share this code.',
      footer: 'This code expires in 10 minutes.',
      buttons: [{ type: 'OTP', text: 'Copy code', code: '123456' }],
      missing: [],
      unused: [],
    });
    expect(preview(template, {})).toMatchObject({ missing: ['body.{{1}}'] });
  });

  it('shows the code in the link that the platform makes of such a button', () => {
    const url = 'https://www.whatsapp.com/otp/code/?code=otp{{1}}';
    const components = [
      { type: 'BODY', text: '*{{1}}* é seu código de verificação.' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Copiar', url, example: [`${url.slice(0, -5)}1`] }] },
    ];
    const template: TemplateForm = { category: 'AUTHENTICATION', parameterFormat: 'POSITIONAL', components };
    expect(preview(template, { body: ['123456'] })).toMatchObject({
      body: '*123456* é seu código de verificação.',
      buttons: [{ type: 'URL', url: 'https://www.whatsapp.com/otp/code/?code=otp123456', code: '123456' }],
    });
  });
});

describe('a preview of what a message sends', () => {
  const text = (value: string, name?: string) => ({
    type: 'text',
    text: value,
    ...(name !== undefined && { parameter_name: name }),
  });

  it('fills named variables in any order, links, and coupons', () => {
    const sent = [
      { type: 'header', parameters: [text('42', 'order')] },
      { type: 'body', parameters: [text('Monday', 'day'), text('Ana', 'first_name')] },
      { type: 'button', sub_type: 'url', index: '0', parameters: [text('4711')] },
      { type: 'button', sub_type: 'url', index: 1, parameters: [text('r-1')] },
      { type: 'button', sub_type: 'copy_code', index: 3, parameters: [{ type: 'coupon_code', coupon_code: 'TEN' }] },
    ];
    expect(previewTemplate(ORDER, sent)).toEqual({
      header: { format: 'TEXT', text: 'Order 42' },
      body: 'Hi Ana, it comes on Monday. Until Monday!',
      footer: 'Lucky Shrub',
      buttons: [
        { type: 'URL', text: 'Track', url: 'https://example.com/t/4711' },
        { type: 'URL', text: 'Return', url: 'https://example.com/r/r-1' },
        { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550001111' },
        { type: 'COPY_CODE', text: 'Copy code', code: 'TEN' },
        { type: 'QUICK_REPLY', text: 'Stop' },
      ],
      missing: [],
      unused: [],
    });
  });

  it('names what no variable takes: a wrong name, a button without one, a button that is not there', () => {
    const sent = [
      { type: 'body', parameters: [text('Ana', 'name'), text('Ana')] },
      { type: 'button', sub_type: 'quick_reply', index: 4, parameters: [{ type: 'payload', payload: 'x' }] },
      { type: 'button', sub_type: 'url', index: 2, parameters: [text('x')] },
      { type: 'button', sub_type: 'url', index: 9, parameters: [text('x')] },
    ];
    const { missing, unused } = previewTemplate(ORDER, sent);
    expect(unused).toEqual(['body.{{name}}', 'body[1]', 'buttons[2]', 'buttons[9]']);
    expect(missing).toEqual(['header.{{order}}', 'body.{{first_name}}', 'body.{{day}}', ...ORDER_BUTTONS]);
  });

  it('takes a file in the header, values of cards, and the end of an offer', () => {
    const components = [
      { type: 'HEADER', format: 'DOCUMENT' },
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends soon', has_expiration: true } },
      { type: 'BODY', text: 'Look, {{1}}.' },
      {
        type: 'CAROUSEL',
        cards: [
          {
            components: [
              { type: 'BODY', text: 'For {{1}}.' },
              { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'See', url: 'https://x.co/{{1}}' }] },
            ],
          },
        ],
      },
    ];
    const sent = [
      { type: 'header', parameters: [{ type: 'document', document: { id: '1' } }] },
      { type: 'body', parameters: [text('Ana')] },
      { type: 'limited_time_offer', parameters: [{ type: 'limited_time_offer', limited_time_offer: {} }] },
      {
        type: 'carousel',
        cards: [
          {
            card_index: 0,
            components: [
              { type: 'body', parameters: [text('you')] },
              { type: 'button', sub_type: 'url', index: 0, parameters: [text('a')] },
            ],
          },
        ],
      },
    ];
    const template: TemplateForm = { category: 'MARKETING', parameterFormat: 'POSITIONAL', components };
    expect(previewTemplate(template, sent)).toMatchObject({
      header: { format: 'DOCUMENT', text: null },
      body: 'Look, Ana.',
      missing: [],
      unused: [],
    });
    expect(previewTemplate(template, []).missing).toEqual([
      'body.{{1}}',
      'limited_time_offer.{{expiration_time_ms}}',
      'cards[0].body.{{1}}',
      'cards[0].buttons[0].{{1}}',
    ]);
  });

  it('names what is missing of a card’s text with several variables', () => {
    const components = [
      { type: 'CAROUSEL', cards: [{ components: [{ type: 'BODY', text: 'For {{1}} and {{2}}.' }] }] },
    ];
    const template: TemplateForm = { category: 'MARKETING', parameterFormat: 'POSITIONAL', components };
    const sent = (...parameters: object[]) => [
      { type: 'carousel', cards: [{ components: [{ type: 'body', parameters }] }] },
    ];
    expect(previewTemplate(template, sent(text('you'))).missing).toEqual(['cards[0].body.{{2}}']);
    expect(previewTemplate(template, sent(text('you'), text('me'))).missing).toEqual([]);
  });
});
