import { invalidParam, invalidValue, type JsonObject, optionalString, rejectOtherKeys, requireUrl } from './checks.js';

export const MEDIA_KINDS = ['image', 'video', 'audio', 'document', 'sticker'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** What each kind takes beside `id` and `link`. */
const EXTRA_KEYS: Readonly<Record<MediaKind, readonly string[]>> = {
  image: ['caption'],
  video: ['caption'],
  audio: ['voice'],
  document: ['caption', 'filename'],
  sticker: [],
};

/**
 * Checks the object that names a file: exactly one of `id` and `link`, and only what its kind has.
 * @param path where it stands, for messages, such as `image` or `interactive['header']['image']`
 */
export function checkMediaReference(media: JsonObject, kind: MediaKind, path: string): void {
  rejectOtherKeys(media, ['id', 'link', 'provider', ...EXTRA_KEYS[kind]], path);
  const id = typeof media.id === 'number' ? String(media.id) : optionalString(media, 'id', `${path}['id']`, 128);
  const link = optionalString(media, 'link', `${path}['link']`, 2048);
  if (id === undefined && link === undefined) throw invalidParam(`Param ${path} must have one of "id" or "link".`);
  if (id !== undefined && link !== undefined) throw invalidParam(`Param ${path} can't have both "id" and "link".`);
  if (link !== undefined) requireUrl(link, `${path}['link']`);
  if (id !== undefined && !/^\d{1,32}$/.test(id)) throw invalidValue(`${path}: media id is not valid`);
  optionalString(media, 'caption', `${path}['caption']`, 1024);
  optionalString(media, 'filename', `${path}['filename']`, 240);
  if (media.voice !== undefined && typeof media.voice !== 'boolean') {
    throw invalidParam(`Param ${path}['voice'] must be a boolean.`);
  }
}
