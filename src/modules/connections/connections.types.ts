export const CONNECTION_STATUSES = ['connected', 'pending', 'disconnected', 'restricted'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** Why a number is not `connected`. */
export const STATUS_REASONS = [
  /** The platform no longer takes its token; `herald connection add` gives it a new one. */
  'token_refused',
  /** `herald connection disconnect`. */
  'disconnected_by_operator',
  /** The platform says so of the number or the account. */
  'platform',
] as const;
export type StatusReason = (typeof STATUS_REASONS)[number];

/** A restricted number may still answer its customers: what it may send the platform decides message by message. */
export function canSend(status: ConnectionStatus): boolean {
  return status === 'connected' || status === 'restricted';
}

/** A WhatsApp number of a workspace, without its token. */
export interface Connection {
  id: string;
  organizationId: string;
  /** The platform's id of the number; inbound notifications are routed by it. */
  phoneNumberId: string;
  wabaId: string;
  /** Digits without `+`. */
  phoneNumber: string;
  verifiedName: string | null;
  status: ConnectionStatus;
  statusReason: StatusReason | null;
  qualityRating: string | null;
  messagingLimit: string | null;
  /** Messages a second that the platform takes from this number. */
  throughputPerSecond: number;
  timezone: string | null;
  createdAt: Date;
}

/** What a sender needs for one number. */
export interface SendingConnection extends Connection {
  /** The provider's bearer token, plain: never log or store it. */
  token: string;
  /** Grows with each new token. */
  tokenVersion: number;
}

/** What the platform says of a number; null for what it left out. */
export interface ConnectionFacts {
  verifiedName: string | null;
  qualityRating: string | null;
  messagingLimit: string | null;
  throughputPerSecond: number | null;
  status: ConnectionStatus | null;
}

export interface NewConnection {
  organizationId: string;
  phoneNumberId: string;
  wabaId: string;
  phoneNumber: string;
  verifiedName?: string | null;
  status?: ConnectionStatus;
  qualityRating?: string | null;
  messagingLimit?: string | null;
  throughputPerSecond?: number;
  /** The pace was chosen by the operator; the platform's answers don't change it. */
  throughputFixed?: boolean;
  timezone?: string | null;
  token: string;
}
