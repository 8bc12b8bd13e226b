import type { Connection } from '../../connections/connections.types.js';
import type { ListedMedia } from '../../media/media.types.js';

/** Answer of POST /{phone_number_id}/messages. */
export interface SentMessage {
  messaging_product: 'whatsapp';
  contacts: [{ input: string; wa_id?: string; user_id?: string }];
  messages: [{ id: string; message_status?: 'accepted' }];
}

export interface Success {
  success: true;
}

/** Answer of GET /{media_id}. */
export interface MediaNode {
  messaging_product: 'whatsapp';
  /** Works for 15 minutes, with the key and without. */
  url: string;
  mime_type: string;
  sha256: string | null;
  file_size: number | null;
  id: string;
}

export function mediaNodeOf({ id, mimeType, sha256, sizeBytes }: ListedMedia, url: string): MediaNode {
  return { messaging_product: 'whatsapp', url, mime_type: mimeType, sha256, file_size: sizeBytes, id };
}

/** A phone number, its fields by their names at the platform. */
export type NumberNode = { id: string } & Record<string, unknown>;

const DEFAULT_FIELDS = ['verified_name', 'display_phone_number', 'quality_rating', 'platform_type', 'throughput', 'id'];
/** The platform calls a pace above its usual one so. */
const USUAL_PACE = 80;

/** @param fields names of the wanted ones; those that Herald does not know are left out. */
export function numberNodeOf(connection: Connection, fields: readonly string[] = DEFAULT_FIELDS): NumberNode {
  const { phoneNumberId, phoneNumber, verifiedName, qualityRating, throughputPerSecond, status } = connection;
  const known: Record<string, unknown> = {
    verified_name: verifiedName,
    display_phone_number: `+${phoneNumber}`,
    quality_rating: qualityRating ?? 'UNKNOWN',
    platform_type: 'CLOUD_API',
    throughput: { level: throughputPerSecond > USUAL_PACE ? 'HIGH' : 'STANDARD' },
    status: status.toUpperCase(),
    messaging_limit_tier: connection.messagingLimit,
  };
  const chosen = Object.entries(known).filter(([name, value]) => fields.includes(name) && value !== null);
  return { ...Object.fromEntries(chosen), id: phoneNumberId };
}

/** A page of a list. */
export interface Page<T> {
  data: T[];
  paging?: { cursors: { before: string; after: string }; next?: string };
}
