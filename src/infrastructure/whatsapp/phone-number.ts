import { ownObject, ownText, storableText } from './json-access.js';

const FIELDS = {
  /** As displayed, with spaces and signs. */
  displayPhoneNumber: 'display_phone_number',
  verifiedName: 'verified_name',
  /** `GREEN`, `YELLOW`, `RED`, `UNKNOWN`. */
  qualityRating: 'quality_rating',
  /** `CONNECTED`, `PENDING`, `DISCONNECTED`, `FLAGGED`, `RESTRICTED`, `BANNED` and others. */
  status: 'status',
  /** `TIER_250` to `TIER_UNLIMITED`: people reached outside a service window in 24 hours. */
  messagingLimit: 'whatsapp_business_manager_messaging_limit',
} as const;

/** A business phone number as the platform describes it; null for what it left out. */
export interface PlatformPhoneNumber extends Readonly<Record<keyof typeof FIELDS, string | null>> {
  readonly id: string;
  /** `STANDARD` (80 messages a second) or `HIGH` (1,000). */
  readonly throughputLevel: string | null;
}

/** For the `fields` parameter: the platform leaves out what is not asked for. */
export const PHONE_NUMBER_FIELDS = ['id', ...Object.values(FIELDS), 'throughput'].join(',');

/** Reads one number of the platform's; null when it has no id. */
export function readPhoneNumber(body: unknown): PlatformPhoneNumber | null {
  const id = ownText(body, 'id');
  if (id === null || id === '') return null;
  const texts = Object.entries(FIELDS).map(([name, field]) => {
    const found = ownText(body, field);
    return [name, found === null ? null : storableText(found)];
  });
  return {
    id: storableText(id),
    ...(Object.fromEntries(texts) as Record<keyof typeof FIELDS, string | null>),
    throughputLevel: ownText(ownObject(body, 'throughput'), 'level'),
  };
}
