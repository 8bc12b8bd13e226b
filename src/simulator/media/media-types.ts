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

/** Types that can be uploaded, and the kind of message each is for. */
const KINDS: Readonly<Record<string, MediaKind>> = {
  'audio/aac': 'audio',
  'audio/mp4': 'audio',
  'audio/mpeg': 'audio',
  'audio/amr': 'audio',
  'audio/ogg': 'audio',
  'application/vnd.ms-powerpoint': 'document',
  'application/msword': 'document',
  [`${OFFICE}wordprocessingml.document`]: 'document',
  [`${OFFICE}presentationml.presentation`]: 'document',
  [`${OFFICE}spreadsheetml.sheet`]: 'document',
  'application/pdf': 'document',
  'text/plain': 'document',
  'application/vnd.ms-excel': 'document',
  'image/jpeg': 'image',
  'image/png': 'image',
  'image/webp': 'sticker',
  'video/mp4': 'video',
  'video/3gpp': 'video',
};

export const UPLOAD_TYPES = Object.keys(KINDS);

/** Without parameters, in lowercase. */
export function baseType(mimeType: string): string {
  return (mimeType.split(';')[0] ?? '').trim().toLowerCase();
}

/** The kind of message that a type is for; undefined for one that can't be uploaded. */
export function kindOf(mimeType: string): MediaKind | undefined {
  return KINDS[baseType(mimeType)];
}

/** Bytes that a file may have. @param head its first bytes, which tell an animated sticker */
export function limitOf(kind: MediaKind, head: Buffer): number {
  const animated = kind === 'sticker' && head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 2) !== 0;
  return animated ? ANIMATED_STICKER_BYTES : LIMITS[kind];
}

/** Whether a file may be sent as a message of the kind. Anything may travel as a document. */
export function fits(mimeType: string, kind: MediaKind): boolean {
  return kind === 'document' || kindOf(mimeType) === kind;
}

const startsWith = (...bytes: number[]) => {
  const wanted = Buffer.from(bytes);
  return (head: Buffer) => head.subarray(0, wanted.length).equals(wanted);
};
const textAt = (at: number, text: string) => (head: Buffer) => head.toString('latin1', at, at + text.length) === text;
const isFrame = (head: Buffer) => head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0;
const isBox = textAt(4, 'ftyp');

/** How a file of each type begins. Types that are not here are taken at their word. */
const SIGNATURES: Readonly<Record<string, (head: Buffer) => boolean>> = {
  'image/jpeg': startsWith(0xff, 0xd8, 0xff),
  'image/png': startsWith(0x89, 0x50, 0x4e, 0x47),
  'image/webp': (head) => textAt(0, 'RIFF')(head) && textAt(8, 'WEBP')(head),
  'video/mp4': isBox,
  'video/3gpp': isBox,
  'audio/mp4': isBox,
  'audio/ogg': textAt(0, 'OggS'),
  'audio/amr': textAt(0, '#!AMR'),
  'audio/aac': (head) => isFrame(head) || textAt(0, 'ADIF')(head),
  'audio/mpeg': (head) => isFrame(head) || textAt(0, 'ID3')(head),
  'application/pdf': textAt(0, '%PDF'),
};

/** How many of the first bytes {@link looksLike} and {@link limitOf} look at. */
export const HEAD_BYTES = 32;

/** Whether the first bytes are those of the type. */
export function looksLike(mimeType: string, head: Buffer): boolean {
  return SIGNATURES[baseType(mimeType)]?.(head) ?? true;
}
