import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EXAMPLE_OTP_CODE, EXAMPLE_OTP_ID } from '../../../common/example-ids.js';
import { OTP_STATUSES, type OtpMode, type OtpStatus } from '../otp.types.js';

const time = { type: 'string', format: 'date-time', nullable: true } as const;

/** A one-time code on its way; the code itself is never shown. The statements of challenges name their columns so. */
export class OtpChallengeResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_OTP_ID })
  id!: string;

  @ApiProperty({ enum: ['whatsapp'], example: 'whatsapp' })
  channel!: 'whatsapp';

  @ApiProperty({ enum: ['sandbox', 'live'], example: 'sandbox' })
  mode!: OtpMode;

  /** Digits without `+`. */
  @ApiProperty({ example: '15550001234' })
  recipient!: string;

  @ApiProperty({ enum: OTP_STATUSES, example: 'sent' })
  status!: OtpStatus;

  /** Guesses that are left. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 5, example: 5 })
  attempts_remaining!: number;

  /** Why it could not be sent: a failure category. */
  @ApiProperty({ example: null })
  error!: string | null;

  /** The code: only in the first answer of a sandbox. */
  @ApiPropertyOptional({ pattern: '^[0-9]{6}$', example: EXAMPLE_OTP_CODE })
  test_code?: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-21T08:00:00.000Z' })
  created_at!: Date;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-21T08:05:00.000Z' })
  expires_at!: Date;

  @ApiProperty({ ...time, example: '2026-11-21T08:00:00.180Z' })
  sent_at!: Date | null;

  @ApiProperty({ ...time, example: null })
  delivered_at!: Date | null;

  @ApiProperty({ ...time, example: null })
  read_at!: Date | null;

  @ApiProperty({ ...time, example: null })
  verified_at!: Date | null;
}

export class SingleOtpResponse {
  data!: OtpChallengeResponse;
}

const TAKEN = {
  id: EXAMPLE_OTP_ID,
  channel: 'whatsapp',
  mode: 'live',
  recipient: '15550001234',
  status: 'queued',
  attempts_remaining: 5,
  error: null,
  created_at: '2026-11-21T08:00:00.000Z',
  expires_at: '2026-11-21T08:05:00.000Z',
  sent_at: null,
  delivered_at: null,
  read_at: null,
  verified_at: null,
};
const SENT = { ...TAKEN, status: 'sent', sent_at: '2026-11-21T08:00:00.180Z' };
const DELIVERED = { ...SENT, status: 'delivered', delivered_at: '2026-11-21T08:00:02.000Z' };
const SANDBOX = { ...TAKEN, mode: 'sandbox', status: 'sent', sent_at: '2026-11-21T08:00:00.000Z' };
const VERIFIED = { ...DELIVERED, status: 'verified', attempts_remaining: 4, verified_at: '2026-11-21T08:00:41.305Z' };
const FAILED = { ...TAKEN, status: 'failed', error: 'recipient_unreachable' };

const example = (summary: string, data: object) => ({ summary, value: { data } });

/** The answers to a first send. */
export const TAKEN_EXAMPLES = {
  live: example('Live: the code is on its way', TAKEN),
  sandbox: example('Sandbox: nothing is sent, and the code is in the answer', {
    ...SANDBOX,
    test_code: EXAMPLE_OTP_CODE,
  }),
};

/** The answers to its repeat. */
export const REPEATED_EXAMPLES = {
  live: example('Live: where the code is by now', SENT),
  sandbox: example('Sandbox: without the code', SANDBOX),
};

export const VERIFIED_EXAMPLES = { verified: example('Verified', VERIFIED) };

export const STATE_EXAMPLES = {
  delivered: example('On the phone', DELIVERED),
  verified: example('Verified', VERIFIED),
  failed: example('Could not be delivered; it does not count', FAILED),
};
