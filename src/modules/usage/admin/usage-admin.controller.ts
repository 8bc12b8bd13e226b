import { Readable } from 'node:stream';
import { Body, Get, Put, Query, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { databaseClock } from '../../../common/clock.js';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import { AdminController, CurrentOperator, workspacesSeen } from '../../../infrastructure/http/operator.decorator.js';
import { cursorOf } from '../../../infrastructure/http/page.query.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { ReadsMayBeLate } from '../../../infrastructure/http/late-reads.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { type WorkspaceFilter, WorkspacesService } from '../../workspaces/workspaces.service.js';
import { UsageByWorkspaceService } from '../usage-by-workspace.service.js';
import { UsageService } from '../usage.service.js';
import {
  RateResponse,
  RatesResponse,
  ReplacedRatesResponse,
  ReplaceRatesRequest,
  WorkspaceUsageQuery,
  WorkspaceUsageResponse,
} from './usage-admin.dto.js';

const WORKSPACES_AT_ONCE = 100;

@ApiTags('Usage')
@AdminController('usage')
export class UsageAdminController {
  constructor(
    private readonly usage: UsageByWorkspaceService,
    private readonly workspaces: WorkspacesService,
  ) {}

  /**
   * Read the usage of a month
   *
   * @remarks Messages of all workspaces by number, country and category, with their estimated cost. A page is of `limit` workspaces,
   * newest first, and may have no line: go on while `next_before` is not null. A key that is limited to some workspaces sees those.
   */
  @Get()
  @RequireOperatorScope('usage:read')
  // The lines of a file are read while it is sent, after the read itself has ended.
  @ReadsMayBeLate(({ format }) => format !== 'csv')
  @ApiOkResponse({ type: WorkspaceUsageResponse, description: 'One page; with `format=csv` all lines, as `text/csv`.' })
  async get(
    @CurrentOperator() operator: Operator,
    @Query() query: WorkspaceUsageQuery,
  ): Promise<WorkspaceUsageResponse | StreamableFile> {
    const { limit, format, month = databaseClock.date().toISOString().slice(0, 7), workspace_id: id } = query;
    const only = workspacesSeen(operator, id);
    if (format === 'csv') {
      return new StreamableFile(Readable.from(this.csv(month, only)), {
        type: 'text/csv; charset=utf-8',
        disposition: `attachment; filename="usage-${month}.csv"`,
      });
    }
    const { rows, pagination } = await this.page({ ...cursorOf(query), limit, only });
    return { data: await this.usage.linesOf(month, rows), pagination };
  }

  /** All pages, one after the other. */
  private async *csv(month: string, only: readonly string[] | null): AsyncGenerator<string> {
    yield `${this.usage.csvOf(month, [])}\n`;
    let place: Pick<WorkspaceFilter, 'before' | 'beforeId'> | null = { before: null, beforeId: null };
    while (place !== null) {
      const { rows, pagination } = await this.page({ ...place, limit: WORKSPACES_AT_ONCE, only });
      const lines = await this.usage.linesOf(month, rows);
      if (lines.length > 0) yield `${this.usage.csvOf(month, lines, false)}\n`;
      const { next_before: before, next_before_id: beforeId } = pagination;
      place = before === null ? null : { before: new Date(before), beforeId };
    }
  }

  private async page(filter: WorkspaceFilter) {
    const found = await this.workspaces.page({ ...filter, limit: filter.limit + 1 });
    return pageOf(found, filter.limit, ({ createdAt }) => createdAt);
  }
}

@ApiTags('Prices')
@AdminController('rates')
export class RatesAdminController {
  constructor(private readonly usage: UsageService) {}

  /**
   * Read the prices
   *
   * @remarks The prices of billable messages with which costs are estimated. They hold for all workspaces.
   */
  @Get()
  @RequireOperatorScope('billing:read', { wholeInstallation: true })
  @ApiOkResponse({ type: RatesResponse, description: 'All of them; there are no pages.' })
  async get(): Promise<RatesResponse> {
    return { data: (await this.usage.rates()).map((rate) => RateResponse.of(rate)) };
  }

  /**
   * Replace the prices
   *
   * @remarks All of them, by those of `csv`, as `herald rates set` does: docs/usage.md shows the form. The answer names what was billed lately
   * and has no price. Prices in another currency are refused while a workspace has a limit of spending.
   */
  @Put()
  @RequireOperatorScope('billing:write', { wholeInstallation: true })
  @ApiOkResponse({ type: ReplacedRatesResponse, description: 'How many prices there are now.' })
  @ApiErrors('RATES_INVALID', 'RATES_IN_USE')
  async replace(@Body() { csv }: ReplaceRatesRequest): Promise<ReplacedRatesResponse> {
    return { data: await this.usage.setRates(csv) };
  }
}
