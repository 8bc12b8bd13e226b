import type { ListCursor, Period } from '../../infrastructure/http/page.query.js';
import type { NotAcceptedOutcome } from '../../infrastructure/whatsapp/outcome.js';
import type { MediaDirection, MediaObjectEntity, MediaType } from './entities/media-object.entity.js';
import type { MediaPlatformIdEntity } from './entities/media-platform-id.entity.js';

export { MEDIA_DIRECTIONS, MEDIA_STATUSES, MEDIA_TYPES } from './entities/media-object.entity.js';
export type { MediaDirection, MediaStatus, MediaType } from './entities/media-object.entity.js';

/** A file of a workspace, without its bytes. */
export type MediaObject = Omit<MediaObjectEntity, 'storageKey'>;

/** A file as its workspace sees it; `expiresAt`: when Herald deletes it by itself; null: never. */
export type ListedMedia = MediaObject & { expiresAt: Date | null };

/** What the acceptance of a message needs to know of its file. */
export type FileForSending = Pick<MediaObject, 'id' | 'type' | 'status' | 'filename' | 'voice'>;

/** A customer's file as its notification announces it: `sha256` in hex, or in base64. */
export type PendingMedia = Pick<
  MediaObject,
  'id' | 'organizationId' | 'connectionId' | 'type' | 'sha256' | 'filename' | 'voice'
> & { platformMediaId: string; mimeType: string | null };

/** The platform's copy of one of our files. */
export type PlatformCopy = Pick<MediaPlatformIdEntity, 'organizationId' | 'connectionId' | 'platformMediaId'>;

/** What was measured of a file once its bytes are stored. */
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

/** Which files a list shows; null: all. */
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

/** The platform's id of one of our files for one number, or why there is none. */
export type PlatformId =
  | { readonly kind: 'ready'; readonly platformMediaId: string }
  /** Nothing was sent; the message may be tried again after so many milliseconds. */
  | { readonly kind: 'later'; readonly retryInMs: number }
  /** The file is gone, or the platform does not take it: the message fails with `media_error`. */
  | { readonly kind: 'failed'; readonly message: string }
  /**
   * The number or its token is the problem. The outcome is what a send with the same answer would have: mostly
   * `lane_paused`; `rejected` where the platform says that the number is gone, which fails the message.
   */
  | { readonly kind: 'account'; readonly outcome: NotAcceptedOutcome };
