import { Body, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_SETUP_LINK_ID } from '../../../common/example-ids.js';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import { AdminController, Repeatable } from '../../../infrastructure/http/operator.decorator.js';
import { cursorOf, PageQuery } from '../../../infrastructure/http/page.query.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { UuidParam } from '../../../infrastructure/http/uuid-param.decorator.js';
import { WorkspaceParam } from '../../workspaces/workspace-param.decorator.js';
import type { Workspace } from '../../workspaces/workspaces.service.js';
import { setupErrors } from '../setup.errors.js';
import { SetupLinksService } from '../setup-links.service.js';
import {
  CreateSetupLinkRequest,
  IssuedSetupLinkResponse,
  SetupLinkListResponse,
  SetupLinkResponse,
  SingleIssuedSetupLinkResponse,
  SingleSetupLinkResponse,
} from './setup-links-admin.dto.js';

const LinkId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: setupErrors.SETUP_LINK_NOT_FOUND,
    description: 'Id of the setup link, from the list.',
    example: EXAMPLE_SETUP_LINK_ID,
  });

@ApiTags('Setup links')
@AdminController('workspaces/:workspace_id/setup-links')
export class SetupLinksAdminController {
  constructor(private readonly links: SetupLinksService) {}

  /**
   * List setup links
   *
   * @remarks Newest first, ended ones too; never with their addresses. For the next page pass `next_before` and `next_before_id`
   * of the answer as `before` and `before_id`.
   */
  @Get()
  @RequireOperatorScope('connections:read')
  @ApiOkResponse({ type: SetupLinkListResponse, description: 'One page.' })
  async list(@WorkspaceParam() { id }: Workspace, @Query() query: PageQuery): Promise<SetupLinkListResponse> {
    const { limit } = query;
    const found = await this.links.page(id, { ...cursorOf(query), limit: limit + 1 });
    const { rows, pagination } = pageOf(found, limit, ({ createdAt }) => createdAt);
    return { data: rows.map((link) => SetupLinkResponse.of(link)), pagination };
  }

  /**
   * Make a setup link
   *
   * @remarks A page on which a business connects its number itself, step by step. Its address is in `url` of this answer, and nowhere
   * else: send it to the business. It can be used once. A repeat with the same Idempotency-Key answers the same link with `url: null`.
   */
  @Post()
  @RequireOperatorScope('connections:write')
  @Repeatable()
  @ApiCreatedResponse({ type: SingleIssuedSetupLinkResponse, description: 'The link, with its address.' })
  @ApiErrors('SETUP_RETURN_URL_REFUSED', 'SETUP_SIGNUP_OFF')
  async create(
    @WorkspaceParam() { id }: Workspace,
    @Body() body: CreateSetupLinkRequest,
  ): Promise<SingleIssuedSetupLinkResponse> {
    const { signup, return_url: returnUrl = null, expires_in: expiresInSeconds, locale } = body;
    const given = { organizationId: id, returnUrl, expiresInSeconds, locale };
    const made = await this.links.create({ ...given, ...(signup !== undefined && { signup }) });
    return { data: IssuedSetupLinkResponse.issued(made) };
  }

  /**
   * Get a setup link
   *
   * @remarks How far the business is: each step, what failed and who can mend it, and the number once it is connected.
   */
  @Get(':id')
  @RequireOperatorScope('connections:read')
  @ApiOkResponse({ type: SingleSetupLinkResponse, description: 'The link, without its address.' })
  @ApiErrors('SETUP_LINK_NOT_FOUND')
  async get(@WorkspaceParam() workspace: Workspace, @LinkId() id: string): Promise<SingleSetupLinkResponse> {
    return { data: SetupLinkResponse.of(await this.links.getById(workspace.id, id)) };
  }

  /**
   * Revoke a setup link
   *
   * @remarks Its page says so from then on; a step that is under way is finished. It stays in the list with `revoked_at`. Revoking it again changes
   * nothing. Of a link that was used the number stays connected: 409.
   */
  @Delete(':id')
  @HttpCode(200)
  @RequireOperatorScope('connections:write')
  @ApiOkResponse({ type: SingleSetupLinkResponse, description: 'The link, which has ended.' })
  @ApiErrors('SETUP_LINK_NOT_FOUND', 'SETUP_LINK_USED')
  async revoke(@WorkspaceParam() workspace: Workspace, @LinkId() id: string): Promise<SingleSetupLinkResponse> {
    return { data: SetupLinkResponse.of(await this.links.revoke(workspace.id, id)) };
  }
}
