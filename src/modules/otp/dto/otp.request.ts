import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, IsUUID, Matches, Max, MaxLength, Min, ValidateIf } from 'class-validator';

const IfGiven = (): PropertyDecorator => ValidateIf((_dto, value) => value !== undefined);

export class SendOtpRequest {
  /** The user's number with its country code. */
  @IsString()
  @MaxLength(40)
  @ApiProperty({ maxLength: 40, example: '+491751234567' })
  to!: string;

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
  ttl?: number;
}

export class VerifyOtpRequest {
  /** `id` from the answer of POST /otp/send. */
  @IsUUID()
  @ApiProperty({ format: 'uuid', example: '019b76f0-9c1d-7a55-8f3e-0d4c2b1a6f7e' })
  id!: string;

  /** What the user typed: six digits. */
  @IsString()
  @Matches(/^[0-9]{6}$/)
  @ApiProperty({ pattern: '^[0-9]{6}$', example: '123456' })
  code!: string;
}
