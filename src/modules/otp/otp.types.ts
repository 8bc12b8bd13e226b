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

/** A challenge within its project: a caller never reaches another project's. */
export interface ChallengeRef {
  organizationId: string;
  projectId: string;
  id: string;
}

/** WhatsApp's report about an accepted code: the attempt's id was sent along. */
export type OtpStatusReport = Pick<StatusNotification, 'status' | 'metaMessageId' | 'callbackData' | 'occurredAt'> & {
  error: { code: number | null } | null;
};

/** Limit of guesses for one challenge. */
export const MAX_ATTEMPTS = 5;
