import { Body, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_INVITATION_ID } from '../../../common/example-ids.js';
import { Config } from '../../../infrastructure/config/config.js';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import { AdminController, Repeatable } from '../../../infrastructure/http/operator.decorator.js';
import { cursorOf, PageQuery } from '../../../infrastructure/http/page.query.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { PublicUrl } from '../../../infrastructure/http/public-url.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { UuidParam } from '../../../infrastructure/http/uuid-param.decorator.js';
import { WorkspaceParam } from '../../workspaces/workspace-param.decorator.js';
import type { Workspace } from '../../workspaces/workspaces.service.js';
import { type Invitation, InvitationsService } from '../invitations/invitations.service.js';
import { peopleErrors } from '../people.errors.js';
import {
  CreateInvitationRequest,
  InvitationListResponse,
  InvitationResponse,
  SingleInvitationResponse,
} from './people-admin.dto.js';

const InvitationId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: peopleErrors.INVITATION_NOT_FOUND,
    description: 'Id of the invitation, from the list.',
    example: EXAMPLE_INVITATION_ID,
  });

@ApiTags('People')
@AdminController('workspaces/:workspace_id/invitations')
export class InvitationsAdminController {
  constructor(
    private readonly invitations: InvitationsService,
    private readonly config: Config,
    private readonly publicUrl: PublicUrl,
  ) {}

  /**
   * List invitations
   *
   * @remarks Newest first, ended ones too, for 90 days after their end. For the next page pass `next_before` and `next_before_id` of the answer as
   * `before` and `before_id`.
   */
  @Get()
  @RequireOperatorScope('people:read')
  @ApiOkResponse({ type: InvitationListResponse, description: 'One page.' })
  async list(@WorkspaceParam() { id }: Workspace, @Query() query: PageQuery): Promise<InvitationListResponse> {
    const { limit } = query;
    const found = await this.invitations.page(id, { ...cursorOf(query), limit: limit + 1 });
    const { rows, pagination } = pageOf(found, limit, ({ createdAt }) => createdAt);
    return { data: rows.map((invitation) => this.answer(invitation)), pagination };
  }

  /**
   * Invite a person
   *
   * @remarks The first person who signs in with this address, verified by the issuer, is a member with this role. It works once, and ends by its time. One
   * that waits for the same address is changed, and keeps its id. Herald sends no e-mail: send `sign_in_url` yourself. The answer is the same
   * whether the person is known or not.
   */
  @Post()
  @RequireOperatorScope('people:write')
  @Repeatable()
  @ApiCreatedResponse({ type: SingleInvitationResponse, description: 'The invitation.' })
  async create(
    @WorkspaceParam() { id }: Workspace,
    @Body() { email, role, expires_in: seconds }: CreateInvitationRequest,
  ): Promise<SingleInvitationResponse> {
    return { data: this.answer(await this.invitations.create(id, email, role, seconds)) };
  }

  /**
   * Revoke an invitation
   *
   * @remarks It cannot be accepted from then on. It stays in the list with `revoked_at`. Revoking it again changes nothing. One that
   * was accepted is 409: remove the member.
   */
  @Delete(':id')
  @HttpCode(200)
  @RequireOperatorScope('people:write')
  @ApiOkResponse({ type: SingleInvitationResponse, description: 'The invitation, which has ended.' })
  @ApiErrors('INVITATION_NOT_FOUND', 'INVITATION_USED')
  async revoke(@WorkspaceParam() workspace: Workspace, @InvitationId() id: string): Promise<SingleInvitationResponse> {
    return { data: this.answer(await this.invitations.revoke(workspace.id, id)) };
  }

  private answer(invitation: Invitation): InvitationResponse {
    const hasIssuer = this.config.people.issuers.length > 0;
    return InvitationResponse.of(invitation, hasIssuer ? `${this.publicUrl.value}/console` : null);
  }
}
