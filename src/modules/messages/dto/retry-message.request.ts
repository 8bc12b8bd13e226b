import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IfGiven } from '../../../infrastructure/http/validated-request.pipe.js';

/** Body of POST /messages/{id}/retry; it may be left out. */
export class RetryMessageRequest {
  /** Send again although the message may have been sent already. */
  @ApiPropertyOptional({ type: Boolean, default: false })
  @IfGiven()
  @IsBoolean()
  confirm_outcome_unknown = false;
}
