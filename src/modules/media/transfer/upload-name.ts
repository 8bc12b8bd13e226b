import { FORMATS } from '../sniff/formats.js';

/**
 * A name for the upload that says the file's type, which the platform tells by it too, and nothing else: the recipient
 * sees the message's `filename`, and what a customer called a file is nobody else's business.
 */
export function uploadName(mimeType: string, filename: string | null): string {
  const plain = plainType(mimeType);
  const known = Object.values(FORMATS).find((format) => plainType(format.mimeType) === plain)?.extension;
  const own = /\.([a-z0-9]{1,8})$/i.exec(filename ?? '')?.[1]?.toLowerCase();
  return `file.${known ?? own ?? 'bin'}`;
}

function plainType(mimeType: string): string {
  return mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
