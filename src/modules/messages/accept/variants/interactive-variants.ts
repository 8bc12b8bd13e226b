import type { ErrorDetail } from '../../../../common/app-error.js';
import { isObject } from '../../../../common/json.js';
import {
  array,
  free,
  integer,
  object,
  oneOf,
  refined,
  string,
  tagged,
  violation,
  type Shape,
} from '../../../../common/shape.js';
import { bodyShape, either, exactlyOne, fileSource, type MessageVariant, type NormalizedContent } from './variant.js';

/*
 * Interactive messages other than reply buttons and lists, in WhatsApp's form. The limits are those of WhatsApp's
 * reference; what it does not document is left to WhatsApp.
 */
const BODY_MAX = 1_024;
const BUTTON_MAX = 20;
const URL_MAX = 2_000;
const FLOW_CTA_MAX = 30;
const SECTION_TITLE_MAX = 24;
const MAX_SECTIONS = 10;
const MAX_ROWS = 10;
const MAX_PRODUCTS = 30;
const MAX_CARDS = 10;
const CARD_BODY_MAX = 160;
const CARD_BREAKS_MAX = 2;
const CARD_BUTTONS_MAX = 3;
const BUTTON_ID_MAX = 256;
/** Limit for ids of WhatsApp's own objects, far longer than any known. */
const ID_MAX = 256;

const id = (description: string, example: string): Shape => string({ min: 1, max: ID_MAX, description, example });
const SHORT_TEXT = string({ min: 1, max: 60 });
const footer = object({ required: { text: SHORT_TEXT } });
const body = object({ required: { text: string({ min: 1, max: BODY_MAX, description: 'The text.' }) } });

/**
 * An object with exactly one of two fields. A violation is placed at the field named by `suffix`, by default at the
 * object.
 */
function withOneOf(shape: Shape, [first, second]: [string, string], suffix = ''): Shape {
  const rule = (value: Record<string, unknown>, field: string, violations: ErrorDetail[]): void => {
    if ((value[first] === undefined) !== (value[second] === undefined)) return;
    violations.push(violation(field + suffix, 'exactly_one', `${field} must hold either ${first} or ${second}.`));
  };
  return refined(shape, rule, exactlyOne(first, second));
}

const file = (extra: Record<string, Shape> = {}): Shape =>
  withOneOf(object({ optional: { ...fileSource, ...extra } }), ['id', 'link']);

const HEADERS = {
  text: object({ required: { type: oneOf(['text']), text: SHORT_TEXT } }),
  image: object({ required: { type: oneOf(['image']), image: file() } }),
  video: object({ required: { type: oneOf(['video']), video: file() } }),
  document: object({
    required: { type: oneOf(['document']), document: file({ filename: string({ max: 240 }) }) },
  }),
};

const header = tagged('type', HEADERS);

type Fields = Readonly<Record<string, Shape>>;

function normalizeInteractive(whole: Record<string, unknown>): NormalizedContent {
  const content = whole.interactive as Record<string, unknown> & { body?: { text: string } };
  return { type: 'interactive', content, body: content.body?.text ?? null };
}

function kind(type: string, name: string, required: Fields, optional: Fields): MessageVariant {
  const interactive = object({ required: { type: oneOf([type]), ...required }, optional });
  return {
    name,
    type: 'interactive',
    kind: type,
    shape: bodyShape({ type: oneOf(['interactive']), interactive }),
    normalize: normalizeInteractive,
  };
}

function named(name: string, required: Fields = {}, optional: Fields = {}): Shape {
  return object({ required: { name: oneOf([name]), ...required }, optional });
}

