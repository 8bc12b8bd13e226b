import type { MediaKind } from '../messages/media-checks.js';

/** A file that the platform holds. */
export interface MediaFile {
  id: string;
  /** The number that uploaded it, or that a customer sent it to. */
  phoneNumberId: string;
  /** As it was given, parameters included: `audio/ogg; codecs=opus`. */
  mimeType: string;
  /** Lowercase hexadecimal. */
  sha256: string;
  sizeBytes: number;
  source: 'upload' | 'webhook';
  /** False where its first bytes are those of another type: it is taken, and fails when it is sent. */
  usable: boolean;
  /** Milliseconds since the epoch. */
  createdAt: number;
  expiresAt: number;
  /** Addresses given out before this time are void; milliseconds. */
  addressesFrom?: number;
}

export type { MediaKind };
