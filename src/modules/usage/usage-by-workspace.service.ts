import { Injectable } from '@nestjs/common';
import { ConnectionsService } from '../connections/connections.service.js';
import type { Workspace } from '../workspaces/workspaces.service.js';
import { UsageService } from './usage.service.js';
import { MEASURES, type Rate, type UsageFigures } from './usage.types.js';

/** Messages sent and received by a workspace in a month, by number, country and category. */
export interface UsageLine extends UsageFigures {
  workspace_id: string;
  workspace: string;
  /** The number, or the id of a deleted one. */
  connection: string;
  category: string;
  country: string;
}

const CSV_COLUMNS = [
  'month',
  'workspace_id',
  'workspace',
  'number',
  'country',
  'category',
  ...MEASURES,
  'billable',
  'free',
  'estimated_cost',
  'currency',
  'unpriced',
];

/** Workspaces read at the same time. */
const AT_ONCE = 4;

type Named = Pick<Workspace, 'id' | 'name'>;

/** Usage of all workspaces in a month, for the operator's bills. */
@Injectable()
export class UsageByWorkspaceService {
  constructor(
    private readonly usage: UsageService,
    private readonly connections: ConnectionsService,
  ) {}

  /** In the order of the workspaces. @param month a UTC month such as `2026-10` */
  async linesOf(month: string, workspaces: readonly Named[]): Promise<UsageLine[]> {
    const rates = await this.usage.rates();
    const lines: UsageLine[] = [];
    for (let first = 0; first < workspaces.length; first += AT_ONCE) {
      const some = workspaces.slice(first, first + AT_ONCE);
      lines.push(...(await Promise.all(some.map((each) => this.linesOfOne(month, each, rates)))).flat());
    }
    return lines;
  }

  private async linesOfOne(month: string, { id, name }: Named, rates: readonly Rate[]): Promise<UsageLine[]> {
    const since = new Date(`${month}-01T00:00:00Z`);
    const until = new Date(Date.UTC(since.getUTCFullYear(), since.getUTCMonth() + 1, 1));
    const ofMonth = { organizationId: id, since, until, interval: 'month', timezone: 'UTC' } as const;
    const groupBy = ['connection', 'country', 'category'] as const;
    const { rows } = await this.usage.figures({ ...ofMonth, groupBy, filter: {} }, rates);
    if (rows.length === 0) return [];
    const numbers = new Map((await this.connections.list(id)).map((each) => [each.id, each.phoneNumber]));
    return rows.map(({ groups, start: _start, ...figures }) => ({
      ...figures,
      workspace_id: id,
      workspace: name,
      connection: numbers.get(groups.connection ?? '') ?? groups.connection ?? '',
      country: groups.country ?? '',
      category: groups.category ?? '',
    }));
  }

  /** Comma-separated values without a final line break; without lines, only the header. */
  csvOf(month: string, lines: readonly UsageLine[], header = true): string {
    return [...(header ? [CSV_COLUMNS.join(',')] : []), ...lines.map((line) => csvLine(month, line))].join('\n');
  }
}

function csvLine(month: string, line: UsageLine): string {
  const { workspace_id, workspace, connection, country, category, cost } = line;
  const counts = MEASURES.map((name) => line[name]);
  const money = [
    sumOf(line.billable),
    sumOf(line.free),
    cost?.amount ?? '',
    cost?.currency ?? '',
    sumOf(line.unpriced),
  ];
  return [month, workspace_id, workspace, connection, country, category, ...counts, ...money].map(cell).join(',');
}

/** A spreadsheet would evaluate a name that begins like a formula. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