const urlButton = named('cta_url', {
  parameters: object({
    required: {
      display_text: string({ min: 1, max: BUTTON_MAX, description: 'Label of the button.', example: 'See the menu' }),
      url: string({
        pattern: /^https?:\/\/[^\s/?#]+\S*$/,
        max: URL_MAX,
        meaning: 'an address that starts with https:// or http://',
        format: 'uri',
        description: 'What the button opens.',
        example: 'https://example.com/menu',
      }),
    },
  }),
});

const flowParameters = withOneOf(
  object({
    required: {
      flow_message_version: string({ min: 1, max: 8, description: 'Version of the message: 3.', example: '3' }),
      flow_cta: string({ min: 1, max: FLOW_CTA_MAX, description: 'Label of the button.', example: 'Book a table' }),
    },
    optional: {
      flow_id: id('Id of the flow; or give its name.', '1247865123456789'),
      flow_name: id('Name of the flow; or give its id.', 'book_a_table'),
      flow_token: string({ max: BODY_MAX, description: 'Your own word, which the answer repeats.' }),
      mode: oneOf(['draft', 'published'], { description: 'draft sends a flow that is not published yet.' }),
      flow_action: oneOf(['navigate', 'data_exchange']),
      flow_action_payload: object({
        optional: { screen: string(), data: object({ open: true }) },
        open: true,
        description: 'The first screen and its data.',
      }),
    },
  }),
  ['flow_id', 'flow_name'],
  '.flow_id',
);

const catalogId = id('Id of the catalog that is connected to the account.', '194836987003835');
const retailerId = id('Your own id of the product, as the catalog has it.', 'coffee-250');
const product = object({ required: { catalog_id: catalogId, product_retailer_id: retailerId } });

interface ProductSection {
  title?: string;
  product_items: unknown[];
}

const productSections = refined(
  array(
    object({
      required: {
        product_items: array(object({ required: { product_retailer_id: retailerId } }), { min: 1, max: MAX_PRODUCTS }),
      },
      optional: {
        title: string({ min: 1, max: SECTION_TITLE_MAX, description: 'Required where there are several sections.' }),
      },
    }),
    { min: 1, max: MAX_SECTIONS, description: `Up to ${MAX_PRODUCTS} products in all.` },
  ),
  (sections: ProductSection[], field, violations) => {
    const products = sections.reduce((sum, section) => sum + section.product_items.length, 0);
    if (products > MAX_PRODUCTS) {
      const message = `${field} must have at most ${MAX_PRODUCTS} products in all; there are ${products}.`;
      violations.push(violation(field, 'length', message));
    }
    requireTitles(sections, field, violations);
  },
);

function requireTitles(sections: readonly { title?: string }[], field: string, violations: ErrorDetail[]): void {
  if (sections.length === 1) return;
  for (const [index, { title }] of sections.entries()) {
    const path = `${field}[${index}].title`;
    if (title === undefined) {
      violations.push(violation(path, 'required', `${path} is missing: with several sections each has a title.`));
    }
  }
}

const cardIndex = integer({
  min: 0,
  max: MAX_CARDS - 1,
  description: 'Place of the card, each one once.',
  example: 0,
});

const cardBody = refined(
  object({ required: { text: string({ max: CARD_BODY_MAX, description: 'At most two line breaks.' }) } }),
  ({ text }: { text: string }, field, violations) => {
    if ((text.match(/\r\n|\r|\n/g) ?? []).length <= CARD_BREAKS_MAX) return;
    violations.push(violation(`${field}.text`, 'format', `${field}.text must have at most 2 line breaks.`));
  },
);

const quickReplies = object({
  required: {
    buttons: refined(
      array(
        object({
          required: {
            type: oneOf(['quick_reply']),
            quick_reply: object({
              required: {
                id: string({ min: 1, max: BUTTON_ID_MAX, description: 'Comes back when the customer taps.' }),
                title: string({ min: 1, max: BUTTON_MAX, description: 'Label of the button.' }),
              },
            }),
          },
        }),
        { min: 1, max: CARD_BUTTONS_MAX },
      ),
      (buttons: { quick_reply: { id: string; title: string } }[], field, violations) => {
        for (const key of ['id', 'title'] as const) {
          const values = buttons.map((button) => button.quick_reply[key]);
          const again = values.findIndex((value, index) => values.indexOf(value) < index);
          if (again < 0) continue;
          const path = `${field}[${again}].quick_reply.${key}`;
          violations.push(violation(path, 'unique', `${path} stands on another button of the card already.`));
        }
      },
    ),
  },
});

const cardAction = either(urlButton, quickReplies, (value) => isObject(value) && 'buttons' in value);

const mediaCard = object({
  required: {
    card_index: cardIndex,
    header: tagged('type', { image: HEADERS.image, video: HEADERS.video }),
    action: cardAction,
  },
  optional: {
    // WhatsApp's reference has cta_url on cards of both kinds; other types are in use for quick replies.
    type: oneOf(['cta_url', 'button', 'quick_reply']),
    body: cardBody,
  },
});

const productCard = object({ required: { card_index: cardIndex, type: oneOf(['product']), action: product } });

const card = either(mediaCard, productCard, (value) => isObject(value) && value.type === 'product');

interface Card {
  card_index: number;
  type?: string;
  action: { buttons?: unknown[]; catalog_id?: string };
}

/** What all cards of a message must share. */
function formOf({ type, action }: Card): string {
  if (type === 'product') return `a product of the catalog ${action.catalog_id}`;
  return action.buttons === undefined ? 'a link button' : `${action.buttons.length} quick replies`;
}

const cards = refined(
  array(card, {
    min: 2,
    max: MAX_CARDS,
    description: 'Link buttons, as many quick replies, or products on all of them.',
  }),
  (given: Card[], field, violations) => {
    for (const [index, each] of given.entries()) {
      const first = given[0] as Card;
      if (given.findIndex((other) => other.card_index === each.card_index) < index) {
        const path = `${field}[${index}].card_index`;
        violations.push(violation(path, 'unique', `${path} is that of an earlier card.`));
      }
      if (formOf(each) === formOf(first)) continue;
      const path = `${field}[${index}].action`;
      violations.push(violation(path, 'equal', `${path} must have ${formOf(first)}, as the first card has.`));
    }
  },
);

const open = (description: string): Shape => object({ open: true, description });

const addressParameters = object({
  required: {
    country: string({
      pattern: /^[A-Za-z]{2}$/,
      meaning: 'two letters such as IN',
      description: 'ISO code. WhatsApp offers this to businesses in India, for customers with numbers of India.',
      example: 'IN',
    }),
  },
  optional: {
    values: open('What the form shows to begin with, by field.'),
    saved_addresses: array(object({ required: { id: string({ min: 1 }), value: open('An address, by field.') } }), {
      description: 'Addresses to choose from.',
    }),
    validation_errors: open('What was wrong with an earlier answer, by field.'),
  },
});

const thumbnail = object({ optional: { thumbnail_product_retailer_id: retailerId } });

const kinds: readonly MessageVariant[] = [
  kind('cta_url', 'SendCtaUrl', { body, action: urlButton }, { header, footer }),
  kind('flow', 'SendFlow', { body, action: named('flow', { parameters: flowParameters }) }, { header, footer }),
  kind('location_request_message', 'SendLocationRequest', { body, action: named('send_location') }, { footer }),
  kind(
    'request_contact_info',
    'SendContactRequest',
    { body, action: named('request_contact_info') },
    { header: HEADERS.text, footer },
  ),
  kind('product', 'SendProduct', { action: product }, { body, footer }),
  kind(
    'product_list',
    'SendProductList',
    { header: HEADERS.text, body, action: object({ required: { catalog_id: catalogId, sections: productSections } }) },
    { footer },
  ),
  kind(
    'catalog_message',
    'SendCatalog',
    { body, action: named('catalog_message', {}, { parameters: thumbnail }) },
    { footer },
  ),
  kind('carousel', 'SendCarousel', { body, action: object({ required: { cards } }) }, {}),
  kind(
    'address_message',
    'SendAddressRequest',
    { body, action: named('address_message', { parameters: addressParameters }) },
    { header, footer },
  ),
];

/* Reply buttons and lists. Unknown fields are allowed, since WhatsApp may add some. */
interface Interactive {
  type: 'button' | 'list';
  header?: { type: string; text?: unknown };
}

const openText = object({ required: { text: string({ max: BODY_MAX, description: 'The text.' }) }, open: true });
const openAction = object({
  open: true,
  description: [
    "In the platform's own format, passed on as it is: `buttons` (1 to 3) for reply buttons, `button` and `sections`",
    '(up to 10 rows) for a list. A message whose action the platform refuses fails with `invalid_content`.',
  ].join('\n'),
});
interface Titled {
  id: string;
  title: string;
}

/** @param places the field of each item, in the order of `things` */
function requireDifferent(
  things: readonly Titled[],
  placeOf: (index: number) => string,
  keys: readonly (keyof Titled)[],
  violations: ErrorDetail[],
): void {
  for (const key of keys) {
    for (const [index, thing] of things.entries()) {
      if (things.findIndex((other) => other[key] === thing[key]) === index) continue;
      const path = `${placeOf(index)}.${key}`;
      violations.push(violation(path, 'unique', `${path} is that of an earlier one.`));
    }
  }
}

/** The `action` of reply buttons that WhatsApp accepts. POST /messages/check warns about anything else. */
export const REPLY_BUTTONS = object({
  required: {
    buttons: refined(
      array(
        object({
          required: {
            type: oneOf(['reply']),
            reply: object({
              required: { id: string({ min: 1, max: BUTTON_ID_MAX }), title: string({ min: 1, max: BUTTON_MAX }) },
            }),
          },
        }),
        { min: 1, max: CARD_BUTTONS_MAX },
      ),
      (buttons: { reply: Titled }[], field, violations) => {
        const replies = buttons.map(({ reply }) => reply);
        requireDifferent(replies, (index) => `${field}[${index}].reply`, ['id', 'title'], violations);
      },
    ),
  },
  open: true,
});

interface ListSection {
  title?: string;
  rows: Titled[];
}

const listRow = object({
  required: { id: string({ min: 1, max: 200 }), title: string({ min: 1, max: SECTION_TITLE_MAX }) },
  optional: { description: string({ max: 72 }) },
});

/** The same for lists. */
export const LIST = object({
  required: {
    button: string({ min: 1, max: BUTTON_MAX }),
    sections: refined(
      array(
        object({
          required: { rows: array(listRow, { min: 1, max: MAX_ROWS }) },
          optional: { title: string({ min: 1, max: SECTION_TITLE_MAX }) },
        }),
        { min: 1, max: MAX_SECTIONS },
      ),
      (sections: ListSection[], field, violations) => {
        const rows = sections.flatMap((section, at) =>
          section.rows.map((row, index) => ({ ...row, place: `${field}[${at}].rows[${index}]` })),
        );
        if (rows.length > MAX_ROWS) {
          const message = `${field} must have at most ${MAX_ROWS} rows in all; there are ${rows.length}.`;
          violations.push(violation(field, 'length', message));
        }
        requireDifferent(rows, (index) => rows[index]?.place ?? field, ['id'], violations);
        requireTitles(sections, field, violations);
      },
    ),
  },
  open: true,
});

const openFooter = object({ required: { text: SHORT_TEXT }, open: true });
const openHeader = object({
  required: {
    type: string({ min: 1, max: 20, description: 'text, image, video or document; a list takes text only.' }),
  },
  open: true,
});

/** Fields of both kinds; `header` is checked by kind. A kind with a variant of its own never comes here. */
const frame = object({
  required: {
    type: oneOf(['button', 'list', ...kinds.map(({ kind }) => kind ?? '')]),
    body: openText,
    action: openAction,
  },
  optional: { header: openHeader, footer: openFooter },
});

const TEXT_HEADER = object({ required: { type: oneOf(['text']), text: SHORT_TEXT }, open: true });

const MEDIA_HEADER = {
  type: 'object',
  description: "A file, as the platform's reference has it: `image`, `video` or `document` with `id` or `link`.",
  required: ['type'],
  // Other types are left to WhatsApp, which may add kinds.
  properties: { type: { type: 'string', minLength: 1, maxLength: 20, not: { const: 'text' }, examples: ['image'] } },
  additionalProperties: true,
};

/** The schema of one kind, as exact as JSON Schema can be. */
function schemaOf(type: Interactive['type']): Record<string, unknown> {
  const headers = type === 'list' ? TEXT_HEADER.schema : { anyOf: [TEXT_HEADER.schema, MEDIA_HEADER] };
  return object({
    required: { type: oneOf([type]), body: openText, action: openAction },
    optional: { header: free(headers), footer: openFooter },
  }).schema;
}

const buttonOrList: Shape = {
  ...refined(frame, ({ type, header }: Interactive, field, violations) => {
    if (!isObject(header)) return;
    const path = `${field}.header`;
    if (type === 'list' && header.type !== 'text') {
      violations.push(violation(`${path}.type`, 'one_of', `${path}.type must be text: a list takes no other header.`));
    } else if (header.type === 'text') {
      SHORT_TEXT.check(header.text, `${path}.text`, violations);
    }
  }),
  schema: { oneOf: [schemaOf('button'), schemaOf('list')] },
};

export const interactiveVariants: readonly MessageVariant[] = [
  {
    name: 'SendInteractive',
    type: 'interactive',
    shape: bodyShape({ type: oneOf(['interactive']), interactive: buttonOrList }),
    normalize: normalizeInteractive,
  },
  ...kinds,
];
