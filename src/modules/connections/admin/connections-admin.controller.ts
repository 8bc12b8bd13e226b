import { Body, Delete, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiErrors, ApiErrorsAs } from '../../../infrastructure/http/api-description.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import {
  AdminController,
  CurrentOperator,
  Repeatable,
  workspacesSeen,
} from '../../../infrastructure/http/operator.decorator.js';
import { cursorOf } from '../../../infrastructure/http/page.query.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { WorkspaceParam } from '../../workspaces/workspace-param.decorator.js';
import type { Workspace } from '../../workspaces/workspaces.service.js';
import { ConnectionCheckService } from '../connection-check.service.js';
import { ConnectionId } from '../connection-id.decorator.js';
import { ConnectionsService } from '../connections.service.js';
import {
  AddConnectionRequest,
  AllConnectionsResponse,
  ChangeConnectionRequest,
  ListAllConnectionsQuery,
  OperatedConnectionListResponse,
  OperatedConnectionResponse,
  SingleOperatedConnectionResponse,
} from './connections-admin.dto.js';

@ApiTags('Numbers')
@AdminController('workspaces/:workspace_id/connections')
export class ConnectionsAdminController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly numbers: ConnectionCheckService,
  ) {}

  /**
   * List numbers
   *
   * @remarks The WhatsApp numbers of the workspace, disconnected ones too; never with their tokens.
   */
  @Get()
  @RequireOperatorScope('connections:read')
  @ApiOkResponse({
    type: OperatedConnectionListResponse,
    description: 'All of them, oldest first; there are no pages.',
  })
  async list(@WorkspaceParam() workspace: Workspace): Promise<OperatedConnectionListResponse> {
    const found = await this.connections.list(workspace.id);
    return { data: found.map((connection) => OperatedConnectionResponse.of(connection)) };
  }

  /**
   * Add a number
   *
   * @remarks Checks token, number and account with the platform at once, subscribes to their notifications, and stores the
   * number. Nothing is stored where one of these fails; `message` says what to mend. A number that the workspace has already gets the
   * new token and is connected again.
   */
  @Post()
  @RequireOperatorScope('connections:write')
  @Repeatable({ outside: true })
  @ApiCreatedResponse({ type: SingleOperatedConnectionResponse, description: 'The number.' })
  @ApiErrors('NUMBER_REFUSED', 'NUMBER_TAKEN')
  @ApiErrorsAs(502, 'NUMBER_REFUSED')
  async add(
    @WorkspaceParam() workspace: Workspace,
    @Body() body: AddConnectionRequest,
  ): Promise<SingleOperatedConnectionResponse> {
    const { phone_number: phoneNumber, throughput_per_second: throughputPerSecond, marketing_route: route } = body;
    const added = await this.numbers.connect({
      organizationId: workspace.id,
      phoneNumberId: body.phone_number_id,
      wabaId: body.waba_id,
      token: body.token.trim(),
      ...(phoneNumber !== undefined && { phoneNumber }),
      ...(throughputPerSecond !== undefined && { throughputPerSecond }),
      ...(route !== undefined && { marketingRoute: route }),
    });
    return { data: OperatedConnectionResponse.of(added) };
  }

  /**
   * Change a number
   *
   * @remarks By which endpoint of WhatsApp its marketing templates go. For a new token or another throughput add the number again.
   */
  @Patch(':id')
  @RequireOperatorScope('connections:write')
  @ApiOkResponse({ type: SingleOperatedConnectionResponse, description: 'The number as it is now.' })
  @ApiErrors('CONNECTION_NOT_FOUND')
  async change(
    @WorkspaceParam() workspace: Workspace,
    @ConnectionId() id: string,
    @Body() body: ChangeConnectionRequest,
  ): Promise<SingleOperatedConnectionResponse> {
    await this.connections.setMarketingRoute(workspace.id, id, body.marketing_route);
    return this.answer(workspace, id);
  }

  /**
   * Check a number
   *
   * @remarks Asks the platform about the number with its stored token, and keeps what it says: name, quality, limits, state. A failure
   * says in `message` what to mend.
   */
  @Post(':id/check')
  @HttpCode(200)
  @RequireOperatorScope('connections:write')
  @Repeatable({ outside: true })
  @ApiOkResponse({ type: SingleOperatedConnectionResponse, description: 'The number as the platform describes it.' })
  @ApiErrors('CONNECTION_NOT_FOUND', 'CONNECTION_NOT_READY', 'NUMBER_REFUSED')
  @ApiErrorsAs(502, 'NUMBER_REFUSED')
  async check(
    @WorkspaceParam() workspace: Workspace,
    @ConnectionId() id: string,
  ): Promise<SingleOperatedConnectionResponse> {
    return { data: OperatedConnectionResponse.of(await this.numbers.recheck(workspace.id, id)) };
  }

  /**
   * Disconnect a number
   *
   * @remarks Nothing is sent from it until it is added again; what is queued waits. It stays in the list as `disconnected`.
   */
  @Delete(':id')
  @HttpCode(200)
  @RequireOperatorScope('connections:write')
  @ApiOkResponse({ type: SingleOperatedConnectionResponse, description: 'The number, which is disconnected.' })
  @ApiErrors('CONNECTION_NOT_FOUND')
  async disconnect(
    @WorkspaceParam() workspace: Workspace,
    @ConnectionId() id: string,
  ): Promise<SingleOperatedConnectionResponse> {
    await this.connections.disconnect(workspace.id, id);
    return this.answer(workspace, id);
  }

  private async answer(workspace: Workspace, id: string): Promise<SingleOperatedConnectionResponse> {
    return { data: OperatedConnectionResponse.of(await this.connections.getById(workspace.id, id)) };
  }
}

@ApiTags('Numbers')
@AdminController('connections')
export class AllConnectionsAdminController {
  constructor(private readonly connections: ConnectionsService) {}

  /**
   * List numbers of all workspaces
   *
   * @remarks Newest first, disconnected ones too; never with their tokens. For the next page pass `next_before` and `next_before_id` of the answer as
   * `before` and `before_id`. A key that is limited to some workspaces lists the numbers of those.
   */
  @Get()
  @RequireOperatorScope('connections:read')
  @ApiOkResponse({ type: AllConnectionsResponse, description: 'One page.' })
  async list(
    @CurrentOperator() operator: Operator,
    @Query() query: ListAllConnectionsQuery,
  ): Promise<AllConnectionsResponse> {
    const { limit, status, workspace_id: workspace, phone_number_id: phoneNumberId } = query;
    const only = workspacesSeen(operator, workspace);
    const found = await this.connections.page({ ...cursorOf(query), limit: limit + 1, only, status, phoneNumberId });
    const { rows, pagination } = pageOf(found, limit, ({ createdAt }) => createdAt);
    return { data: rows.map((row) => OperatedConnectionResponse.of(row)), pagination };
  }
}
