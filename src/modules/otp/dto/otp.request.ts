import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, IsUUID, Matches, Max, MaxLength, Min } from 'class-validator';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { EXAMPLE_OTP_CODE, EXAMPLE_OTP_ID } from '../../../common/example-ids.js';

export class SendOtpRequest {
  /** The user's number with its country code. */
  @IsString()
  @MaxLength(40)
  @ApiProperty({ maxLength: 40, example: '+15550001234' })
  to!: string;

  /** How it is sent; WhatsApp is the only way. */
  @IfGiven()
  @IsIn(['whatsapp'])
  @ApiPropertyOptional({ enum: ['whatsapp'], default: 'whatsapp' })
  channel?: 'whatsapp';

  /** Seconds for which the code is valid. */
  @IfGiven()
  @IsInt()
  @Min(60)
  @Max(600)
  @ApiPropertyOptional({ type: 'integer', minimum: 60, maximum: 600, default: 300 })
  ttl = 300;
}

export class VerifyOtpRequest {
  /** `id` from the answer of POST /otp/send. */
  @IsUUID()
  @ApiProperty({ format: 'uuid', example: EXAMPLE_OTP_ID })
  id!: string;

  /** What the user typed: six digits. */
  @IsString()
  @Matches(/^[0-9]{6}$/)
  @ApiProperty({ pattern: '^[0-9]{6}$', example: EXAMPLE_OTP_CODE })
  code!: string;
}
