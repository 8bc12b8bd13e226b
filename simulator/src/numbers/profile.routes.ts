import { createHash } from 'node:crypto';
import { invalidParam } from '../graph-error.js';
import { type Call, type Route, SUCCESS } from '../http/call.js';
import { absent, type Field, own, Shape } from '../http/fields.js';
import { isUrl, type JsonObject, longerThan, type Param } from '../http/param.js';
import type { Platform } from '../platform.js';
import type { Store } from '../store.js';

/** A number's profile; fields that were never set, or were emptied, are absent. */
type Profile = Partial<Record<keyof typeof TEXT_LIMITS | 'profile_picture_url' | 'vertical', string>> & {
  websites?: string[];
};

const TEXT_LIMITS = { about: 139, address: 256, description: 512, email: 128 };
// prettier-ignore
const VERTICALS = [
  'OTHER', 'AUTO', 'BEAUTY', 'APPAREL', 'EDU', 'ENTERTAIN', 'EVENT_PLAN', 'FINANCE', 'GROCERY', 'GOVT', 'HOTEL', 'HEALTH',
  'NONPROFIT', 'PROF_SERVICES', 'RETAIL', 'TRAVEL', 'RESTAURANT', 'ALCOHOL', 'ONLINE_GAMBLING', 'PHYSICAL_GAMBLING',
  'OTC_DRUGS',
];
const MAX_WEBSITES = 2;
const WEBSITE_LIMIT = 256;
const WEBSITES = `at most ${MAX_WEBSITES} URLs that begin with http:// or https:// and have ${WEBSITE_LIMIT} characters at most`;

const PROFILE = new Shape<Profile>(
  'WhatsAppBusinessProfile',
  {
    ...own('about', 'address', 'description', 'email', 'profile_picture_url', 'websites', 'vertical'),
    ...absent('messaging_product', 'id'),
  },
  [],
);

/** A number's profile, and its QR codes. */
export function profileRoutes(platform: Platform): Route[] {
  const { nodes, store } = platform;
  const path = '/whatsapp_business_profile';
  return [
    nodes.number.on('get', path, ({ phoneNumberId }, call) => shownProfile(store, phoneNumberId, call)),
    nodes.number.on('post', path, ({ phoneNumberId }, { param }) => {
      param.product();
      const profiles = store.table<Profile>('profiles');
      profiles.set(phoneNumberId, { ...profiles.get(phoneNumberId), ...readChange(param, phoneNumberId) });
      return SUCCESS;
    }),
    ...qrCodeRoutes(platform),
  ];
}

/**
 * The profile in the answer of its own call, and as a field of a number. Without `fields` it has only the product; an
 * unset field is absent.
 */
export function shownProfile(store: Store, phoneNumberId: string, fields: readonly Field[] | Call): object {
  const profile = store.table<Profile>('profiles').get(phoneNumberId) ?? {};
  return { data: [{ ...PROFILE.show(profile, fields), messaging_product: 'whatsapp' }] };
}

/** The changes of an update: undefined empties a field. @throws GraphError 100; then nothing changes */
function readChange(param: Param, phoneNumberId: string): Profile {
  const change: Profile = {};
  for (const [name, max] of Object.entries(TEXT_LIMITS) as [keyof typeof TEXT_LIMITS, number][]) {
    const text = param.optionalText(name, max);
    if (text === undefined) continue;
    change[name] = text === '' ? undefined : text;
    if (name === 'about' && text.trim() === '') throw invalidParam('Param about must not be empty.');
    if (name === 'email' && text !== '' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) {
      throw invalidParam('Param email must be a valid email address.');
    }
  }
  const { vertical, profile_picture_handle: handle } = param.value as JsonObject;
  if (vertical !== undefined) {
    change.vertical = vertical === '' ? undefined : param.optionalOneOf('vertical', VERTICALS);
  }
  const isSite = (site: string) => !longerThan(site, WEBSITE_LIMIT) && isUrl(site);
  const websites = param.optionalTexts('websites', MAX_WEBSITES, isSite, WEBSITES);
  if (websites !== undefined) change.websites = websites.length === 0 ? undefined : websites;
  if (handle !== undefined && handle !== null) {
    if (typeof handle !== 'string' || !/^\d+:/.test(handle)) {
      throw invalidParam('Param profile_picture_handle is not a handle of a resumable upload.');
    }
    change.profile_picture_url = pictureAddress(phoneNumberId, handle);
  }
  return change;
}

