import { Body, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiErrors, ApiErrorsAs } from '../../../infrastructure/http/api-description.js';
import { AdminController, Repeatable } from '../../../infrastructure/http/operator.decorator.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { ConnectionId } from '../../connections/connection-id.decorator.js';
import { WorkspaceParam } from '../../workspaces/workspace-param.decorator.js';
import type { Workspace } from '../../workspaces/workspaces.service.js';
import { HistoryImportService } from '../history-import.service.js';
import {
  ImportHistoryRequest,
  SingleImportedHistoryResponse,
  SingleRequestedHistoryResponse,
} from './history-admin.dto.js';

/** Of one call, which answers before a client gives up. */
const BUDGET_MS = 10_000;

@ApiTags('Numbers')
@AdminController('workspaces/:workspace_id/connections/:id/history')
export class HistoryAdminController {
  constructor(private readonly history: HistoryImportService) {}

  /**
   * Ask for a history
   *
   * @remarks Asks WhatsApp for the history of a number of the WhatsApp Business app. It hands it over once, within 24 hours after the number
   * was connected, in notifications that come within minutes. Then import it.
   */
  @Post('request')
  @HttpCode(200)
  @RequireOperatorScope('connections:write')
  @Repeatable({ outside: true })
  @ApiOkResponse({ type: SingleRequestedHistoryResponse, description: 'WhatsApp hands it over.' })
  @ApiErrors('CONNECTION_NOT_FOUND', 'CONNECTION_NOT_READY', 'HISTORY_REFUSED')
  @ApiErrorsAs(502, 'HISTORY_REFUSED')
  async request(
    @WorkspaceParam() workspace: Workspace,
    @ConnectionId() id: string,
  ): Promise<SingleRequestedHistoryResponse> {
    await this.history.request(workspace.id, id);
    return { data: { requested: true } };
  }

  /**
   * Import a history
   *
   * @remarks Imports what WhatsApp has handed over into the journal, as messages of `source: "history"`. A message that is there stays as it is, so an
   * import may be repeated. A call ends after ten seconds: while `next` is not null, call again with it as `after`.
   */
  @Post('import')
  @HttpCode(200)
  @RequireOperatorScope('connections:write')
  @Repeatable({ outside: true })
  @ApiOkResponse({ type: SingleImportedHistoryResponse, description: 'What this call imported.' })
  @ApiErrors('CONNECTION_NOT_FOUND')
  async run(
    @WorkspaceParam() workspace: Workspace,
    @ConnectionId() id: string,
    @Body() { after }: ImportHistoryRequest,
  ): Promise<SingleImportedHistoryResponse> {
    const part = { budgetMs: BUDGET_MS, ...(after !== undefined && { after }) };
    return SingleImportedHistoryResponse.of(await this.history.run(workspace.id, id, part));
  }
}
