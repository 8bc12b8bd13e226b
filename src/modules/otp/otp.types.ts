import type { OtpMode } from '../../infrastructure/access/api-keys.types.js';

export type { OtpMode };

export const OTP_STATUSES = [
  'queued',
  'sending',
  'outcome_unknown',
  'sent',
  'delivered',
  'read',
  'verified',
  'failed',
  'expired',
] as const;
export type OtpStatus = (typeof OTP_STATUSES)[number];

/** An application of a workspace that sends codes. */
export interface OtpProject {
  id: string;
  organizationId: string;
  name: string;
  mode: OtpMode;
  /** Language of the template that carries the codes. */
  templateLanguage: string;
  /** ISO 3166 alpha-2; null: any country. */
  allowedCountries: string[] | null;
  createdAt: Date;
}

/** One code on its way, as its project may see it: never with the code. */
export interface OtpChallenge {
  id: string;
  organizationId: string;
  projectId: string;
  mode: OtpMode;
  /** Digits without `+`. */
  recipient: string;
  /** By the database's clock: a code whose time is over reads `expired` whether or not a sweep has run. */
  status: OtpStatus;
  attemptsRemaining: number;
  /** A failure category. */
  error: string | null;
  createdAt: Date;
  expiresAt: Date;
  sentAt: Date | null;
  deliveredAt: Date | null;
  readAt: Date | null;
  verifiedAt: Date | null;
}

/** The service's own number, which sends the codes of every project. */
export interface OtpSender {
  phoneNumberId: string;
  /** Numbers from which codes were sent before: the platform still reports about these. */
  formerNumberIds: string[];
  /** Digits; null where the platform did not tell it. */
  phoneNumber: string | null;
  /** An AUTHENTICATION template. */
  templateName: string;
  throughputPerSecond: number;
  status: 'connected' | 'disconnected';
  tokenVersion: number;
}

/** What the platform reported about a code that it took from us. */
export interface OtpStatusReport {
  status: 'sent' | 'delivered' | 'read' | 'failed';
  metaMessageId: string;
  /** The attempt id that we sent along. */
  callbackData: string | null;
  occurredAt: Date | null;
  error: { code: number | null } | null;
}

/** Guesses that one challenge takes. */
export const MAX_ATTEMPTS = 5;