function pictureAddress(phoneNumberId: string, handle: string): string {
  const name = createHash('sha256').update(`${phoneNumberId} ${handle}`).digest('hex').slice(0, 16);
  return `https://pps.whatsapp.net/v/t61.24694-24/${name}_n.jpg?ccb=11-4&oh=01_Q5&oe=6971C5A0`;
}

const MAX_MESSAGE_LENGTH = 140;
const MAX_OF_A_NUMBER = 2_000;

interface QrCode {
  phoneNumberId: string;
  code: string;
  message: string;
}

const QR_CODE = new Shape<QrCode>(
  'WhatsAppQRCode',
  {
    id: () => undefined,
    code: ({ code }) => code,
    prefilled_message: ({ message }) => message,
    deep_link_url: ({ code }) => `https://wa.me/message/${code}`,
    qr_image_url: ({ code }, { modifiers }) => imageOf(code, modifiers.format ?? 'SVG'),
  },
  ['code', 'prefilled_message', 'deep_link_url'],
);

/** Short links with a prefilled text. Their images are addresses in WhatsApp's form that lead nowhere. */
function qrCodeRoutes({ nodes: { number }, store, ids }: Platform): Route[] {
  const qrCodes = store.table<QrCode>('qr_codes');
  const codesOf = (phoneNumberId: string) => [...qrCodes.values()].filter((one) => one.phoneNumberId === phoneNumberId);
  const existing = (phoneNumberId: string, code: string): QrCode => {
    const found = qrCodes.get(`${phoneNumberId} ${code}`);
    if (found === undefined) throw invalidParam(`Param code is no QR code of this number: ${code}`);
    return found;
  };
  const write = (phoneNumberId: string, call: Call, given?: string) => {
    const { param } = call;
    const format = param.optionalOneOf('generate_qr_image', ['PNG', 'SVG']);
    const code = given ?? param.optionalText('code', 64);
    const message = param.required('prefilled_message', MAX_MESSAGE_LENGTH);
    if (code === undefined && codesOf(phoneNumberId).length >= MAX_OF_A_NUMBER) {
      throw invalidParam(`A number has at most ${MAX_OF_A_NUMBER} QR codes.`);
    }
    const former = code === undefined ? { phoneNumberId, code: newCode() } : existing(phoneNumberId, code);
    const changed = { ...former, message };
    qrCodes.set(`${phoneNumberId} ${changed.code}`, changed);
    const image = format === undefined ? {} : { qr_image_url: imageOf(changed.code, format) };
    return { ...QR_CODE.show(changed, call), ...image };
  };
  /** 14 capital letters and digits, like WhatsApp's. */
  const newCode = () => BigInt(ids.newObjectId()).toString(36).toUpperCase().padStart(14, 'A');
  const path = '/message_qrdls';
  return [
    number.on('get', path, ({ phoneNumberId }, call) => {
      const code = call.query('code');
      const all = code === null ? codesOf(phoneNumberId) : [existing(phoneNumberId, code)];
      return QR_CODE.page(call, all, (one) => one.code);
    }),
    number.on('post', path, ({ phoneNumberId }, call) => write(phoneNumberId, call)),
    number.on('get', `${path}/:code`, ({ phoneNumberId }, call) => ({
      data: [QR_CODE.show(existing(phoneNumberId, call.pathParam('code')), call)],
    })),
    number.on('post', `${path}/:code`, ({ phoneNumberId }, call) => write(phoneNumberId, call, call.pathParam('code'))),
    number.on('delete', `${path}/:code`, ({ phoneNumberId }, call) => {
      const { code } = existing(phoneNumberId, call.pathParam('code'));
      qrCodes.delete(`${phoneNumberId} ${code}`);
      return SUCCESS;
    }),
  ];
}

function imageOf(code: string, format: string): string {
  return `https://scontent.whatsapp.net/m1/v/t6/${code}.${format.toLowerCase()}?ccb=10-5&oh=01_Q5&oe=6971C5A0`;
}
