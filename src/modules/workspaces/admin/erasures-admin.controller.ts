import { Body, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { invalidField } from '../../../common/common.errors.js';
import { AdminController, Repeatable } from '../../../infrastructure/http/operator.decorator.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { Erasure, ErasureUnfinishedError } from '../erasure/erasure.service.js';
import { WorkspaceParam } from '../workspace-param.decorator.js';
import type { Workspace } from '../workspaces.service.js';
import { EraseRequest, ErasureResponse, SingleErasureResponse } from './erasures-admin.dto.js';

/** A caller waits no longer; a usual person takes about a second. */
const WITHIN_MS = 10_000;

@ApiTags('Erasures')
@AdminController('workspaces/:workspace_id/erasures')
export class ErasuresAdminController {
  constructor(private readonly erasure: Erasure) {}

  /**
   * Erase a person
   *
   * @remarks What the workspace holds of one person, under every name of theirs, as `herald data erase` does; this can't be undone. Give exactly one of
   * `number` and `user_id`. With `dry_run` it only counts. A person of whom there is nothing is erased too, with all counts 0.
   *
   * A call ends after about ten seconds. While `more` is true a worker goes on by itself; to see when it is over, repeat the call with another
   * Idempotency-Key, or wait for `contact.erased` in the audit trail. Files that the workspace uploaded stay, and so do logs and backups.
   */
  @Post()
  @HttpCode(200)
  @RequireOperatorScope('erasures:write')
  @Repeatable({ outside: true })
  @ApiOkResponse({ type: SingleErasureResponse, description: 'What was erased, or counted.' })
  async create(@WorkspaceParam() { id }: Workspace, @Body() body: EraseRequest): Promise<SingleErasureResponse> {
    const { number, user_id: userId, dry_run: dryRun } = body;
    const name = number?.replace('+', '') ?? userId;
    if (name === undefined || (number !== undefined && userId !== undefined))
      throw invalidField('number', 'exactly_one', 'Give exactly one of number (a phone number) and user_id.');
    try {
      const report = await (dryRun ? this.erasure.count(id, name, WITHIN_MS) : this.erasure.erase(id, name, WITHIN_MS));
      return { data: ErasureResponse.of(report, { erased: !dryRun, more: false }) };
    } catch (error) {
      if (!(error instanceof ErasureUnfinishedError)) throw error;
      return { data: ErasureResponse.of(error.done, { erased: false, more: true, waitsFor: error.waitsFor }) };
    }
  }
}
