import { invalidParam, isUrl, type JsonObject, longerThan } from '../messages/checks.js';
import type { Profile } from './profile.types.js';

// prettier-ignore
const VERTICALS = [
  'OTHER', 'AUTO', 'BEAUTY', 'APPAREL', 'EDU', 'ENTERTAIN', 'EVENT_PLAN', 'FINANCE', 'GROCERY', 'GOVT', 'HOTEL', 'HEALTH',
  'NONPROFIT', 'PROF_SERVICES', 'RETAIL', 'TRAVEL', 'RESTAURANT', 'ALCOHOL', 'ONLINE_GAMBLING', 'PHYSICAL_GAMBLING',
  'OTC_DRUGS',
];
const TEXT_LIMITS = { about: 139, address: 256, description: 512, email: 128 } as const;
const MOST_WEBSITES = 2;
const WEBSITE_LIMIT = 256;

/** What an update asks for: null empties a field. A picture is named by the handle of a resumable upload. */
export interface ProfileChange {
  fields: { [Key in keyof Profile]: Profile[Key] | null };
  pictureHandle: string | null;
}

/** Checks an update of a profile. @throws GraphError 100; nothing is changed then */
export function readProfileChange(body: JsonObject): ProfileChange {
  const fields: ProfileChange['fields'] = {};
  for (const name of ['about', 'address', 'description', 'email'] as const) {
    const text = textOf(body, name);
    if (text === undefined) continue;
    if (name === 'about' && text.trim() === '') throw invalidParam('Param about must not be empty.');
    if (name === 'email' && text !== '' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) {
      throw invalidParam('Param email must be a valid email address.');
    }
    fields[name] = text === '' ? null : text;
  }
  if (body.vertical !== undefined) fields.vertical = verticalOf(body.vertical);
  if (body.websites !== undefined) fields.websites = websitesOf(body.websites);
  return { fields, pictureHandle: handleOf(body.profile_picture_handle) };
}

function textOf(body: JsonObject, name: keyof typeof TEXT_LIMITS): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalidParam(`Param ${name} must be a string.`);
  const max = TEXT_LIMITS[name];
  if (longerThan(value, max)) throw invalidParam(`Param ${name} must be at most ${max} characters long.`);
  return value;
}

function verticalOf(value: unknown): string | null {
  if (value === '') return null;
  const vertical = typeof value === 'string' ? value.toUpperCase() : '';
  if (!VERTICALS.includes(vertical)) {
    throw invalidParam(`Param vertical must be one of {${VERTICALS.join(', ')}} - got ${JSON.stringify(value)}.`);
  }
  return vertical;
}

function websitesOf(value: unknown): string[] | null {
  if (!Array.isArray(value)) throw invalidParam('Param websites must be an array.');
  if (value.length > MOST_WEBSITES) throw invalidParam(`Param websites must have at most ${MOST_WEBSITES} elements.`);
  const websites = value.map((site: unknown, i) => {
    if (typeof site !== 'string' || longerThan(site, WEBSITE_LIMIT)) {
      throw invalidParam(`Param websites[${i}] must be a string of at most ${WEBSITE_LIMIT} characters.`);
    }
    if (!/^https?:\/\//i.test(site) || !isUrl(site)) {
      throw invalidParam(`Param websites[${i}] must be a valid URL that begins with http:// or https://.`);
    }
    return site;
  });
  return websites.length === 0 ? null : websites;
}

function handleOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || !/^\d+:/.test(value)) {
    throw invalidParam('Param profile_picture_handle is not a handle of a resumable upload.');
  }
  return value;
}
