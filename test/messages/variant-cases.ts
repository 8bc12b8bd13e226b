import { cases, LINK, long, type VariantCase } from './case.js';
import { KIND_CASES } from './kind-cases.js';

/** Every field of every variant of POST /messages: at its limit, over it, of the wrong type, missing and surplus. */

const UUID = '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e';

const text = (change: Record<string, unknown>): Record<string, unknown> => ({ type: 'text', text: change });
const textBody = text({ body: 'hello' });

const common = cases('common', [
  ['client_message_id of 200 characters', { ...textBody, client_message_id: long(200) }, []],
  ['client_message_id of 201', { ...textBody, client_message_id: long(201) }, ['client_message_id:length']],
  ['client_message_id that is a number', { ...textBody, client_message_id: 7 }, ['client_message_id:type']],
  ['to without a plus', { ...textBody, to: '15550100001' }, []],
  ['to of 8 digits', { ...textBody, to: '12345678' }, []],
  ['to of 7 digits', { ...textBody, to: '1234567' }, ['to:format']],
  ['to of 16 digits', { ...textBody, to: '+1234567890123456' }, []],
  ['to of 17 digits', { ...textBody, to: '12345678901234567' }, ['to:format']],
  ['to with spaces', { ...textBody, to: '+1 555 0100001' }, ['to:format']],
  ['to that is a number', { ...textBody, to: 15550100001 }, ['to:type']],
  ['to with two pluses', { ...textBody, to: '++15550100001' }, ['to:format']],
  ['to with a line break', { ...textBody, to: '15550100001\n' }, ['to:format']],
  ['to in other digits', { ...textBody, to: '١٢٣٤٥٦٧٨' }, ['to:format']],
  ['to missing', { ...textBody, to: undefined }, ['to:exactly_one']],
  ['to null', { ...textBody, to: null }, ['to:type']],
  ['connection_id missing', { ...textBody, connection_id: undefined }, ['connection_id:required']],
  ['connection_id malformed', { ...textBody, connection_id: 'abc' }, ['connection_id:format']],
  ['connection_id null', { ...textBody, connection_id: null }, ['connection_id:type']],
  ['reply_to_message_id malformed', { ...textBody, reply_to_message_id: 'x' }, ['reply_to_message_id:format']],
  ['media_object_id malformed', { ...textBody, media_object_id: 'x' }, ['media_object_id:format']],
  ['a surplus field', { ...textBody, priority: 1 }, ['priority:unknown_field']],
  ['an unknown type', { type: 'poll', poll: {} }, ['type:one_of']],
  ['type in capitals', { type: 'TEXT', text: { body: 'x' } }, ['type:one_of']],
  ['type that is a number', { type: 5 }, ['type:one_of']],
  ['type null', { type: null, text: { body: 'x' } }, ['type:one_of']],
  ['type that is an own property of objects', { type: 'constructor' }, ['type:one_of']],
  ['two variants at once', { ...textBody, media: { id: '1' } }, ['media:unknown_field']],
]);

const texts = cases('text', [
  ['one character', text({ body: 'x' }), []],
  ['4096 characters', text({ body: long(4096) }), []],
  ['4096 emoji', text({ body: long(4096, '😀') }), []],
  ['4097 characters', text({ body: long(4097) }), ['text.body:length']],
  ['empty', text({ body: '' }), ['text.body:length']],
  ['body missing', text({}), ['text.body:required']],
  ['body a number', text({ body: 5 }), ['text.body:type']],
  ['body null', text({ body: null }), ['text.body:type']],
  ['with a preview', text({ body: 'x', preview_url: true }), []],
  ['preview_url as text', text({ body: 'x', preview_url: 'true' }), ['text.preview_url:type']],
  ['preview_url null', text({ body: 'x', preview_url: null }), ['text.preview_url:type']],
  ['surplus key inside', text({ body: 'x', bold: true }), ['text.bold:unknown_field']],
  ['text missing', { type: 'text' }, ['text:required']],
  ['text a string', { type: 'text', text: 'hello' }, ['text:type']],
  ['text an array', { type: 'text', text: ['hello'] }, ['text:type']],
  ['legacy', { body: 'x' }, []],
  ['legacy of 4096 characters', { body: long(4096) }, []],
  ['legacy of 4097', { body: long(4097) }, ['body:length']],
  ['legacy empty', { body: '' }, ['body:length']],
  ['neither a type nor a body', {}, ['type:required']],
  ['legacy with a text object', { body: 'x', text: { body: 'x' } }, ['text:unknown_field']],
  ['text with a legacy body', { ...textBody, body: 'x' }, ['body:unknown_field']],
]);

const media = (type: string, change: Record<string, unknown>): Record<string, unknown> => ({ type, media: change });

