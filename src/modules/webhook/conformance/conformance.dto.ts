import { ApiProperty } from '@nestjs/swagger';
import type { ConformanceReport, ConformanceResult } from './conformance.js';
import { CHECKS, type CheckName } from './probes.js';

export class ConformanceResultResponse implements ConformanceResult {
  /** What was tried. */
  @ApiProperty({ enum: CHECKS, example: 'wrong_secret' })
  check!: CheckName;

  /** Kind of the event that was sent; one that does not exist is among them. */
  @ApiProperty({ example: 'webhook.test' })
  event_type!: string;

  /** The same in words. */
  @ApiProperty({ example: 'Signed with another secret' })
  title!: string;

  /** `success`: the receiver has to answer 2xx. `refusal`: anything else, for it is a forgery. */
  @ApiProperty({ enum: ['success', 'refusal'], example: 'refusal' })
  expected!: 'success' | 'refusal';

  /** `not_run`: the run ended before it, as its time was over or the receiver did not answer. */
  @ApiProperty({ enum: ['passed', 'failed', 'not_run'], example: 'failed' })
  outcome!: 'passed' | 'failed' | 'not_run';

  /** Null where no answer came. */
  @ApiProperty({ type: 'integer', nullable: true, example: 200 })
  http_status!: number | null;

  /** Why no answer came, in a short word, as in GET /webhook/deliveries. */
  @ApiProperty({ type: 'string', nullable: true, example: null })
  error!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, example: 12 })
  duration_ms!: number | null;

  /** What the receiver did wrong; null where it did not. */
  @ApiProperty({ type: 'string', nullable: true, example: 'It was answered 200, as if Herald had sent it.' })
  problem!: string | null;

  /** What has to change in the receiver. */
  @ApiProperty({
    type: 'string',
    nullable: true,
    example:
      'Verify the signature of each delivery with the secret of the webhook, and answer 401 where it is not right.',
  })
  fix!: string | null;
}

/** What a receiver does with everything that may come. */
export class ConformanceData implements ConformanceReport {
  /** Whether each result is `passed`. */
  @ApiProperty({ example: false })
  passed!: boolean;

  /** False: the run ended before all was tried. */
  @ApiProperty({ example: true })
  complete!: boolean;

  /** Of the whole run. */
  @ApiProperty({ type: 'integer', example: 840 })
  duration_ms!: number;

  /** One for each delivery, in the order in which they were made; always the same ones. */
  @ApiProperty({ type: [ConformanceResultResponse], maxItems: 50 })
  results!: ConformanceResultResponse[];
}

export class ConformanceResponse {
  data!: ConformanceData;
}
