import { ownObject, ownText, storableText } from './json-access.js';

/** A business phone number as the platform describes it; null for what it left out. */
export interface PlatformPhoneNumber {
  readonly id: string;
  /** As displayed, with spaces and signs. */
  readonly displayPhoneNumber: string | null;
  readonly verifiedName: string | null;
  /** `GREEN`, `YELLOW`, `RED`, `UNKNOWN`. */
  readonly qualityRating: string | null;
  /** `CONNECTED`, `PENDING`, `DISCONNECTED`, `FLAGGED`, `RESTRICTED`, `BANNED` and others. */
  readonly status: string | null;
  readonly codeVerificationStatus: string | null;
  readonly nameStatus: string | null;
  readonly platformType: string | null;
  /** `STANDARD` (80 messages a second) or `HIGH` (1,000). */
  readonly throughputLevel: string | null;
  /** `TIER_250` to `TIER_UNLIMITED`: people reached outside a service window in 24 hours. */
  readonly messagingLimit: string | null;
}

const FIELDS = {
  displayPhoneNumber: 'display_phone_number',
  verifiedName: 'verified_name',
  qualityRating: 'quality_rating',
  status: 'status',
  codeVerificationStatus: 'code_verification_status',
  nameStatus: 'name_status',
  platformType: 'platform_type',
  messagingLimit: 'whatsapp_business_manager_messaging_limit',
} as const;

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