const medias = cases('media', [
  ...['image', 'video', 'audio', 'document', 'sticker'].flatMap(
    (type): [string, Record<string, unknown>, string[]][] => [
      [`${type} by link`, media(type, { link: LINK }), []],
      [`${type} by the platform's id`, media(type, { id: '1037543291543636' }), []],
      [`${type} without media`, { type }, ['media:required']],
      [`${type} without id and link`, media(type, {}), ['media:exactly_one']],
      [`${type} with id and link`, media(type, { id: '1', link: LINK }), ['media:exactly_one']],
    ],
  ),
  ['link without https', media('image', { link: 'http://example.com/a' }), ['media.link:format']],
  ['link that is no address', media('image', { link: 'https://' }), ['media.link:format']],
  ['link with a space', media('image', { link: 'https://example.com/a b' }), ['media.link:format']],
  ['link a number', media('image', { link: 5 }), ['media.link:type']],
  ['link of 5000 characters', media('image', { link: `${LINK}?x=${long(5000)}` }), []],
  ['id of 5000 characters', media('image', { id: long(5000) }), []],
  ['id a number', media('image', { id: 5 }), ['media.id:type']],
  ['id empty', media('image', { id: '' }), ['media.id:length']],
  ['media a string', { type: 'image', media: 'x' }, ['media:type']],
  ['caption of 1024 characters', media('image', { link: LINK, caption: long(1024) }), []],
  ['caption of 1025', media('image', { link: LINK, caption: long(1025) }), ['media.caption:length']],
  ['caption a number', media('image', { link: LINK, caption: 5 }), ['media.caption:type']],
  ['caption on a video', media('video', { link: LINK, caption: 'x' }), []],
  ['caption on a document', media('document', { link: LINK, caption: 'x' }), []],
  ['caption on audio', media('audio', { link: LINK, caption: 'x' }), []],
  ['caption on a sticker', media('sticker', { link: LINK, caption: 'x' }), []],
  ['filename of 240 characters', media('document', { link: LINK, filename: long(240) }), []],
  ['filename a number', media('document', { link: LINK, filename: 5 }), ['media.filename:type']],
  ...['image', 'video', 'audio', 'document', 'sticker'].flatMap(
    (type): [string, Record<string, unknown>, string[]][] => [
      [`filename on ${type}`, media(type, { link: LINK, filename: 'a.bin' }), []],
      [`filename of 241 on ${type}`, media(type, { link: LINK, filename: long(241) }), ['media.filename:length']],
      [`voice on ${type}`, media(type, { link: LINK, voice: true }), []],
      [`voice as text on ${type}`, media(type, { link: LINK, voice: 'true' }), ['media.voice:type']],
    ],
  ),
  ['surplus key inside', media('image', { link: LINK, width: 5 }), ['media.width:unknown_field']],
  [
    'link beside media_object_id',
    { ...media('image', { link: LINK }), media_object_id: UUID },
    ['media_object_id:exactly_one'],
  ],
  [
    'media_object_id that differs from media.id',
    { ...media('image', { id: '1' }), media_object_id: UUID },
    ['media_object_id:equal'],
  ],
]);

const template = (change: Record<string, unknown>): Record<string, unknown> => ({
  type: 'template',
  template: { name: 'hello_world', language: { code: 'en_US' }, ...change },
});
const components = (count: number): unknown[] =>
  Array.from({ length: count }, () => ({ type: 'body', parameters: [{ type: 'text', text: 'x' }] }));

const templates = cases('template', [
  ['name and language', template({}), []],
  ['name of 512 characters', template({ name: long(512) }), []],
  ['name of 513', template({ name: long(513) }), ['template.name:length']],
  ['name empty', template({ name: '' }), ['template.name:length']],
  ['name missing', template({ name: undefined }), ['template.name:required']],
  ['name a number', template({ name: 5 }), ['template.name:type']],
  ['language missing', template({ language: undefined }), ['template.language:required']],
  ['language as text', template({ language: 'en_US' }), []],
  ['language a number', template({ language: 5 }), ['template.language:type']],
  ['values alone', template({ language: 'en_US', parameters: { body: ['Ana'] } }), []],
  ['values with components', template({ parameters: {}, components: [] }), ['template.parameters:exclusive']],
  ['values of another kind', template({ parameters: { footer: ['x'] } }), ['template.parameters.footer:unknown_field']],
  ['language without a code', template({ language: {} }), ['template.language.code:required']],
  ['language code a number', template({ language: { code: 5 } }), ['template.language.code:type']],
  ['language with a policy', template({ language: { code: 'en_US', policy: 'deterministic' } }), []],
  ['no components', template({ components: [] }), []],
  ['20 components', template({ components: components(20) }), []],
  ['21 components', template({ components: components(21) }), ['template.components:length']],
  ['components an object', template({ components: {} }), ['template.components:type']],
  [
    'a component without a type',
    template({ components: [{ parameters: [] }] }),
    ['template.components[0].type:required'],
  ],
  ['a component that is a string', template({ components: ['body'] }), ['template.components[0]:type']],
  ['free keys in a component', template({ components: [{ type: 'button', sub_type: 'url', index: '0' }] }), []],
  ['a free key in the template', template({ namespace: 'x' }), []],
  ['template missing', { type: 'template' }, ['template:required']],
]);

