export const CONNECTION_STATUSES = ['connected', 'pending', 'disconnected', 'restricted'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

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
}

export interface NewConnection {
  organizationId: string;
  phoneNumberId: string;
  wabaId: string;
  phoneNumber: string;
  verifiedName?: string | null;
  throughputPerSecond?: number;
  timezone?: string | null;
  token: string;
}
