import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  isEmail,
  IsIn,
  IsString,
  IsUrl,
  Length,
  Matches,
  MaxLength,
  ValidateBy,
} from 'class-validator';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';

/** Branches of business that the platform knows (Cloud API, business profiles). */
const VERTICALS = [
  'OTHER',
  'AUTO',
  'BEAUTY',
  'APPAREL',
  'EDU',
  'ENTERTAIN',
  'EVENT_PLAN',
  'FINANCE',
  'GROCERY',
  'GOVT',
  'HOTEL',
  'HEALTH',
  'NONPROFIT',
  'PROF_SERVICES',
  'RETAIL',
  'TRAVEL',
  'RESTAURANT',
  'ALCOHOL',
  'ONLINE_GAMBLING',
  'PHYSICAL_GAMBLING',
  'OTC_DRUGS',
] as const;

/** Not `IsEmail`, for which the API description would say that every value is an address. */
const IsEmailOrEmpty = (): PropertyDecorator =>
  ValidateBy({ name: 'isEmail', validator: { validate: (value) => value === '' || isEmail(value) } });

/** Fields to change; what is left out stays as it is. An empty text takes address, description or email away. */
export class UpdateProfileRequest {
  /** The line under the name; it can't be empty. */
  @IfGiven()
  @IsString()
  @Length(1, 139)
  @Matches(/\S/, { message: 'about must contain more than white space.' })
  @ApiPropertyOptional({ minLength: 1, maxLength: 139, pattern: '\\S', example: 'Fresh coffee, open until eight' })
  about?: string;

  @IfGiven()
  @IsString()
  @MaxLength(256)
  @ApiPropertyOptional({ maxLength: 256, example: '12 Harbour Street, Dublin' })
  address?: string;

  @IfGiven()
  @IsString()
  @MaxLength(512)
  @ApiPropertyOptional({ maxLength: 512, example: 'We roast our own beans.' })
  description?: string;

  @IfGiven()
  @IsString()
  @MaxLength(128)
  @IsEmailOrEmpty()
  @ApiPropertyOptional({ maxLength: 128, example: 'hello@example.com' })
  email?: string;

  /** The branch of business. */
  @IfGiven()
  @IsIn(VERTICALS)
  @ApiPropertyOptional({ enum: VERTICALS, example: 'RESTAURANT' })
  vertical?: string;

  /** At most two addresses with http:// or https://; an empty list takes them away. */
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(2)
  @MaxLength(256, { each: true })
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_valid_protocol: true }, { each: true })
  @ApiPropertyOptional({
    type: 'array',
    maxItems: 2,
    items: { type: 'string', format: 'uri', maxLength: 256 },
    example: ['https://example.com'],
  })
  websites?: string[];
}
