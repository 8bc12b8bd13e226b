import {
  array,
  boolean,
  number,
  object,
  oneOf,
  refined,
  string,
  uuid,
  violation,
  type Shape,
} from '../../../../common/shape.js';
import { MEDIA_TYPES } from '../../../media/media.types.js';
import { interactiveVariants } from './interactive-variants.js';
import { bodyShape, either, fileSource, type MessageVariant, type NormalizedContent } from './variant.js';

const messageText = string({ min: 1, max: 4096, description: 'The text.', example: 'Your table is ready.' });

const textVariant: MessageVariant = {
  name: 'SendText',
  type: 'text',
  shape: bodyShape({
    type: oneOf(['text']),
    text: object({
      required: { body: messageText },
      optional: { preview_url: boolean({ default: false, description: 'Show a preview of the first link.' }) },
    }),
  }),
  normalize: (body) => {
    const text = body.text as { body: string; preview_url?: boolean };
    return textContent(text.body, text.preview_url ?? false);
  },
};

/** The older form: a `body` without `type`. It means a text without a preview. */
const legacyTextVariant: MessageVariant = {
  name: 'SendLegacyText',
  type: null,
  shape: bodyShape({ body: messageText }),
  normalize: (body) => textContent(body.body as string, false),
};

function textContent(body: string, previewUrl: boolean): NormalizedContent {
  return { type: 'text', content: { body, preview_url: previewUrl }, body };
}

interface MediaBody {
  media_object_id?: string;
  media: { id?: string; link?: string; caption?: string };
}

/**
 * Fields of every kind. Where WhatsApp has no such field, it is stored and not sent, and POST /messages/check warns.
 */
const common = {
  caption: string({
    max: 1_024,
    description: 'Text under an image, a video or a document; other kinds are sent without it.',
  }),
  filename: string({ max: 240, description: 'Name under which a document is shown; other kinds are sent without it.' }),
  voice: boolean({ description: 'Send audio (ogg with Opus) as a voice note; other kinds are sent without it.' }),
};

const ONE_SOURCE = {
  description: 'The file: `id` or `link`, or neither where `media_object_id` names it.',
  'x-at-most-one': ['id', 'link'],
};

/** Image, video, audio, document, sticker. */
const mediaVariants: readonly MessageVariant[] = MEDIA_TYPES.map((type) => ({
  name: `Send${type.charAt(0).toUpperCase()}${type.slice(1)}`,
  type,
  shape: refined(
    bodyShape({
      type: oneOf([type]),
      media: refined(object({ optional: { ...fileSource, ...common } }), () => undefined, ONE_SOURCE),
    }),
    ({ media: { id, link }, media_object_id: objectId }: MediaBody, _field, violations) => {
      const refuse = (field: string, rule: string, message: string) => violations.push(violation(field, rule, message));
      if (id !== undefined && link !== undefined) {
        refuse('media', 'exactly_one', 'media must hold either id or link, not both.');
      } else if (link !== undefined && objectId !== undefined) {
        refuse('media_object_id', 'exactly_one', 'media_object_id and media.link exclude each other.');
      } else if (id === undefined && link === undefined && objectId === undefined) {
        refuse('media', 'exactly_one', 'media must hold either id or link.');
      } else if (id !== undefined && objectId !== undefined && id.toLowerCase() !== objectId.toLowerCase()) {
        refuse('media_object_id', 'equal', 'media_object_id must equal media.id where both are given.');
      }
    },
  ),
  normalize: (body) => {
    const { media, media_object_id: objectId } = body as unknown as MediaBody;
    const id = media.id ?? objectId;
    return { type, content: id === undefined ? { ...media } : { ...media, id }, body: media.caption ?? null };
  },
}));

const value = string({ max: 32_768 });

/** An approved template; the only form that needs no open window. */
const templateVariant: MessageVariant = {
  name: 'SendTemplate',
  type: 'template',
  shape: bodyShape({
    type: oneOf(['template']),
    template: refined(
      object({
        required: {
          name: string({ min: 1, max: 512, description: 'Name of an approved template.', example: 'order_update' }),
          language: either(
            object({
              required: {
                code: string({ min: 1, max: 20, description: 'Language of the template.', example: 'en_US' }),
              },
              open: true,
            }),
            string({ min: 1, max: 20, description: 'The code alone.', example: 'en_US' }),
            (value) => typeof value === 'string',
          ),
        },
        optional: {
          parameters: object({
            optional: {
              header: array(value, {
                max: 20,
                description: "Texts, or the file: an `https://` address or the file's id.",
              }),
              body: array(value, { max: 100, description: 'In the order of the numbers, or of the first appearance.' }),
              buttons: array(value, { max: 10, description: 'Of the buttons that have a variable, in their order.' }),
            },
            description: 'In the place of `components`: the values alone.',
          }),
          components: array(
            object({ required: { type: string({ description: 'header, body, button, carousel ...' }) }, open: true }),
            { max: 20, description: "Values of the template's variables, as the platform takes them." },
          ),
        },
        open: true,
      }),
      ({ components, parameters }: { components?: unknown; parameters?: unknown }, field, violations) => {
        if (components === undefined || parameters === undefined) return;
        const message = `${field}.parameters and ${field}.components exclude each other; send one of them.`;
        violations.push(violation(`${field}.parameters`, 'exclusive', message));
      },
      { 'x-at-most-one': ['components', 'parameters'] },
    ),
  }),
  normalize: (body) => {
    const template = body.template as Record<string, unknown> & { language: unknown };
    const { language } = template;
    const content = typeof language === 'string' ? { ...template, language: { code: language } } : template;
    return { type: 'template', content, body: null };
  },
};

