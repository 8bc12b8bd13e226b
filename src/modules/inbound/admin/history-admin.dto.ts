import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { isUuidText } from '../../../infrastructure/http/page.query.js';
import type { HistoryImport } from '../history-import.service.js';

const NOTIFICATION = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';

/** Body of POST /workspaces/{workspace_id}/connections/{id}/history/import. */
export class ImportHistoryRequest {
  /** `next` of the answer before. Left out: from the beginning, which is harmless after an import. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IfGiven()
  @isUuidText('after')
  after?: string;
}

export class RequestedHistoryResponse {
  /** It comes in notifications of the platform, within minutes. */
  @ApiProperty({ enum: [true], example: true })
  requested!: true;
}

export class SingleRequestedHistoryResponse {
  data!: RequestedHistoryResponse;
}

/** What one call imported. */
export class ImportedHistoryResponse {
  /** Notifications with a part of the history that were read. */
  @ApiProperty({ type: 'integer', example: 12 })
  notifications!: number;

  /** Messages in them, repeats included. */
  @ApiProperty({ type: 'integer', example: 480 })
  found!: number;

  @ApiProperty({ type: 'integer', example: 478 })
  imported!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  unreadable!: number;

  /** Per cent of the history that the platform has handed over; null: it did not say. */
  @ApiProperty({ type: 'integer', nullable: true, example: 100 })
  progress!: number | null;

  /** The business does not share its history. */
  @ApiProperty({ example: false })
  declined!: boolean;

  /** Pass it as `after` of another call: the time of this one was over. Null: all that came was read. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: NOTIFICATION })
  next!: string | null;
}

export class SingleImportedHistoryResponse {
  data!: ImportedHistoryResponse;

  static of(sum: HistoryImport): SingleImportedHistoryResponse {
    return { data: sum };
  }
}