const button = (id: string, title: string): unknown => ({ type: 'reply', reply: { id, title } });
const buttons = (action: unknown, change: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'interactive',
  interactive: { type: 'button', body: { text: 'Choose' }, action, ...change },
});
const list = (action: unknown, change: Record<string, unknown> = {}): Record<string, unknown> =>
  buttons(action, { type: 'list', ...change });
const oneButton = { buttons: [button('a', 'A')] };
const oneRow = { button: 'Open', sections: [{ rows: [{ id: '1', title: 'Row' }] }] };

/** The specification leaves `action` open: the message's outcome shows how the platform treats it. */
const actions: [string, unknown][] = [
  ['nothing in it', {}],
  ['four buttons', { buttons: ['a', 'b', 'c', 'd'].map((id) => button(id, id)) }],
  ['no button', { buttons: [] }],
  ['a title of 21 characters', { buttons: [button('a', long(21))] }],
  ['two buttons of one id', { buttons: [button('a', 'A'), button('a', 'B')] }],
  ['buttons that are text', { buttons: 'a' }],
  ['a free key', { ...oneButton, extra: 1 }],
  ['another kind of action', { name: 'cta_url', parameters: { display_text: 'Open', url: LINK } }],
  ['sections without a button', { sections: oneRow.sections }],
  ['11 rows', { button: 'Open', sections: [{ rows: Array.from({ length: 11 }, (_, id) => ({ id, title: 'Row' })) }] }],
  ['two sections without titles', { button: 'Open', sections: [...oneRow.sections, ...oneRow.sections] }],
];

const interactives = cases('interactive', [
  ['one button', buttons(oneButton), []],
  ['a list of one row', list(oneRow), []],
  ...actions.flatMap(([name, action]): [string, Record<string, unknown>, string[]][] => [
    [`a button message whose action has ${name}`, buttons(action), []],
    [`a list whose action has ${name}`, list(action), []],
  ]),
  ['action missing', buttons(undefined), ['interactive.action:required']],
  ['action as text', buttons('x'), ['interactive.action:type']],
  ['action as an array', buttons([oneButton]), ['interactive.action:type']],
  ['action null', buttons(null), ['interactive.action:type']],
  ['body of 1024 characters', buttons(oneButton, { body: { text: long(1024) } }), []],
  ['body of 1025', buttons(oneButton, { body: { text: long(1025) } }), ['interactive.body.text:length']],
  ['body of no characters', buttons(oneButton, { body: { text: '' } }), []],
  ['body missing', buttons(oneButton, { body: undefined }), ['interactive.body:required']],
  ['body as text', buttons(oneButton, { body: 'x' }), ['interactive.body:type']],
  ['body text a number', buttons(oneButton, { body: { text: 5 } }), ['interactive.body.text:type']],
  ['header text of 60 characters', buttons(oneButton, { header: { type: 'text', text: long(60) } }), []],
  [
    'header text of 61',
    buttons(oneButton, { header: { type: 'text', text: long(61) } }),
    ['interactive.header.text:length'],
  ],
  ['header with an image', buttons(oneButton, { header: { type: 'image', image: { link: LINK } } }), []],
  ['a list with an image header', list(oneRow, { header: { type: 'image' } }), ['interactive.header.type:one_of']],
  ['footer of 60 characters', buttons(oneButton, { footer: { text: long(60) } }), []],
  ['footer of 61', buttons(oneButton, { footer: { text: long(61) } }), ['interactive.footer.text:length']],
  ['a surplus key', buttons(oneButton, { colour: 'red' }), ['interactive.colour:unknown_field']],
  ['a type that is not offered', buttons(oneButton, { type: 'poll' }), ['interactive.type:one_of']],
  ['type missing', buttons(oneButton, { type: undefined }), ['interactive.type:required']],
  ['interactive missing', { type: 'interactive' }, ['interactive:required']],
]);

const reaction = (change: Record<string, unknown>): Record<string, unknown> => ({
  type: 'reaction',
  reply_to_message_id: UUID,
  ...change,
});

/** These need a message to react to; here only what is refused for its form. */
const reactions = cases('reaction', [
  ['emoji missing', reaction({ reaction: {} }), ['reaction.emoji:required']],
  ['emoji a number', reaction({ reaction: { emoji: 5 } }), ['reaction.emoji:type']],
  ['reaction missing', reaction({}), ['reaction:required']],
  ['reaction a string', reaction({ reaction: '👍' }), ['reaction:type']],
  ['target missing', { type: 'reaction', reaction: { emoji: '👍' } }, ['reply_to_message_id:required']],
]);

export const VARIANT_CASES: readonly VariantCase[] = [
  ...common,
  ...texts,
  ...medias,
  ...templates,
  ...interactives,
  ...KIND_CASES,
  ...reactions,
];
