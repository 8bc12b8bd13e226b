import { fileTypeFromBuffer } from 'file-type';
import { AMR_MAGIC } from './audio.js';
import { type Format, FORMATS } from './formats.js';
import { isAnimatedWebp } from './images.js';
import { activeTextType, TextScan } from './plain-text.js';
import type { MediaType } from '../media.types.js';

/** So many bytes decide the family of a file. */
export const HEAD_BYTES = 4_100;

/** Formats that begin alike. */
export type Family =
  | 'jpeg'
  | 'png'
  | 'webp'
  | 'iso_media'
  | 'tagged_audio'
  | 'framed_audio'
  | 'amr'
  | 'ogg'
  | 'pdf'
  | 'zip'
  | 'compound'
  | 'text';

/** What the beginning of a file tells, before the rest is there. */
export type FirstLook =
  | {
      readonly family: Family;
      /** What such a file mostly is. */
      readonly name: string;
      readonly limitBytes: number;
      readonly types: readonly MediaType[];
    }
  /** The platform takes no file that begins so; `detected` names it where it is known. */
  | { readonly family: null; readonly detected: string | null };

const look = (
  family: Family,
  { mimeType, limitBytes }: Pick<Format, 'mimeType' | 'limitBytes'>,
  ...types: MediaType[]
): FirstLook => ({ family, name: mimeType, limitBytes, types });

const text = look('text', FORMATS.text, 'document');
const zip = { mimeType: 'application/zip', limitBytes: FORMATS.docx.limitBytes };
const compound = { mimeType: 'application/x-cfb', limitBytes: FORMATS.doc.limitBytes };

/** Recognises the family by the first bytes. Everything else about the file is only checked when it is complete. */
export async function firstLook(head: Buffer): Promise<FirstLook> {
  const known = familyOf(head);
  if (known !== null) return known;
  const detected = activeTextType(head) ?? (await nameOf(head));
  const mayBeText = detected === null || (isHarmlessText(detected) && new TextScan().push(head));
  return mayBeText ? text : { family: null, detected };
}

function familyOf(head: Buffer): FirstLook | null {
  const startsWith = (magic: string, at = 0): boolean => head.toString('latin1', at, at + magic.length) === magic;
  const [first = 0, second = 0] = head;
  if (startsWith('\xff\xd8\xff')) return look('jpeg', FORMATS.jpeg, 'image');
  if (startsWith('\x89PNG\r\n\x1a\n')) return look('png', FORMATS.png, 'image');
  if (startsWith('RIFF') && startsWith('WEBP', 8)) {
    return look('webp', isAnimatedWebp(head) ? FORMATS.animatedSticker : FORMATS.sticker, 'sticker');
  }
  if (startsWith('ftyp', 4)) return look('iso_media', FORMATS.mp4, 'video', 'audio');
  if (startsWith('ID3')) return look('tagged_audio', FORMATS.mp3, 'audio');
  if (first === 0xff && (second & 0xe0) === 0xe0) return look('framed_audio', FORMATS.mp3, 'audio');
  if (startsWith(AMR_MAGIC)) return look('amr', FORMATS.amr, 'audio');
  if (startsWith('OggS')) return look('ogg', FORMATS.ogg, 'audio');
  if (/^%PDF-\d/.test(head.toString('latin1', 0, 6))) return look('pdf', FORMATS.pdf, 'document');
  if (startsWith('PK\x03\x04')) return look('zip', zip, 'document');
  if (startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return look('compound', compound, 'document');
  return null;
}

/** The type that a library knows the bytes by: good for a name to tell the caller, and against look-alikes of text. */
async function nameOf(head: Buffer): Promise<string | null> {
  try {
    return (await fileTypeFromBuffer(head))?.mime ?? null;
  } catch {
    return null; // a file that is broken beyond naming
  }
}

/** Of some formats the library knows two or three letters only, which texts begin with as well. */
const LETTERS_ONLY =
  /^(image\/bmp|text\/|model\/|audio\/|video\/|font\/|application\/(x-|vnd|pgp|octet|zip|gzip|java))/;

function isHarmlessText(detected: string): boolean {
  // None of these works without bytes that no text has, and the whole file is looked at for them.
  return LETTERS_ONLY.test(detected) && !/html|xml|script/.test(detected);
}

/** True where a file of this MIME type, as a caller declares it, may be what its bytes turned out to be. */
export function agrees(declared: string | null, detected: string): boolean {
  const name = (declared ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  // What clients send that don't know better; text/plain is what a part is that says nothing (RFC 7578, 4.4).
  if (['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'].includes(name)) return true;
  const actual = detected.split(';', 1)[0] ?? '';
  return name === actual || (OTHER_NAMES[actual]?.includes(name) ?? false);
}

const ZIP_NAMES = ['application/zip', 'application/x-zip-compressed'];
const COMPOUND_NAMES = ['application/x-cfb', 'application/x-ole-storage', 'application/vnd.ms-office'];

/** Other names under which browsers and systems know what the platform takes. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  'image/jpeg': ['image/jpg', 'image/pjpeg'],
  'image/png': ['image/x-png', 'image/apng'],
  'video/mp4': ['audio/mp4', 'video/x-m4v', 'application/mp4'],
  'video/3gpp': ['video/3gp', 'audio/3gpp', 'video/mp4'],
  'audio/aac': ['audio/x-aac', 'audio/aacp', 'audio/x-hx-aac-adts', 'audio/vnd.dlna.adts'],
  'audio/amr': ['audio/3gpp', 'audio/x-amr'],
  'audio/mpeg': ['audio/mp3', 'audio/x-mp3', 'audio/mpeg3', 'audio/x-mpeg-3', 'audio/x-mpeg'],
  'audio/mp4': ['audio/m4a', 'audio/x-m4a', 'audio/aac', 'audio/mp4a-latm', 'video/mp4', 'application/mp4'],
  'audio/ogg': ['audio/opus', 'application/ogg', 'video/ogg', 'audio/x-opus+ogg'],
  'text/plain': ['text/csv', 'text/tab-separated-values', 'text/markdown', 'text/x-log', 'application/csv'],
  'application/pdf': ['application/x-pdf'],
  [FORMATS.docx.mimeType]: ZIP_NAMES,
  [FORMATS.xlsx.mimeType]: ZIP_NAMES,
  [FORMATS.pptx.mimeType]: ZIP_NAMES,
  [FORMATS.doc.mimeType]: COMPOUND_NAMES,
  [FORMATS.xls.mimeType]: COMPOUND_NAMES,
  [FORMATS.ppt.mimeType]: COMPOUND_NAMES,
};
