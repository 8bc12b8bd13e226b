import type { MediaType } from '../media.types.js';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** No upload is larger, whatever its type (specification: media upload, up to 32 MiB). */
export const MAX_UPLOAD_BYTES = 32 * MIB;

/** A kind of file that the platform takes. */
export interface Format {
  mimeType: string;
  type: MediaType;
  /** The platform's limit, whose MB and KB are powers of two, and never more than MAX_UPLOAD_BYTES. */
  limitBytes: number;
  /** For a file whose sender gave it no name. */
  extension: string;
}

const image = (mimeType: string, extension: string): Format => ({
  mimeType,
  type: 'image',
  limitBytes: 5 * MIB,
  extension,
});
const video = (mimeType: string, extension: string): Format => ({
  mimeType,
  type: 'video',
  limitBytes: 16 * MIB,
  extension,
});
const audio = (mimeType: string, extension: string): Format => ({
  mimeType,
  type: 'audio',
  limitBytes: 16 * MIB,
  extension,
});
const document = (mimeType: string, extension: string): Format => ({
  mimeType,
  type: 'document',
  limitBytes: MAX_UPLOAD_BYTES,
  extension,
});
const sticker = (limitBytes: number): Format => ({
  mimeType: 'image/webp',
  type: 'sticker',
  limitBytes,
  extension: 'webp',
});

const OPEN_XML = 'application/vnd.openxmlformats-officedocument';

/** Everything that the platform takes as an upload. */
export const FORMATS = {
  jpeg: image('image/jpeg', 'jpg'),
  png: image('image/png', 'png'),
  mp4: video('video/mp4', 'mp4'),
  threeGp: video('video/3gpp', '3gp'),
  aac: audio('audio/aac', 'aac'),
  amr: audio('audio/amr', 'amr'),
  mp3: audio('audio/mpeg', 'mp3'),
  m4a: audio('audio/mp4', 'm4a'),
  // Of Ogg the platform takes Opus only, and wants to be told so.
  ogg: audio('audio/ogg; codecs=opus', 'ogg'),
  text: document('text/plain', 'txt'),
  pdf: document('application/pdf', 'pdf'),
  doc: document('application/msword', 'doc'),
  xls: document('application/vnd.ms-excel', 'xls'),
  ppt: document('application/vnd.ms-powerpoint', 'ppt'),
  docx: document(`${OPEN_XML}.wordprocessingml.document`, 'docx'),
  xlsx: document(`${OPEN_XML}.spreadsheetml.sheet`, 'xlsx'),
  pptx: document(`${OPEN_XML}.presentationml.presentation`, 'pptx'),
  sticker: sticker(100 * KIB),
  animatedSticker: sticker(500 * KIB),
} as const satisfies Record<string, Format>;

const ALL: readonly Format[] = Object.values(FORMATS);

/** MIME types of the formats of a type; null: of all. */
export function mimeTypesOf(type: MediaType | null): string[] {
  return [...new Set(ALL.filter((format) => type === null || format.type === type).map((format) => format.mimeType))];
}

/** Extension of a MIME type that we serve, without a dot; `bin` for others. */
export function extensionOf(mimeType: string): string {
  return ALL.find((format) => format.mimeType === mimeType)?.extension ?? 'bin';
}

/** True for what the platform takes; another Content-Type is never served. */
export function isKnownMimeType(mimeType: string): boolean {
  return ALL.some((format) => format.mimeType === mimeType);
}
