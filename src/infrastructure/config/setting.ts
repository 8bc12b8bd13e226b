/** How a setting's text is read. */
export type SettingType = 'string' | 'integer' | 'boolean' | 'list';

export interface Setting {
  name: string;
  section: string;
  type: SettingType;
  /** Text of the default; null: unset. */
  fallback: string | null;
  /** What it does, with its unit. First sentence stands in `.env.example`. */
  meaning: string;
  secret?: boolean;
  /** Allowed words for strings and lists. */
  oneOf?: readonly string[];
  min?: number;
  max?: number;
  /** Must be set when NODE_ENV=production: by every process, or by those with a role. */
  requiredInProduction?: 'always' | Role;
  /** Characters of a secret that is not refused when NODE_ENV=production. */
  leastLength?: number;
}

export const ROLES = ['api', 'worker', 'simulator'] as const;
export type Role = (typeof ROLES)[number];
