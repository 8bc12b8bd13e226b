import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EXAMPLE_OTP_CODE, EXAMPLE_OTP_ID } from '../../../common/example-ids.js';
import { OTP_STATUSES, type OtpChallenge, type OtpMode, type OtpStatus } from '../otp.types.js';

const time = { type: 'string', format: 'date-time', nullable: true } as const;

/** A one-time code on its way; the code itself is never shown. */
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
  @ApiProperty({ type: 'string', nullable: true, example: null })
  error!: string | null;

  /** The code: only in the first answer of a sandbox. */
  @ApiPropertyOptional({ type: 'string', pattern: '^[0-9]{6}$', example: EXAMPLE_OTP_CODE })
  test_code?: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:00:00.000Z' })
  created_at!: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:05:00.000Z' })
  expires_at!: string;

  @ApiProperty({ ...time, example: '2026-11-21T08:00:00.180Z' })
  sent_at!: string | null;

  @ApiProperty({ ...time, example: null })
  delivered_at!: string | null;

  @ApiProperty({ ...time, example: null })
  read_at!: string | null;

  @ApiProperty({ ...time, example: null })
  verified_at!: string | null;

  static of(challenge: OtpChallenge, testCode: string | null = null): OtpChallengeResponse {
    return {
      id: challenge.id,
      channel: 'whatsapp',
      mode: challenge.mode,
      recipient: challenge.recipient,
      status: challenge.status,
      attempts_remaining: challenge.attemptsRemaining,
      error: challenge.error,
      ...(testCode !== null && { test_code: testCode }),
      created_at: challenge.createdAt.toISOString(),
      expires_at: challenge.expiresAt.toISOString(),
      sent_at: challenge.sentAt?.toISOString() ?? null,
      delivered_at: challenge.deliveredAt?.toISOString() ?? null,
      read_at: challenge.readAt?.toISOString() ?? null,
      verified_at: challenge.verifiedAt?.toISOString() ?? null,
    };
  }
}

export class SingleOtpResponse {
  @ApiProperty({ type: OtpChallengeResponse })
  data!: OtpChallengeResponse;
}
