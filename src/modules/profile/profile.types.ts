/** Branches of business that the platform knows (Cloud API, business profiles). */
export const VERTICALS = [
  'OTHER',
  'AUTO',
  'BEAUTY',
  'APPAREL',
  'EDU',
  'ENTERTAIN',
  'EVENT_PLAN',
  'FINANCE',
  'GROCERY',
  'GOVT',
  'HOTEL',
  'HEALTH',
  'NONPROFIT',
  'PROF_SERVICES',
  'RETAIL',
  'TRAVEL',
  'RESTAURANT',
  'ALCOHOL',
  'ONLINE_GAMBLING',
  'PHYSICAL_GAMBLING',
  'OTC_DRUGS',
] as const;

/** What customers see of a number; null for what is not set. */
export interface Profile {
  about: string | null;
  address: string | null;
  description: string | null;
  email: string | null;
  /** One of VERTICALS, or `UNDEFINED`, `NOT_A_BIZ`, which can be read only. */
  vertical: string | null;
  websites: string[];
  profilePictureUrl: string | null;
  /** When it was last changed through Herald. */
  updatedAt: Date | null;
}

/** Fields of a change; what is left out stays as it is, an empty string takes a text away. */
export interface ProfileChange {
  about?: string;
  address?: string;
  description?: string;
  email?: string;
  vertical?: string;
  websites?: string[];
}
