import { defineErrors, error } from '../../common/define-errors.js';
import type { MediaType } from './media.types.js';

const NOT_FOUND = {
  unknown: 'There is no such media file in this workspace.',
  not_fetched:
    'This file was sent by a customer and could not be fetched from the platform; it will not come any more.',
  lost: 'The bytes of this file are missing from the storage; upload it again, or have it restored from a backup.',
};

export const mediaErrors = defineErrors('media', {
  MEDIA_TOO_LARGE: error<{ limitBytes: number }>({
    kind: 'invalid_request',
    message: ({ limitBytes }) => `The file is too large; send at most ${limitBytes} bytes.`,
    when: "The file is over the platform's limit for its type, or over 32 MiB.",
    fix: 'Send a file of at most `limit_bytes` bytes, smaller or more strongly compressed.',
    extra: ({ limitBytes }) => ({ limit_bytes: limitBytes }),
    sample: { limitBytes: 5_242_880 },
  }),
  MEDIA_STORAGE_FULL: error<{ limitBytes: number; usedBytes: number }>({
    kind: 'invalid_request',
    message: ({ limitBytes, usedBytes }) =>
      `This workspace's files have ${usedBytes} of ${limitBytes} bytes, and this one does not fit; delete files, or have the limit raised.`,
    when: "The file would bring the workspace's stored files beyond its limit. Files that customers sent count too.",
    fix: 'Delete files that are no longer needed (`DELETE /media/{id}`), which gives their bytes back at once, or have the limit raised: `herald workspace limits --storage-bytes`.',
    extra: ({ limitBytes, usedBytes }) => ({ limit_bytes: limitBytes, used_bytes: usedBytes }),
    sample: { limitBytes: 21_474_836_480, usedBytes: 21_474_000_000 },
  }),
  MEDIA_TYPE_NOT_SUPPORTED: error<{
    /** null: the bytes have no type that Herald knows. */
    detectedType: string | null;
    allowedTypes: readonly string[];
    /** A clause that says more than "not supported". */
    reason?: string;
  }>({
    kind: 'invalid_request',
    message: ({ detectedType, allowedTypes, reason }) =>
      `${reason ?? `The file is ${detectedType ?? 'of no known type'}, by its bytes`}; send ${listOf(allowedTypes)}.`,
    when: 'The bytes of the file are of a type that the platform does not take, or of another than `type` or the Content-Type of the part says.',
    fix: 'Send a file of one of `allowed_types`; `detected_type` is what the bytes are.',
    extra: ({ detectedType, allowedTypes }) => ({ detected_type: detectedType, allowed_types: allowedTypes }),
    sample: { detectedType: 'image/gif', allowedTypes: ['image/jpeg', 'image/png'] },
  }),
  MEDIA_NOT_FOUND: error<{ reason?: 'not_fetched' | 'lost' }>({
    kind: 'not_found',
    alsoKinds: ['unprocessable', 'conflict'],
    message: ({ reason }) => NOT_FOUND[reason ?? 'unknown'],
    when: "The id names no file of this key's workspace, or an inbound one that Herald could not fetch; or the storage has lost the bytes.",
    fix: 'Use an id from POST /media, GET /media or the `media_object_id` of a message. Where the bytes are missing, upload the file again or have it restored from a backup.',
  }),
  MEDIA_PENDING: error<{ retryAfterSeconds: number }>({
    kind: 'conflict',
    message: 'A customer sent this file, and Herald is still fetching it from the platform; try again in a moment.',
    when: 'The file came with a message and is not fetched yet, mostly for seconds after the message.',
    fix: 'Wait for `Retry-After` seconds and ask again; GET /media/{id} shows `status`: `stored`, or `failed` where it will not come.',
    extra: ({ retryAfterSeconds }) => ({ retry_after_seconds: retryAfterSeconds }),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
    sample: { retryAfterSeconds: 2 },
  }),
  MEDIA_TYPE_MISMATCH: error<{ expected: MediaType; given: MediaType }>({
    kind: 'unprocessable',
    alsoKinds: ['conflict'],
    message: ({ expected, given }) => `This file can be sent as ${given} only, not as ${expected}.`,
    when: 'A message of one type names a media file of another.',
    fix: 'Send it with the `type` that the file has in GET /media.',
    extra: ({ expected, given }) => ({ expected, given }),
    sample: { expected: 'image', given: 'document' },
  }),
  UPLOAD_LIMIT_REACHED: error<{ limit: number; retryAfterSeconds: number }>({
    kind: 'rate_limited',
    message: ({ limit }) => `This workspace has ${limit} uploads under way; wait until one is finished.`,
    when: 'The workspace has as many uploads under way at once as it may.',
    fix: 'Wait for `Retry-After` seconds and repeat the upload; send fewer at once.',
    extra: ({ retryAfterSeconds }) => ({ retry_after_seconds: retryAfterSeconds }),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
    sample: { limit: 8, retryAfterSeconds: 2 },
  }),
  MEDIA_LINK_INVALID: error({
    kind: 'forbidden',
    message: 'This link is not one that Herald made; ask GET /media/{id}/url for a new one.',
    when: 'A temporary link was changed, cut short, or signed with a key that is no longer known.',
    fix: 'Use the link exactly as GET /media/{id}/url gave it.',
  }),
  MEDIA_LINK_EXPIRED: error({
    kind: 'forbidden',
    message: 'This link has expired; ask GET /media/{id}/url for a new one.',
    when: 'A temporary link was opened more than 15 minutes after it was made.',
    fix: 'Ask GET /media/{id}/url for a new link.',
  }),
});

/** A list that is too long to read is given only in `allowed_types`. */
function listOf(types: readonly string[]): string {
  if (types.length > 6) return 'a file of one of allowed_types';
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(types);
}
