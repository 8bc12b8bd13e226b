import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, Matches } from 'class-validator';
import { USER_ID } from '../../../common/user-id.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import type { ErasureReport } from '../erasure/erasure.service.js';

/** Any that the platform may have reported. */
const NUMBER = /^\+?[0-9]{5,20}$/;

/** Body of POST /workspaces/{workspace_id}/erasures: exactly one of `number` and `user_id`. */
export class EraseRequest {
  /** The person's number with its country code, without 00; a leading + may stand before it. */
  @ApiPropertyOptional({ pattern: NUMBER.source, example: '+15550100001' })
  @IfGiven()
  @Matches(NUMBER, { message: 'number must be a phone number of 5 to 20 digits with its country code.' })
  number?: string;

  /** Instead of `number`: the person's user id, from `contact.user_id`. */
  @ApiPropertyOptional({ pattern: USER_ID.source })
  @IfGiven()
  @Matches(USER_ID, { message: 'user_id must be a user id such as DE.1795.' })
  user_id?: string;

  /** Only counts, and changes nothing. */
  @ApiPropertyOptional({ type: 'boolean', default: false })
  @IfGiven()
  @IsBoolean()
  dry_run = false;
}

/** What was erased, or with `dry_run` what there is. */
export class ErasureResponse {
  /** All of it is gone. */
  @ApiProperty({ example: true })
  erased!: boolean;

  /** There is more than this call came to in ten seconds. A worker goes on with an erasure until it is done. */
  @ApiProperty({ example: false })
  more!: boolean;

  /** What is in progress and can be erased only when it has ended, such as a message that is being sent. */
  @ApiProperty({ type: [String], example: [] })
  waits_for!: string[];

  /** Spellings and ids under which the person was looked for. */
  @ApiProperty({ type: 'integer', example: 2 })
  names!: number;

  /** How many of what, in this call. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0 },
    example: { cancelled_messages: 1, messages: 42, received_files: 3, opt_outs: 0, contacts: 1 },
  })
  counts!: Record<string, number>;

  static of(
    { names, counts }: ErasureReport,
    outcome: { erased: boolean; more: boolean; waitsFor?: readonly string[] },
  ): ErasureResponse {
    const { erased, more, waitsFor = [] } = outcome;
    return { erased, more, waits_for: [...waitsFor], names, counts };
  }
}

export class SingleErasureResponse {
  data!: ErasureResponse;
}
