import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { databaseClock } from '../../common/clock.js';
import { answerOf } from '../../../clients/typescript/src/calls.js';
import { PAGE, rowsOf, type Schemas } from '../operator.js';
import { table } from '../output.js';
import { operatorAction } from '../runner.js';

type UsageLine = Schemas['WorkspaceUsageLine'];

/** `usage` and `rates`: what was sent, and its cost. */
export function addUsageCommands(program: Command): void {
  operatorAction<{ workspace?: string; month?: string; csv?: boolean }>(
    program
      .command('usage')
      .description('messages of a month by workspace, number, country and category, with their estimated cost')
      .option('--workspace <id>', 'only this workspace')
      .option('--month <month>', 'a UTC month such as 2026-10; default: the present one', monthText)
      .option('--csv', 'print comma-separated values, for a spreadsheet'),
    async ({ admin }, { workspace, month = databaseClock.date().toISOString().slice(0, 7), csv = false }) => {
      const asked = { month, workspace_id: workspace };
      if (csv) {
        const query = { ...asked, format: 'csv' as const };
        const file = await admin.api.GET('/api/admin/v1/usage', { params: { query }, parseAs: 'text' });
        const text = answerOf(file).trimEnd();
        return { data: { csv: text }, text };
      }
      const data = await rowsOf(admin.usage.get({ ...asked, limit: PAGE }));
      const text = [
        table(data, COLUMNS, `Nothing was counted in ${month}.`),
        'Costs are estimated.',
        ...unpricedText('Without a price', unpricedOf(data)),
      ];
      return { data, text: text.join('\n') };
    },
  );

  const rates = program.command('rates').description('prices of billable messages, for the estimated cost');
  operatorAction<{ file: string }>(
    rates
      .command('set')
      .description('replace all prices by those of a CSV file')
      .requiredOption('--file <path>', 'countries,category,tier_from,price,currency,valid_from'),
    async ({ admin }, { file }) => {
      const data = await admin.rates.replace({ csv: await readFile(file, 'utf8') });
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
  operatorAction(rates.command('show').description('show the prices'), async ({ admin }) => {
    const data = await admin.rates.get();
    const columns = {
      COUNTRIES: ({ countries }: Schemas['RateResponse']) => countries.join(' '),
      CATEGORY: 'category',
      FROM: 'tier_from',
      PRICE: 'price',
      CURRENCY: 'currency',
      VALID: 'valid_from',
    } as const;
    return { data, text: table(data, columns, 'There are no prices: herald rates set --file <path>') };
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
  BILLABLE: ({ billable }: UsageLine) => String(Object.values(billable).reduce((sum, count) => sum + count, 0)),
  COST: (line: UsageLine) => (line.cost === null ? '-' : `${line.cost.amount} ${line.cost.currency}`),
} as const;

function unpricedOf(lines: readonly UsageLine[]): [category: string, messages: number][] {
  const all = new Map<string, number>();
  for (const [category, messages] of lines.flatMap(({ unpriced }) => Object.entries(unpriced))) {
    all.set(category, (all.get(category) ?? 0) + messages);
  }
  return [...all];
}

/** One line, or none if there is nothing to report. */
function unpricedText(what: string, counts: readonly (readonly [name: string, messages: number])[]): string[] {
  const texts = counts.map(([name, messages]) => `${name} (${messages} message${messages === 1 ? '' : 's'})`);
  return texts.length === 0 ? [] : [`${what}: ${texts.join(', ')}.`];
}

function monthText(text: string): string {
  if (!/^20\d\d-(?:0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('must be a month such as 2026-10.');
  return text;
}
