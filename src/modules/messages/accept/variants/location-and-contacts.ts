import { array, number, object, oneOf, string, type Shape } from '../../../../common/shape.js';
import { bodyShape, type MessageVariant } from './variant.js';

/* The platform names no limits but the number of contacts; the lengths keep a message to what a phone can show. */
const LONGEST = 1_000;
const MOST_CONTACTS = 257;

/** The platform's own examples write degrees as text, so both are taken; kept is the number. */
function degrees(most: number, text: RegExp, description: string, example: number): Shape {
  const asNumber = number({ min: -most, max: most });
  const asText = string({ pattern: text, meaning: `degrees from -${most} to ${most}, as a number such as ${example}` });
  return {
    check: (value, field, violations) =>
      (typeof value === 'string' ? asText : asNumber).check(value, field, violations),
    schema: { description, anyOf: [asNumber.schema, asText.schema], examples: [example] },
  };
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
export const locationVariant: MessageVariant = {
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
        name: string({ max: LONGEST, description: 'Name of the place.', example: 'Lighthouse Coffee' }),
        address: string({ max: LONGEST, description: 'Shown under the name.', example: '1 Harbour Road, Dublin' }),
      },
    }),
  }),
  normalize: (body) => {
    const { latitude, longitude, ...rest } = body.location as Location;
    const content = { latitude: Number(latitude), longitude: Number(longitude), ...rest };
    return { type: 'location', content, body: rest.name ?? rest.address ?? null };
  },
};

const text = (description?: string): Shape =>
  string({ max: LONGEST, ...(description !== undefined && { description }) });
const kindOf = string({ max: LONGEST, description: 'WORK, HOME or another word.', example: 'WORK' });

const contact = object({
  required: {
    name: object({
      required: { formatted_name: string({ min: 1, max: LONGEST, description: 'Full name.', example: 'Ana Lima' }) },
      optional: { first_name: text(), last_name: text(), middle_name: text(), suffix: text(), prefix: text() },
    }),
  },
  optional: {
    phones: array(
      object({
        optional: {
          phone: text('The number as it is shown.'),
          wa_id: text("Digits of the contact's WhatsApp number; with it the card offers to write to them."),
          type: kindOf,
        },
      }),
    ),
    emails: array(object({ optional: { email: text(), type: kindOf } })),
    urls: array(object({ optional: { url: text(), type: kindOf } })),
    addresses: array(
      object({
        optional: {
          street: text(),
          city: text(),
          state: text(),
          zip: text(),
          country: text(),
          country_code: text('Two letters.'),
          type: kindOf,
        },
      }),
    ),
    org: object({ optional: { company: text(), department: text(), title: text() } }),
    birthday: string({
      pattern: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/,
      meaning: 'a day such as 1990-01-31',
      example: '1990-01-31',
    }),
  },
});

/** Cards of people or businesses. */
export const contactsVariant: MessageVariant = {
  name: 'SendContacts',
  type: 'contacts',
  shape: bodyShape({
    type: oneOf(['contacts']),
    contacts: array(contact, {
      min: 1,
      max: MOST_CONTACTS,
      description: 'What the recipient can save, each with a name.',
    }),
  }),
  normalize: (body) => {
    const contacts = body.contacts as { name: { formatted_name: string } }[];
    // An object like every content, and as contacts that a customer sends are kept.
    return { type: 'contacts', content: { contacts }, body: contacts[0]?.name.formatted_name ?? null };
  },
};
