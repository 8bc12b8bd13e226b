import type { ListCursor, Period } from '../../infrastructure/http/page.query.js';
import type { NotAcceptedOutcome } from '../../infrastructure/whatsapp/outcome.js';
import type { MediaDirection, MediaObjectEntity, MediaType } from './entities/media-object.entity.js';
import type { MediaPlatformIdEntity } from './entities/media-platform-id.entity.js';

export { MEDIA_DIRECTIONS, MEDIA_STATUSES, MEDIA_TYPES } from './entities/media-object.entity.js';
export type { MediaDirection, MediaStatus, MediaType } from './entities/media-object.entity.js';

/** A file of a workspace, without its bytes. */
export type MediaObject = Omit<MediaObjectEntity, 'storageKey'>;

/** A file in the form of the API; `expiresAt`: when retention deletes it; null: never. */
export type ListedMedia = MediaObject & { expiresAt: Date | null };

/** The fields of a file that accepting a message needs. */
export type FileForSending = Pick<MediaObject, 'id' | 'type' | 'status' | 'filename' | 'voice'>;

/** A customer's file as announced by its notification: `sha256` in hex, or in base64. */
export type PendingMedia = Pick<
  MediaObject,
  'id' | 'organizationId' | 'connectionId' | 'type' | 'sha256' | 'filename' | 'voice'
> & { platformMediaId: string; mimeType: string | null };

/** WhatsApp's copy of one of our files. */
export type PlatformCopy = Pick<MediaPlatformIdEntity, 'organizationId' | 'connectionId' | 'platformMediaId'>;

/** Measured when the bytes are stored. */
export interface StoredFacts {
  storageKey: string;
  mimeType: string;
  sizeBytes: number;
  sha256: string;
}

/** A file whose bytes are stored, as `herald media move` needs it. */
export type StoredFile = Omit<StoredFacts, 'mimeType'> & Pick<MediaObject, 'id'>;

/** A file whose row is gone: where its bytes are, here and at the platform. */
export interface RemovedMedia {
  storageKey: string | null;
  copies: PlatformCopy[];
}

/** The filter of a list; null: all. */
export interface MediaFilter extends ListCursor, Period {
  /** 1 to 100. */
  limit: number;
  connectionId: string | null;
  type: MediaType | null;
  direction: MediaDirection | null;
}

export const LINK_DISPOSITIONS = ['attachment', 'inline'] as const;
/** What a browser does with a file: save it, or show it. */
export type LinkDisposition = (typeof LINK_DISPOSITIONS)[number];

export interface MediaLink {
  url: string;
  expiresAt: Date;
}

/** WhatsApp's id of one of our files for one number, or why there is none. */
export type PlatformId =
  | { readonly kind: 'ready'; readonly platformMediaId: string }
  /** Nothing was sent; the message may be tried again after this many milliseconds. */
  | { readonly kind: 'later'; readonly retryInMs: number }
  /** The file is gone, or WhatsApp refuses it: the message fails with `media_error`. */
  | { readonly kind: 'failed'; readonly message: string }
  /**
   * The fault is with the number or its token. The outcome is that of a send with the same answer: usually
   * `lane_paused`; `rejected` where the number no longer exists, which fails the message.
   */
  | { readonly kind: 'account'; readonly outcome: NotAcceptedOutcome };
