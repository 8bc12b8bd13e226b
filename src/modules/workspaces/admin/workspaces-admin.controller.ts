import { Body, Delete, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import { AdminController, CurrentOperator, Repeatable } from '../../../infrastructure/http/operator.decorator.js';
import { cursorOf } from '../../../infrastructure/http/page.query.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { workspacesErrors } from '../workspaces.errors.js';
import { WorkspaceParam } from '../workspace-param.decorator.js';
import { type Workspace, WorkspacesService } from '../workspaces.service.js';
import {
  ChangeWorkspaceRequest,
  CreateWorkspaceRequest,
  ListWorkspacesQuery,
  SingleWorkspaceResponse,
  WorkspaceListResponse,
  WorkspaceResponse,
} from './workspaces-admin.dto.js';

@ApiTags('Workspaces')
@AdminController('workspaces')
export class WorkspacesAdminController {
  constructor(private readonly workspaces: WorkspacesService) {}

  /**
   * List workspaces
   *
   * @remarks Newest first. For the next page pass `next_before` and `next_before_id` of the answer as `before` and
   * `before_id`; both are null on the last page. A key that is limited to some workspaces lists those.
   */
  @Get()
  @RequireOperatorScope('workspaces:read')
  @ApiOkResponse({ type: WorkspaceListResponse, description: 'One page.' })
  async list(
    @CurrentOperator() operator: Operator,
    @Query() query: ListWorkspacesQuery,
  ): Promise<WorkspaceListResponse> {
    const { limit, name, external_id: externalId } = query;
    const only = operator.workspaceIds;
    const found = await this.workspaces.page({ ...cursorOf(query), limit: limit + 1, name, externalId, only });
    const { rows, pagination } = pageOf(found, limit, ({ createdAt }) => createdAt);
    return { data: rows.map((row) => WorkspaceResponse.of(row)), pagination };
  }

  /**
   * Make a workspace
   *
   * @remarks It has no key and no number yet, and has not paid for anything: set `api_paid_until` with PATCH, unless the
   * service runs with `BILLING=off`. With an `external_id`, your own id of the customer is enough to find it again.
   */
  @Post()
  @RequireOperatorScope('workspaces:write', { wholeInstallation: true })
  @Repeatable()
  @ApiCreatedResponse({ type: SingleWorkspaceResponse, description: 'The workspace.' })
  @ApiErrors('WORKSPACE_EXTERNAL_ID_TAKEN')
  async create(@Body() body: CreateWorkspaceRequest): Promise<SingleWorkspaceResponse> {
    const { id } = await this.workspaces.create(body.name.trim(), body.external_id ?? null);
    return this.answer(id);
  }

  /**
   * Read a workspace
   *
   * @remarks With what it uses and the limits that hold for it. `state` is `deleting` while its deletion goes on, and the
   * answer 404 `WORKSPACE_NOT_FOUND` once that is over.
   */
  @Get(':workspace_id')
  @RequireOperatorScope('workspaces:read')
  @ApiOkResponse({ type: SingleWorkspaceResponse, description: 'The workspace.' })
  get(@WorkspaceParam() { id }: Workspace): Promise<SingleWorkspaceResponse> {
    return this.answer(id);
  }

  /**
   * Change a workspace
   *
   * @remarks Its name, your own id of it, until when it has paid, its limits and its time zone. What is left out stays as
   * it is. A limit of null is the default of the service. Every process knows of it within seconds.
   */
  @Patch(':workspace_id')
  @RequireOperatorScope('workspaces:write')
  @ApiOkResponse({ type: SingleWorkspaceResponse, description: 'The workspace as it is now.' })
  @ApiErrors('WORKSPACE_EXTERNAL_ID_FIXED', 'WORKSPACE_EXTERNAL_ID_TAKEN', 'SPEND_LIMIT_NEEDS_PRICES')
  async change(
    @CurrentOperator() operator: Operator,
    @WorkspaceParam() { id }: Workspace,
    @Body() body: ChangeWorkspaceRequest,
  ): Promise<SingleWorkspaceResponse> {
    // An operator finds its customers by this id: an id of a workspace that the key may not see must neither be taken
    // nor revealed.
    if (body.external_id !== undefined && operator.workspaceIds !== null)
      throw workspacesErrors.WORKSPACE_EXTERNAL_ID_FIXED();
    await this.workspaces.changeAll(id, {
      names: given({ name: body.name?.trim(), externalId: body.external_id }),
      limits: given({
        ratePerSecond: body.rate_per_second,
        rateBurst: body.rate_burst,
        storageLimitBytes: body.storage_limit_bytes,
        messagesPerDay: body.messages_per_day,
        spendPerMonth: body.spend_per_month,
        marketingPerRecipientPerWeek: body.marketing_per_recipient_per_week,
        timeZone: body.time_zone,
      }),
      paidUntil: typeof body.api_paid_until === 'string' ? new Date(body.api_paid_until) : body.api_paid_until,
    });
    return this.answer(id);
  }

  /**
   * Delete a workspace
   *
   * @remarks With everything in it, as `herald workspace delete` does; this can't be undone. The answer comes at once: its keys and
   * numbers end within seconds, and a worker removes its data. GET answers with `state: "deleting"` meanwhile, and 404 once it is over.
   * The audit trail stays, without addresses and details.
   */
  @Delete(':workspace_id')
  @HttpCode(202)
  @RequireOperatorScope('workspaces:write')
  @ApiAcceptedResponse({ type: SingleWorkspaceResponse, description: 'The workspace, which is being deleted.' })
  async remove(@WorkspaceParam() { id }: Workspace): Promise<SingleWorkspaceResponse> {
    await this.workspaces.requestDeletion(id);
    return this.answer(id);
  }

  private async answer(id: string): Promise<SingleWorkspaceResponse> {
    return { data: WorkspaceResponse.of(await this.workspaces.use(id)) };
  }
}

/** The fields that have a value, null too. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
