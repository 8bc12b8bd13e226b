import type { ListCursor } from '../../infrastructure/http/page.query.js';
import type { NotAcceptedOutcome } from '../../infrastructure/whatsapp/outcome.js';

export const MEDIA_TYPES = ['image', 'video', 'audio', 'document', 'sticker'] as const;
/** What a file is to the platform; it decides about formats and limits. */
export type MediaType = (typeof MEDIA_TYPES)[number];

export const MEDIA_DIRECTIONS = ['outbound', 'inbound'] as const;
export type MediaDirection = (typeof MEDIA_DIRECTIONS)[number];

export const MEDIA_STATUSES = ['stored', 'pending', 'failed'] as const;
/** Pending: a customer's file that is not fetched yet. Failed: it can't be fetched any more. */
export type MediaStatus = (typeof MEDIA_STATUSES)[number];

/** A file of a workspace, without its bytes. */
export interface MediaObject {
  id: string;
  organizationId: string;
  connectionId: string;
  type: MediaType;
  /** As the platform spells it, such as `audio/ogg; codecs=opus`. Of an inbound file: as the platform said. */
  mimeType: string;
  sizeBytes: number | null;
  /** Lower-case hex. Of a pending file: as the platform announced it. */
  sha256: string | null;
  /** The sender's name of the file: data, never a path. */
  filename: string | null;
  /** To be shown as a voice message. */
  voice: boolean;
  direction: MediaDirection;
  status: MediaStatus;
  createdAt: Date;
}

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
export interface PlatformCopy {
  organizationId: string;
  connectionId: string;
  platformMediaId: string;
}

/** A file whose bytes are stored, as `herald media move` needs it. */
export interface StoredFile {
  id: string;
  storageKey: string;
  sizeBytes: number;
  sha256: string;
}

/** A file whose row is gone: where its bytes are, here and at the platform. */
export interface RemovedMedia {
  storageKey: string | null;
  copies: PlatformCopy[];
}

/** Which files a list shows; null: all. */
export interface MediaFilter extends ListCursor {
  /** 1 to 100. */
  limit: number;
  connectionId: string | null;
  type: MediaType | null;
  direction: MediaDirection | null;
}

/** One page; `next` is its last file where more follow. */
export interface MediaPage {
  media: ListedMedia[];
  next: MediaObject | null;
}

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
