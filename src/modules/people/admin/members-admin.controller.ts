import { Body, Delete, Get, HttpCode, Patch, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import { AdminController } from '../../../infrastructure/http/operator.decorator.js';
import { cursorOf, PageQuery } from '../../../infrastructure/http/page.query.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { WorkspaceParam } from '../../workspaces/workspace-param.decorator.js';
import type { Workspace } from '../../workspaces/workspaces.service.js';
import { PeopleService } from '../people.service.js';
import { ChangeMemberRequest, MemberListResponse, MemberResponse, SingleMemberResponse } from './people-admin.dto.js';
import { PersonId } from './person-id.decorator.js';

@ApiTags('People')
@AdminController('workspaces/:workspace_id/people')
export class MembersAdminController {
  constructor(private readonly people: PeopleService) {}

  /**
   * List members
   *
   * @remarks Of this workspace, newest first, with their roles. Operators are no members, and in no list of a workspace. An admin of the
   * workspace, signed in, may call this as well.
   */
  @Get()
  @RequireOperatorScope('people:read')
  @ApiOkResponse({ type: MemberListResponse, description: 'One page.' })
  async list(@WorkspaceParam() { id }: Workspace, @Query() query: PageQuery): Promise<MemberListResponse> {
    const { limit } = query;
    const found = await this.people.members(id, { ...cursorOf(query), limit: limit + 1 });
    const { rows, pagination } = pageOf(found, limit, ({ createdAt }) => createdAt);
    return { data: rows.map((member) => MemberResponse.of(member)), pagination };
  }

  /**
   * Change the role of a member
   *
   * @remarks Every process knows of it within five seconds, mostly at once. A group of the issuer that gives a stronger role stays in force: 409.
   */
  @Patch(':id')
  @RequireOperatorScope('people:write')
  @ApiOkResponse({ type: SingleMemberResponse, description: 'The member as it is now.' })
  @ApiErrors('PERSON_NOT_FOUND', 'ROLE_BY_GROUP')
  async change(
    @WorkspaceParam() workspace: Workspace,
    @PersonId() id: string,
    @Body() { role }: ChangeMemberRequest,
  ): Promise<SingleMemberResponse> {
    return { data: MemberResponse.of(await this.people.setRole(workspace.id, id, role)) };
  }

  /**
   * Remove a member
   *
   * @remarks The person has nothing in this workspace within five seconds, mostly at once. Who is a member by a group of the issuer is taken
   * out of the group there: 409. Keys that the person made stay: revoke them where they are not wanted.
   */
  @Delete(':id')
  @HttpCode(204)
  @RequireOperatorScope('people:write')
  @ApiNoContentResponse({ description: 'The person is no member any more.' })
  @ApiErrors('PERSON_NOT_FOUND', 'ROLE_BY_GROUP')
  async remove(@WorkspaceParam() workspace: Workspace, @PersonId() id: string): Promise<void> {
    await this.people.remove(workspace.id, id);
  }

  /**
   * Sign a member out everywhere
   *
   * @remarks Ends all sessions of the person, also where the person works in other workspaces. The person can sign in again.
   */
  @Delete(':id/sessions')
  @HttpCode(204)
  @RequireOperatorScope('people:write')
  @ApiNoContentResponse({ description: 'The person has no session any more.' })
  @ApiErrors('PERSON_NOT_FOUND')
  async endSessions(@WorkspaceParam() workspace: Workspace, @PersonId() id: string): Promise<void> {
    await this.people.endSessions(workspace.id, id);
  }
}
