import { cleanFileName } from './file-name.js';
import type { PendingMedia } from './media.types.js';

const MIME_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,100}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,100}(; ?[a-z0-9-]+="?[a-z0-9._ ,-]+"?)*$/i;
const MAX_MIME_TYPE_LENGTH = 255;

/** An announced file whose texts fit the table: what the platform said is data from outside. */
export function storable(item: PendingMedia): PendingMedia & { mimeType: string } {
  return {
    ...item,
    mimeType: mimeTypeOf(item.mimeType),
    sha256: hexDigest(item.sha256),
    filename: cleanFileName(item.filename),
  };
}

/** The type where it is one that can stand in a header, else that of bytes of any kind. */
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
