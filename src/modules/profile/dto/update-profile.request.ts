import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, isEmail, IsString, MaxLength, ValidateBy } from 'class-validator';
import { parseUrl } from '../../../common/parse-url.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';

/** Not `IsEmail`, for which the API description would say that every value is an address. */
const IsEmailOrEmpty = (): PropertyDecorator =>
  ValidateBy({ name: 'isEmail', validator: { validate: (value) => value === '' || isEmail(value) } });

/** Each of them. Whether the platform takes its scheme is for the platform to say. */
const IsUriEach = (): PropertyDecorator =>
  ValidateBy(
    { name: 'isUrl', validator: { validate: (value) => typeof value === 'string' && parseUrl(value) !== null } },
    { each: true },
  );

/**
 * Fields to change; what is left out stays as it is. An empty text takes address, description or email away. What WhatsApp refuses is
 * answered with its error (`PLATFORM_REJECTED`).
 */
export class UpdateProfileRequest {
  /** The line under the name; WhatsApp takes no empty one. */
  @IfGiven()
  @IsString()
  @MaxLength(139)
  @ApiPropertyOptional({ maxLength: 139, example: 'Fresh coffee, open until eight' })
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

  /** The branch of business, as WhatsApp names it. */
  @IfGiven()
  @IsString()
  @MaxLength(64)
  @ApiPropertyOptional({ maxLength: 64, example: 'RESTAURANT' })
  vertical?: string;

  /** At most two addresses; an empty list takes them away. */
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(2)
  @MaxLength(256, { each: true })
  @IsUriEach()
  @ApiPropertyOptional({
    type: 'array',
    maxItems: 2,
    items: { type: 'string', format: 'uri', maxLength: 256 },
    example: ['https://example.com'],
  })
  websites?: string[];
}
