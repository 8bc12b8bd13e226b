import {
  invalidParam,
  invalidValue,
  type JsonObject,
  missing,
  optionalString,
  rejectOtherKeys,
  requireObject,
  requireObjects,
  requireString,
} from './checks.js';
import { checkInteractive } from './interactive-checks.js';
import { checkMediaReference, MEDIA_KINDS } from './media-checks.js';

/** Lists of a contact card, all optional. */
const CONTACT_LISTS = ['addresses', 'emails', 'phones', 'urls'] as const;

/** Checks of each message type but `template`, whose rules need the stored template. */
export const CONTENT_CHECKS: Readonly<Record<string, (body: JsonObject) => void>> = {
  text: checkText,
  location: checkLocation,
  contacts: checkContacts,
  reaction: checkReaction,
  interactive: (body) => checkInteractive(requireObject(body, 'interactive')),
  ...Object.fromEntries(
    MEDIA_KINDS.map((kind) => [kind, (body: JsonObject) => checkMediaReference(requireObject(body, kind), kind, kind)]),
  ),
};

function checkText(body: JsonObject): void {
  const text = requireObject(body, 'text');
  rejectOtherKeys(text, ['body', 'preview_url'], 'text');
  requireString(text, 'body', "text['body']", 4096);
  const preview = text.preview_url;
  if (preview !== undefined && typeof preview !== 'boolean' && preview !== 'true' && preview !== 'false') {
    throw invalidParam("Param text['preview_url'] must be a boolean.");
  }
}

function checkLocation(body: JsonObject): void {
  const location = requireObject(body, 'location');
  rejectOtherKeys(location, ['latitude', 'longitude', 'name', 'address'], 'location');
  checkCoordinate(location, 'latitude', 90);
  checkCoordinate(location, 'longitude', 180);
  optionalString(location, 'name', "location['name']", 1000);
  optionalString(location, 'address', "location['address']", 1000);
}

function checkCoordinate(location: JsonObject, key: string, limit: number): void {
  const value = location[key];
  if (value === undefined || value === null || value === '')
    throw missing(`Parameter 'location['${key}']' is mandatory`);
  // Strings of digits pass on the platform too.
  if (typeof value !== 'number' && typeof value !== 'string') {
    throw invalidParam(`Param location['${key}'] must be a number.`);
  }
  const degrees = Number(value);
  if (!(Math.abs(degrees) <= limit)) throw invalidValue(`${key} must be within -${limit} and ${limit}`);
}

function checkContacts(body: JsonObject): void {
  requireObjects(body, 'contacts', 'contacts', 1, 257).forEach((contact, i) => {
    const name = requireObject(contact, 'name', `contacts[${i}]['name']`);
    requireString(name, 'formatted_name', `contacts[${i}]['name']['formatted_name']`, 1000);
    for (const list of CONTACT_LISTS) {
      if (contact[list] !== undefined) requireObjects(contact, list, `contacts[${i}]['${list}']`, 0, 257);
    }
  });
}

function checkReaction(body: JsonObject): void {
  const reaction = requireObject(body, 'reaction');
  rejectOtherKeys(reaction, ['message_id', 'emoji'], 'reaction');
  requireString(reaction, 'message_id', "reaction['message_id']", 512);
  // An empty emoji takes the reaction back, so it may be empty but not absent.
  if (reaction.emoji === undefined || reaction.emoji === null)
    throw missing("Parameter 'reaction['emoji']' is mandatory");
  optionalString(reaction, 'emoji', "reaction['emoji']", 64);
}
