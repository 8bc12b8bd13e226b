import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ReadsMayBeLate } from '../../infrastructure/http/late-reads.js';
import { cursorOf, PageQuery } from '../../infrastructure/http/page.query.js';
import { pageOf } from '../../infrastructure/http/pagination.response.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { MembersResponse } from './members.dto.js';
import { PeopleService } from './people.service.js';

@ApiTags('Conversations')
@Controller('members')
export class MembersController {
  constructor(private readonly people: PeopleService) {}

  /**
   * List the people of the workspace
   *
   * @remarks To whom conversations can be assigned: who signs in to the console and is a member of this workspace, newest first. It is empty
   * where the operator has set no issuer. For the next page pass `next_before` and `next_before_id` of the answer as `before` and `before_id`.
   */
  @Get()
  @RequireScope('messages:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: MembersResponse, description: 'One page.' })
  async list(@CurrentCaller() { organizationId }: Caller, @Query() query: PageQuery): Promise<MembersResponse> {
    const { limit } = query;
    const found = await this.people.members(organizationId, { ...cursorOf(query), limit: limit + 1 });
    const { rows, pagination } = pageOf(found, limit, ({ createdAt }) => createdAt);
    return { data: rows.map(({ id, name }) => ({ id, name })), pagination };
  }
}