/* WhatsApp limits only the number of contacts; these lengths keep a message to what a phone can show. */
const MAX_LENGTH = 1_000;
const MAX_CONTACTS = 257;

/** WhatsApp's examples write degrees as text, so text and numbers are accepted; the number is stored. */
function degrees(most: number, text: RegExp, description: string, example: number): Shape {
  const asNumber = number({ min: -most, max: most });
  const asText = string({ pattern: text, meaning: `degrees from -${most} to ${most}, as a number such as ${example}` });
  const shape = either(asNumber, asText, (value) => typeof value === 'string');
  return { ...shape, schema: { description, ...shape.schema, examples: [example] } };
}

const LATITUDE = /^-?(?:90(?:\.0{1,15})?|[1-8]?[0-9](?:\.[0-9]{1,15})?)$/;
const LONGITUDE = /^-?(?:180(?:\.0{1,15})?|(?:1[0-7][0-9]|[1-9]?[0-9])(?:\.[0-9]{1,15})?)$/;

interface Location {
  latitude: number | string;
  longitude: number | string;
  name?: string;
  address?: string;
}

/** A place on the map. */
const locationVariant: MessageVariant = {
  name: 'SendLocation',
  type: 'location',
  shape: bodyShape({
    type: oneOf(['location']),
    location: object({
      required: {
        latitude: degrees(90, LATITUDE, 'Degrees; north is positive.', 53.3498),
        longitude: degrees(180, LONGITUDE, 'Degrees; east is positive.', -6.2603),
      },
      optional: {
        name: string({ max: MAX_LENGTH, description: 'Name of the place.', example: 'Lighthouse Coffee' }),
        address: string({ max: MAX_LENGTH, description: 'Shown under the name.', example: '1 Harbour Road, Dublin' }),
      },
    }),
  }),
  normalize: (body) => {
    const { latitude, longitude, ...rest } = body.location as Location;
    const content = { latitude: Number(latitude), longitude: Number(longitude), ...rest };
    return { type: 'location', content, body: rest.name ?? rest.address ?? null };
  },
};

const words = (description?: string): Shape =>
  string({ max: MAX_LENGTH, ...(description !== undefined && { description }) });
const kindOf = string({ max: MAX_LENGTH, description: 'WORK, HOME or another word.', example: 'WORK' });

const contact = object({
  required: {
    name: object({
      required: { formatted_name: string({ min: 1, max: MAX_LENGTH, description: 'Full name.', example: 'Ana Lima' }) },
      optional: { first_name: words(), last_name: words(), middle_name: words(), suffix: words(), prefix: words() },
    }),
  },
  optional: {
    phones: array(
      object({
        optional: {
          phone: words('The number as it is shown.'),
          wa_id: words("Digits of the contact's WhatsApp number; with it the card offers to write to them."),
          type: kindOf,
        },
      }),
    ),
    emails: array(object({ optional: { email: words(), type: kindOf } })),
    urls: array(object({ optional: { url: words(), type: kindOf } })),
    addresses: array(
      object({
        optional: {
          street: words(),
          city: words(),
          state: words(),
          zip: words(),
          country: words(),
          country_code: words('Two letters.'),
          type: kindOf,
        },
      }),
    ),
    org: object({ optional: { company: words(), department: words(), title: words() } }),
    birthday: string({
      pattern: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/,
      meaning: 'a day such as 1990-01-31',
      example: '1990-01-31',
    }),
  },
});

/** Cards of people or businesses. */
const contactsVariant: MessageVariant = {
  name: 'SendContacts',
  type: 'contacts',
  shape: bodyShape({
    type: oneOf(['contacts']),
    contacts: array(contact, {
      min: 1,
      max: MAX_CONTACTS,
      description: 'What the recipient can save, each with a name.',
    }),
  }),
  normalize: (body) => {
    const contacts = body.contacts as { name: { formatted_name: string } }[];
    // An object, like every content, and in the form in which received contacts are stored.
    return { type: 'contacts', content: { contacts }, body: contacts[0]?.name.formatted_name ?? null };
  },
};

/** An emoji on an earlier message of the conversation; an empty one removes the reaction. */
const reactionVariant: MessageVariant = {
  name: 'SendReaction',
  type: 'reaction',
  shape: bodyShape({
    type: oneOf(['reaction']),
    reply_to_message_id: uuid({ description: 'The message to react to.' }),
    reaction: object({
      required: { emoji: string({ description: 'One emoji; empty takes the reaction back.', example: '👍' }) },
    }),
  }),
  normalize: (body) => {
    const { emoji } = body.reaction as { emoji: string };
    return { type: 'reaction', content: { emoji }, body: emoji };
  },
};

/** Every form of POST /messages; exactly one fits a valid body, and `type` says which. */
export const MESSAGE_VARIANTS: readonly MessageVariant[] = [
  textVariant,
  legacyTextVariant,
  ...mediaVariants,
  templateVariant,
  ...interactiveVariants,
  locationVariant,
  contactsVariant,
  reactionVariant,
];
