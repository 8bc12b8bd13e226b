import { Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import { AdminController, CurrentOperator } from '../../../infrastructure/http/operator.decorator.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { ReadsMayBeLate } from '../../../infrastructure/http/late-reads.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { Audit, type AuditFilter } from '../audit.service.js';
import { AuditEventResponse, AuditListResponse, ListAuditQuery } from './audit-admin.dto.js';

const LINES = 'application/x-ndjson';

@ApiTags('Audit')
@AdminController('audit')
export class AuditAdminController {
  constructor(private readonly audit: Audit) {}

  /**
   * List changes
   *
   * @remarks Who changed keys, numbers, settings and data, when and from where: by a command, an operator key or a key of
   * a workspace. Newest first. For the next page pass `next_before` and `next_before_id` of the answer, or with `format=ndjson`
   * `occurred_at` and `id` of the last line, as `before` and `before_id`. A key that is limited to some workspaces sees the
   * changes of those only.
   */
  @Get()
  @RequireOperatorScope('audit:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: AuditListResponse, description: 'One page, or one event a line with `format=ndjson`.' })
  async list(
    @CurrentOperator() operator: Operator,
    @Query() query: ListAuditQuery,
    @Res({ passthrough: true }) res: Response,
  ): Promise<AuditListResponse | string> {
    const { limit, format } = query;
    const found = await this.audit.list({ ...filterOf(query), only: operator.workspaceIds, limit: limit + 1 });
    const { rows, pagination } = pageOf(found, limit, ({ occurredAt }) => occurredAt);
    const data = rows.map((event) => AuditEventResponse.of(event));
    if (format === 'json') return { data, pagination };
    res.type(LINES);
    return data.map((event) => `${JSON.stringify(event)}\n`).join('');
  }
}

function filterOf({
  workspace_id: organizationId,
  action,
  actor,
  since,
  until,
  before,
  before_id: id,
}: ListAuditQuery) {
  const filter: Omit<AuditFilter, 'limit'> = {
    ...(organizationId !== undefined && { organizationId: organizationId.toLowerCase() }),
    ...(action !== undefined && { action }),
    ...(actor !== undefined && { actor }),
    ...(since !== undefined && { since: new Date(since) }),
    ...(until !== undefined && { until: new Date(until) }),
    // Without an id: before the time.
    ...(before !== undefined && { after: { occurredAt: new Date(before), id: id ?? '0' } }),
  };
  return filter;
}
