import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_PERSON_ID } from '../../common/example-ids.js';
import { PaginationResponse } from '../../infrastructure/http/pagination.response.js';

/** A person of the workspace, as a reader of its conversations may know of it. */
export class WorkspaceMemberResponse {
  /** For `assignee_id` of a conversation. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_PERSON_ID })
  id!: string;

  /** As of the last sign-in. */
  @ApiProperty({ example: 'Robin Wells' })
  name!: string;
}

export class MembersResponse {
  @ApiProperty({ type: [WorkspaceMemberResponse] })
  data!: WorkspaceMemberResponse[];

  pagination!: PaginationResponse;
}
