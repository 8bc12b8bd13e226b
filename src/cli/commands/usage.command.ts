import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { databaseClock } from '../../common/clock.js';
import type { Services } from '../../bootstrap/services.js';
import type { UsageFigures } from '../../modules/usage/usage.types.js';
import { type Answer, table } from '../output.js';
import { serviceAction } from '../runner.js';

interface Line extends UsageFigures {
  workspace_id: string;
  workspace: string;
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
  'submitted',
  'accepted',
  'sent',
  'delivered',
  'read',
  'failed',
  'outcome_unknown',
  'received',
  'billable',
  'free',
  'estimated_cost',
  'currency',
  'unpriced',
] as const;

/** `usage` and `rates`: what was sent, and what it cost. */
export function addUsageCommands(program: Command): void {
  serviceAction<{ workspace?: string; month?: string; csv?: boolean }>(
    program
      .command('usage')
      .description('messages of a month by workspace, number, country and category, with their estimated cost')
      .option('--workspace <id>', 'only this workspace')
      .option('--month <month>', 'a UTC month such as 2026-10; default: the present one', monthText)
      .option('--csv', 'print comma-separated values, for a spreadsheet'),
    async (services, { workspace, month = databaseClock.date().toISOString().slice(0, 7), csv = false }) => {
      const lines = await linesOf(services, month, workspace);
      return csv
        ? { data: lines, text: csvOf(month, lines) }
        : {
            data: lines,
            text: [
              table(lines, COLUMNS, `Nothing was counted in ${month}.`),
              'Costs are estimated.',
              ...unpricedText('Without a price', unpricedOf(lines)),
            ].join('\n'),
          };
    },
  );

  const rates = program.command('rates').description('prices of billable messages, for the estimated cost');
  serviceAction<{ file: string }>(
    rates
      .command('set')
      .description('replace all prices by those of a CSV file')
      .requiredOption('--file <path>', 'countries,category,tier_from,price,currency,valid_from'),
    async (services, { file }) => {
      const data = await services.usage.setRates(await readFile(file, 'utf8'));
      const names = data.unpriced.map(
        ({ category, countries, messages }) => [`${category} in ${countries.join(' ')}`, messages] as const,
      );
      const text = [
        `${data.prices} prices are set; costs are estimated with them.`,
        ...unpricedText('Without a price since the month before', names),
      ];
      return { data, text: text.join('\n') };
    },
  );
  serviceAction(rates.command('show').description('show the prices'), async (services): Promise<Answer> => {
    const prices = await services.usage.rates();
    const columns = {
      COUNTRIES: ({ countries }: (typeof prices)[number]) => countries.join(' '),
      CATEGORY: 'category',
      FROM: 'tierFrom',
      PRICE: 'price',
      CURRENCY: 'currency',
      VALID: 'validFrom',
    } as const;
    const none = 'There are no prices: herald rates set --file <path>';
    return { data: prices, text: table(prices, columns, none) };
  });
}

const COLUMNS = {
  WORKSPACE: 'workspace',
  NUMBER: 'connection',
  COUNTRY: 'country',
  CATEGORY: 'category',
  SUBMITTED: 'submitted',
  DELIVERED: 'delivered',
  READ: 'read',
  FAILED: 'failed',
  RECEIVED: 'received',
  BILLABLE: (line: Line) => String(sumOf(line.billable)),
  COST: (line: Line) => (line.cost === null ? '-' : `${line.cost.amount} ${line.cost.currency}`),
} as const;

function unpricedOf(lines: readonly Line[]): [category: string, messages: number][] {
  const all = new Map<string, number>();
  for (const [category, messages] of lines.flatMap(({ unpriced }) => Object.entries(unpriced))) {
    all.set(category, (all.get(category) ?? 0) + messages);
  }
  return [...all];
}

/** A line, where there is something to say. */
function unpricedText(what: string, counts: readonly (readonly [name: string, messages: number])[]): string[] {
  const texts = counts.map(([name, messages]) => `${name} (${messages} message${messages === 1 ? '' : 's'})`);
  return texts.length === 0 ? [] : [`${what}: ${texts.join(', ')}.`];
}

function monthText(text: string): string {
  if (!/^20\d\d-(?:0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('must be a month such as 2026-10.');
  return text;
}

async function linesOf(services: Services, month: string, only: string | undefined): Promise<Line[]> {
  const since = new Date(`${month}-01T00:00:00Z`);
  const until = new Date(Date.UTC(since.getUTCFullYear(), since.getUTCMonth() + 1, 1));
  const workspaces = only === undefined ? await services.workspaces.list() : [await services.workspaces.getById(only)];
  const lines: Line[] = [];
  for (const { id, name } of workspaces) {
    const numbers = new Map((await services.connections.list(id)).map((each) => [each.id, each.phoneNumber]));
    const { rows } = await services.usage.messages({
      organizationId: id,
      since,
      until,
      interval: 'month',
      timezone: 'UTC',
      groupBy: ['connection', 'country', 'category'],
      filter: {},
    });
    for (const { groups, start: _start, ...figures } of rows) {
      const connection = numbers.get(groups.connection ?? '') ?? groups.connection ?? '';
      const { country, category } = groups;
      lines.push({
        ...figures,
        workspace_id: id,
        workspace: name,
        connection,
        country: country ?? '',
        category: category ?? '',
      });
    }
  }
  return lines;
}

function csvOf(month: string, lines: readonly Line[]): string {
  const rows = lines.map((line) => {
    const { workspace_id, workspace, connection, country, category, cost } = line;
    const counts = CSV_COLUMNS.slice(6, 14).map((name) => line[name as 'submitted']);
    const money = [
      sumOf(line.billable),
      sumOf(line.free),
      cost?.amount ?? '',
      cost?.currency ?? '',
      sumOf(line.unpriced),
    ];
    return [month, workspace_id, workspace, connection, country, category, ...counts, ...money].map(cell).join(',');
  });
  return [CSV_COLUMNS.join(','), ...rows].join('\n');
}

/** A name that begins as a formula is one to a spreadsheet. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
