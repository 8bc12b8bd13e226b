import { ApiProperty } from '@nestjs/swagger';

/** What customers see of a number; null for what is not set. */
export class ProfileResponse {
  @ApiProperty({ example: 'Fresh coffee, open until eight' })
  about!: string | null;

  @ApiProperty({ example: '12 Harbour Street, Dublin' })
  address!: string | null;

  @ApiProperty({ example: 'We roast our own beans.' })
  description!: string | null;

  @ApiProperty({ example: 'hello@example.com' })
  email!: string | null;

  /** The branch of business, in the platform's word; `UNDEFINED` and `NOT_A_BIZ` can be read only. */
  @ApiProperty({ example: 'RESTAURANT' })
  vertical!: string | null;

  @ApiProperty({ type: 'array', items: { type: 'string', format: 'uri' }, example: ['https://example.com'] })
  websites!: string[];

  /** The platform's address of the picture; it works for a few days. */
  @ApiProperty({ type: 'string', format: 'uri', nullable: true, example: null })
  profile_picture_url!: string | null;

  /** When it was last changed through this service; null where it never was. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:00:00.000Z' })
  updated_at!: string | null;
}

export class SingleProfileResponse {
  data!: ProfileResponse;
}
