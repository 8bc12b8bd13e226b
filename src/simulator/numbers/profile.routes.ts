import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { invalidParam } from '../graph-error.js';
import { type Field, fieldsOf } from '../http/fields.js';
import { parametersOf } from '../http/parameters.js';
import { pathId, type Route, SUCCESS } from '../http/route.js';
import { checkProduct, isUrl, type JsonObject, longerThan, Param } from '../messages/param.js';
import type { Store, Table } from '../store.js';

/** What a number's profile says; a field that was never set, or was emptied, is missing. */
export interface Profile {
  about?: string;
  address?: string;
  description?: string;
  email?: string;
  profile_picture_url?: string;
  websites?: string[];
  vertical?: string;
}

// prettier-ignore
const FIELDS = ['about', 'address', 'description', 'email', 'profile_picture_url', 'websites', 'vertical'] as const;
// prettier-ignore
const VERTICALS = [
  'OTHER', 'AUTO', 'BEAUTY', 'APPAREL', 'EDU', 'ENTERTAIN', 'EVENT_PLAN', 'FINANCE', 'GROCERY', 'GOVT', 'HOTEL', 'HEALTH',
  'NONPROFIT', 'PROF_SERVICES', 'RETAIL', 'TRAVEL', 'RESTAURANT', 'ALCOHOL', 'ONLINE_GAMBLING', 'PHYSICAL_GAMBLING',
  'OTC_DRUGS',
];
const TEXT_LIMITS = { about: 139, address: 256, description: 512, email: 128 };
const MOST_WEBSITES = 2;
const WEBSITE_LIMIT = 256;

/** Reading and writing a number's profile. */
export function profileRoutes({ store }: { store: Store }): Route[] {
  const profiles = store.table<Profile>('profiles');
  return [
    ['GET', '/:phone_number/whatsapp_business_profile', (request) => read(profiles, request)],
    ['POST', '/:phone_number/whatsapp_business_profile', (request) => write(profiles, request)],
  ];
}

/** Without `fields` there is nothing but the product; a field that is not set does not appear. */
function read(profiles: Table<Profile>, request: Request): object {
  const known = Object.fromEntries([...FIELDS, 'messaging_product', 'id'].map((name) => [name, true]));
  const fields = fieldsOf(request, known, [], 'WhatsAppBusinessProfile');
  return shownProfile(profiles, pathId(request, 'phone_number'), fields);
}

/** The profile as its own call answers, and as the field of a number. */
export function shownProfile(profiles: Table<Profile>, phoneNumberId: string, fields: readonly Field[]): object {
  const profile = profiles.get(phoneNumberId) ?? {};
  const shown = FIELDS.filter((field) => fields.some(({ name }) => name === field));
  return {
    data: [{ ...Object.fromEntries(shown.map((name) => [name, profile[name]])), messaging_product: 'whatsapp' }],
  };
}

function write(profiles: Table<Profile>, request: Request): object {
  const phoneNumberId = pathId(request, 'phone_number');
  const body = parametersOf(request);
  checkProduct(body);
  profiles.set(phoneNumberId, { ...profiles.get(phoneNumberId), ...readChange(body, phoneNumberId) });
  return SUCCESS;
}

/** What an update changes: undefined empties a field. @throws GraphError 100; nothing is changed then */
function readChange(body: JsonObject, phoneNumberId: string): Profile {
  const change: Profile = {};
  const param = Param.body(body);
  for (const [name, max] of Object.entries(TEXT_LIMITS) as [keyof typeof TEXT_LIMITS, number][]) {
    const text = param.optionalText(name, max);
    if (text === undefined) continue;
    change[name] = text === '' ? undefined : text;
    if (name === 'about' && text.trim() === '') throw invalidParam('Param about must not be empty.');
    if (name === 'email' && text !== '' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) {
      throw invalidParam('Param email must be a valid email address.');
    }
  }
  const { vertical, websites, profile_picture_handle: handle } = body;
  if (vertical !== undefined)
    change.vertical = vertical === '' ? undefined : param.optionalOneOf('vertical', VERTICALS);
  if (websites !== undefined) change.websites = websitesOf(websites);
  if (handle !== undefined && handle !== null) {
    if (typeof handle !== 'string' || !/^\d+:/.test(handle)) {
      throw invalidParam('Param profile_picture_handle is not a handle of a resumable upload.');
    }
    change.profile_picture_url = pictureAddress(phoneNumberId, handle);
  }
  return change;
}

function websitesOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) throw invalidParam('Param websites must be an array.');
  if (value.length > MOST_WEBSITES) throw invalidParam(`Param websites must have at most ${MOST_WEBSITES} elements.`);
  const websites = value.map((site: unknown, i) => {
    if (typeof site !== 'string' || longerThan(site, WEBSITE_LIMIT)) {
      throw invalidParam(`Param websites[${i}] must be a string of at most ${WEBSITE_LIMIT} characters.`);
    }
    if (isUrl(site)) return site;
    throw invalidParam(`Param websites[${i}] must be a valid URL that begins with http:// or https://.`);
  });
  return websites.length === 0 ? undefined : websites;
}

function pictureAddress(phoneNumberId: string, handle: string): string {
  const name = createHash('sha256').update(`${phoneNumberId} ${handle}`).digest('hex').slice(0, 16);
  return `https://pps.whatsapp.net/v/t61.24694-24/${name}_n.jpg?ccb=11-4&oh=01_Q5&oe=6971C5A0`;
}
