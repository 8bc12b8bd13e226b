import type { MediaType } from '../media.types.js';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Limit of any upload (specification: media upload, up to 32 MiB). */
export const MAX_UPLOAD_BYTES = 32 * MIB;

/** A kind of file that WhatsApp accepts. */
export interface Format {
  mimeType: string;
  type: MediaType;
  /** WhatsApp's limit, whose MB and KB are powers of two, and never more than MAX_UPLOAD_BYTES. */
  limitBytes: number;
  /** For a file without a name. */
  extension: string;
}

function format(type: MediaType, limitBytes: number, mimeType: string, extension: string): Format {
  return { mimeType, type, limitBytes, extension };
}

const OPEN_XML = 'application/vnd.openxmlformats-officedocument';

/** Everything that WhatsApp accepts as an upload. */
export const FORMATS = {
  jpeg: format('image', 5 * MIB, 'image/jpeg', 'jpg'),
  png: format('image', 5 * MIB, 'image/png', 'png'),
  mp4: format('video', 16 * MIB, 'video/mp4', 'mp4'),
  threeGp: format('video', 16 * MIB, 'video/3gpp', '3gp'),
  aac: format('audio', 16 * MIB, 'audio/aac', 'aac'),
  amr: format('audio', 16 * MIB, 'audio/amr', 'amr'),
  mp3: format('audio', 16 * MIB, 'audio/mpeg', 'mp3'),
  m4a: format('audio', 16 * MIB, 'audio/mp4', 'm4a'),
  // WhatsApp accepts only Opus in Ogg, and needs the codec in the type.
  ogg: format('audio', 16 * MIB, 'audio/ogg; codecs=opus', 'ogg'),
  text: format('document', MAX_UPLOAD_BYTES, 'text/plain', 'txt'),
  pdf: format('document', MAX_UPLOAD_BYTES, 'application/pdf', 'pdf'),
  doc: format('document', MAX_UPLOAD_BYTES, 'application/msword', 'doc'),
  xls: format('document', MAX_UPLOAD_BYTES, 'application/vnd.ms-excel', 'xls'),
  ppt: format('document', MAX_UPLOAD_BYTES, 'application/vnd.ms-powerpoint', 'ppt'),
  docx: format('document', MAX_UPLOAD_BYTES, `${OPEN_XML}.wordprocessingml.document`, 'docx'),
  xlsx: format('document', MAX_UPLOAD_BYTES, `${OPEN_XML}.spreadsheetml.sheet`, 'xlsx'),
  pptx: format('document', MAX_UPLOAD_BYTES, `${OPEN_XML}.presentationml.presentation`, 'pptx'),
  sticker: format('sticker', 100 * KIB, 'image/webp', 'webp'),
  animatedSticker: format('sticker', 500 * KIB, 'image/webp', 'webp'),
} as const satisfies Record<string, Format>;

const ALL: readonly Format[] = Object.values(FORMATS);

/** MIME types of the formats of a type; null: of all types. */
export function mimeTypesOf(type: MediaType | null): string[] {
  return [...new Set(ALL.filter((format) => type === null || format.type === type).map((format) => format.mimeType))];
}

/** Whether a browser shows files of this MIME type without running code: images, audio, video and PDF. */
export function isShown(mimeType: string): boolean {
  const known = ALL.find((format) => format.mimeType === mimeType);
  return known !== undefined && (known.type !== 'document' || known === FORMATS.pdf);
}

/** Extension of a served MIME type, without a dot; `bin` for others. */
export function extensionOf(mimeType: string): string {
  return ALL.find((format) => format.mimeType === mimeType)?.extension ?? 'bin';
}

/** Whether WhatsApp accepts it; no other Content-Type is ever served. */
export function isKnownMimeType(mimeType: string): boolean {
  return ALL.some((format) => format.mimeType === mimeType);
}

/** Without parameters. */
export function plainType(mimeType: string): string {
  return mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether a declared MIME type is compatible with the detected one. */
export function agrees(declared: string | null, detected: string): boolean {
  const name = plainType(declared ?? '');
  // Clients send these for any file; text/plain is the type of a part without one (RFC 7578, 4.4).
  if (['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'].includes(name)) return true;
  const actual = plainType(detected);
  return name === actual || (OTHER_NAMES[actual]?.includes(name) ?? false);
}

const ZIP_NAMES = ['application/zip', 'application/x-zip-compressed'];
const COMPOUND_NAMES = ['application/x-cfb', 'application/x-ole-storage', 'application/vnd.ms-office'];

/** Other names that browsers and systems use for accepted types. */
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

const MIME_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,100}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,100}(; ?[a-z0-9-]+="?[a-z0-9._ ,-]+"?)*$/i;
const MAX_MIME_TYPE_LENGTH = 255;

/** The type if it is valid in a header, otherwise that of arbitrary bytes. */
export function mimeTypeOf(text: string | null): string {
  const type = text?.trim() ?? '';
  return type.length <= MAX_MIME_TYPE_LENGTH && MIME_TYPE.test(type) ? type : 'application/octet-stream';
}

/** Lower-case hex of a SHA-256 given in hex or base64; null where it is neither. */
export function hexDigest(text: string | null): string | null {
  if (text === null) return null;
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null;
  return Buffer.from(text, 'base64').toString('hex');
}
