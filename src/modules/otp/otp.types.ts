import type { OtpMode } from '../keys/caller.decorator.js';
import type { StatusNotification } from '../../infrastructure/whatsapp/webhook-payload.js';
import type { OtpProjectEntity, OtpSenderEntity } from './entities/otp.entity.js';

export type { OtpMode };
export type OtpProject = OtpProjectEntity;
export type OtpSender = Omit<OtpSenderEntity, 'id' | 'tokenCiphertext' | 'updatedAt'>;

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

/** A project's challenge: a caller never reaches beyond its project. */
export interface ChallengeRef {
  organizationId: string;
  projectId: string;
  id: string;
}

/** What the platform reported about a code that it took from us: the attempt's id was sent along. */
export type OtpStatusReport = Pick<StatusNotification, 'status' | 'metaMessageId' | 'callbackData' | 'occurredAt'> & {
  error: { code: number | null } | null;
};

/** Guesses that one challenge takes. */
export const MAX_ATTEMPTS = 5;
