import { parseUrl } from '../../common/parse-url.js';
import { ownInteger, ownText, storableText } from './json-access.js';

/** What the platform says of one of its files. */
export interface MediaDescription {
  /** Where it can be fetched for five minutes, with the access token. */
  readonly url: string;
  readonly mimeType: string | null;
  /** As the platform writes it: hex here, base64 in its notifications. */
  readonly sha256: string | null;
  readonly sizeBytes: number | null;
}

/** Reads the answer to `GET /{media_id}`; null where it names no address. */
export function readMediaDescription(body: unknown): MediaDescription | null {
  const url = ownText(body, 'url');
  if (url === null || parseUrl(url) === null) return null;
  const sizeBytes = ownInteger(body, 'file_size');
  const mimeType = ownText(body, 'mime_type');
  return {
    url,
    mimeType: mimeType === null ? null : storableText(mimeType),
    sha256: ownText(body, 'sha256'),
    sizeBytes: sizeBytes === null || sizeBytes < 0 ? null : sizeBytes,
  };
}
