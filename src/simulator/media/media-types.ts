export const MEDIA_KINDS = ['image', 'video', 'audio', 'document', 'sticker'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

const KIB = 1024;
const MIB = 1024 * KIB;

/** The largest of all kinds: a document. */
export const LARGEST_MEDIA_BYTES = 100 * MIB;

const LIMITS: Readonly<Record<MediaKind, number>> = {
  image: 5 * MIB,
  video: 16 * MIB,
  audio: 16 * MIB,
  document: LARGEST_MEDIA_BYTES,
  sticker: 100 * KIB,
};
const ANIMATED_STICKER_BYTES = 500 * KIB;

const OFFICE = 'application/vnd.openxmlformats-officedocument.';

type Signature = (head: Buffer) => boolean;
const textAt =
  (at: number, text: string): Signature =>
  (head) =>
    head.toString('latin1', at, at + text.length) === text;
const isFrame: Signature = (head) => head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0;
const isBox = textAt(4, 'ftyp');

/** Types that can be uploaded: the kind of message each is for, and how its files begin, where that is checked. */
const TYPES: Readonly<Record<string, readonly [kind: MediaKind, signature?: Signature]>> = {
  'audio/aac': ['audio', (head) => isFrame(head) || textAt(0, 'ADIF')(head)],
  'audio/mp4': ['audio', isBox],
  'audio/mpeg': ['audio', (head) => isFrame(head) || textAt(0, 'ID3')(head)],
  'audio/amr': ['audio', textAt(0, '#!AMR')],
  'audio/ogg': ['audio', textAt(0, 'OggS')],
  'application/vnd.ms-powerpoint': ['document'],
  'application/msword': ['document'],
  [`${OFFICE}wordprocessingml.document`]: ['document'],
  [`${OFFICE}presentationml.presentation`]: ['document'],
  [`${OFFICE}spreadsheetml.sheet`]: ['document'],
  'application/pdf': ['document', textAt(0, '%PDF')],
  'text/plain': ['document'],
  'application/vnd.ms-excel': ['document'],
  'image/jpeg': ['image', textAt(0, '\xff\xd8\xff')],
  'image/png': ['image', textAt(0, '\x89PNG')],
  'image/webp': ['sticker', (head) => textAt(0, 'RIFF')(head) && textAt(8, 'WEBP')(head)],
  'video/mp4': ['video', isBox],
  'video/3gpp': ['video', isBox],
};

export const UPLOAD_TYPES = Object.keys(TYPES);

/** Without parameters, in lowercase. */
function baseType(mimeType: string): string {
  return (mimeType.split(';')[0] ?? '').trim().toLowerCase();
}

/** The kind of message that a type is for; undefined for one that can't be uploaded. */
export function kindOf(mimeType: string): MediaKind | undefined {
  return TYPES[baseType(mimeType)]?.[0];
}

/** Bytes that a file may have. @param head its first bytes, which show an animated sticker */
export function limitOf(kind: MediaKind, head: Buffer): number {
  const animated = kind === 'sticker' && head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 2) !== 0;
  return animated ? ANIMATED_STICKER_BYTES : LIMITS[kind];
}

/** Whether a file may be sent as a message of the kind. Anything may travel as a document. */
export function fits(mimeType: string, kind: MediaKind): boolean {
  return kind === 'document' || kindOf(mimeType) === kind;
}

/** How many of the first bytes {@link looksLike} and {@link limitOf} look at. */
export const HEAD_BYTES = 32;

/** Whether the first bytes are those of the type. */
export function looksLike(mimeType: string, head: Buffer): boolean {
  return TYPES[baseType(mimeType)]?.[1]?.(head) ?? true;
}
