import type { Command } from 'commander';
import { decimalText, millionthsOf } from '../../common/millionths.js';
import type { Workspace, WorkspaceUse } from '../../modules/workspaces/workspaces.service.js';
import { type Answer, byteText, facts, listed, snakeCased } from '../output.js';
import {
  YES_OPTION,
  amount,
  confirm,
  dayOrTime,
  nameText,
  orWord,
  phoneDigits,
  timeZone,
  userId,
  wholeNumber,
} from '../arguments.js';
import { serviceAction, UsageError } from '../runner.js';

interface LimitOptions {
  workspace: string;
  rate?: number | 'default';
  burst?: number | 'default';
  storageBytes?: number | 'default';
  messagesPerDay?: number | 'default';
  spendPerMonth?: string;
  marketingPerRecipientPerWeek?: number | 'default';
  timeZone?: string;
}

const MAX_REQUESTS = 1_000_000;
const MAX_MESSAGES = 1_000_000_000;

/** `workspace create|list|show|limits|delete` and `subscription set`. */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('make, list, limit and delete workspaces');
  serviceAction<{ name: string }>(
    workspace.command('create').description('make a workspace').requiredOption('--name <name>', 'its name', nameText),
    async (services, { name }) => {
      const { id } = await services.workspaces.create(name);
      return answerOf(await services.workspaces.use(id));
    },
  );
  serviceAction(workspace.command('list').description('list all workspaces'), async (services) => {
    const workspaces = await services.workspaces.listUse();
    return listed(
      workspaces,
      workspaceBody,
      { ID: 'id', NAME: 'name', 'PAID UNTIL': 'apiPaidUntil', STORAGE: storageText, CREATED: 'createdAt' },
      'There are no workspaces: herald workspace create --name <name>',
    );
  });
  serviceAction(
    workspace.command('show').description('show a workspace and its limits').argument('<id>', 'the workspace'),
    async (services, _options, id) => answerOf(await services.workspaces.use(id)),
  );
  serviceAction<LimitOptions>(
    workspace
      .command('limits')
      .description('set the limits of a workspace; "default" restores the default')
      .requiredOption('--workspace <id>', 'the workspace')
      .option('--rate <n>', 'requests a second of each key', orWord('default', wholeNumber(1, MAX_REQUESTS)))
      .option('--burst <n>', 'requests that each key may make at once', orWord('default', wholeNumber(1, MAX_REQUESTS)))
      .option(
        '--storage-bytes <n>',
        'bytes of stored files',
        orWord('default', wholeNumber(0, Number.MAX_SAFE_INTEGER)),
      )
      .option(
        '--messages-per-day <n>',
        'messages that are accepted in a day; default: any number',
        orWord('default', wholeNumber(0, MAX_MESSAGES)),
      )
      .option(
        '--spend-per-month <amount>',
        'estimated cost of the messages of a month, in the currency of "herald rates"; default: any amount',
        orWord('default', amount),
      )
      .option(
        '--marketing-per-recipient-per-week <n>',
        'marketing templates to one recipient in a week, from Monday on; default: any number',
        orWord('default', wholeNumber(0, MAX_MESSAGES)),
      )
      .option(
        '--time-zone <name>',
        'where its days, weeks and months begin, such as Europe/Berlin; UTC at first',
        timeZone,
      ),
    async (services, { workspace: id, rate, burst, storageBytes, ...limits }) => {
      const { messagesPerDay, spendPerMonth, marketingPerRecipientPerWeek, timeZone: zone } = limits;
      const isAmount = spendPerMonth !== undefined && spendPerMonth !== 'default';
      await services.workspaces.setLimits(id, {
        ...(rate !== undefined && { ratePerSecond: orNull(rate) }),
        ...(burst !== undefined && { rateBurst: orNull(burst) }),
        ...(storageBytes !== undefined && { storageLimitBytes: orNull(storageBytes) }),
        ...(messagesPerDay !== undefined && { messagesPerDay: orNull(messagesPerDay) }),
        ...(spendPerMonth !== undefined && { spendPerMonth: isAmount ? spendPerMonth : null }),
        ...(marketingPerRecipientPerWeek !== undefined && {
          marketingPerRecipientPerWeek: orNull(marketingPerRecipientPerWeek),
        }),
        ...(zone !== undefined && { timeZone: zone }),
      });
      return answerOf(await services.workspaces.use(id));
    },
  );
  addKeywords(workspace);
  addDelete(workspace);

  const subscription = program.command('subscription').description('paid access of a workspace');
  serviceAction<{ workspace: string; paidUntil: Date | 'none' }>(
    subscription
      .command('set')
      .description('set the time until which a workspace may send')
      .requiredOption('--workspace <id>', 'the workspace')
      .requiredOption('--paid-until <time>', 'a day, a time of ISO 8601, or none', orWord('none', dayOrTime)),
    async (services, { workspace: id, paidUntil }) => {
      await services.workspaces.setSubscription(id, paidUntil === 'none' ? null : paidUntil);
      return answerOf(await services.workspaces.use(id));
    },
  );
}

function addKeywords(workspace: Command): void {
  const words = (text: string): string[] => text.split(',');
  serviceAction<{ workspace: string; language?: string; out?: string[]; in?: string[]; off?: boolean }>(
    workspace
      .command('opt-out-keywords')
      .description('words by which customers opt out of marketing and in again; without --language it shows them')
      .requiredOption('--workspace <id>', 'the workspace')
      .option('--language <tag>', 'the language of the words, such as de')
      .option('--out <words>', 'words that opt out, separated by commas', words)
      .option('--in <words>', 'words that opt in again, separated by commas', words)
      .option('--off', 'take the words of the language away'),
    async (services, { workspace: given, language, out, in: into, off = false }) => {
      const { id } = await services.workspaces.getById(given);
      if (language === undefined && (off || out !== undefined || into !== undefined)) {
        throw new UsageError('name the language with --language');
      }
      if (language !== undefined && off === (out !== undefined || into !== undefined)) {
        throw new UsageError('give the words with --out and --in, or take them away with --off');
      }
      const { optOuts } = services;
      const keywords =
        language === undefined
          ? await optOuts.keywords(id)
          : await optOuts.setKeywords(id, language, off ? null : { out: out ?? [], in: into ?? [] });
      const rows = Object.entries(keywords).map(([tag, { out: outs, in: ins }]) => [
        tag,
        `out: ${outs.join(', ') || 'none'}; in: ${ins.join(', ') || 'none'}`,
      ]);
      const text = rows.length === 0 ? 'No word opts out.' : facts(Object.fromEntries(rows) as Record<string, string>);
      return { data: { workspace_id: id, keywords }, text };
    },
  );
}

function addDelete(workspace: Command): void {
  serviceAction<{ dryRun?: boolean; yes?: boolean }>(
    workspace
      .command('delete')
      .description('delete a workspace with everything in it')
      .argument('<id>', 'the workspace')
      .option('--dry-run', 'count, and change nothing')
      .option(...YES_OPTION),
    async (services, { dryRun = false, yes }, id) => {
      const { name } = await services.workspaces.getById(id);
      if (!dryRun) await confirm(`Delete the workspace "${name}" with all its data? This can't be undone.`, yes, id);
      const erasure = services.workspaceErasure;
      const counts = dryRun ? await erasure.count(id) : await erasure.delete(id);
      const found = Object.entries(counts).filter(([, count]) => count > 0);
      const rows = Object.fromEntries(found.map(([word, count]) => [word, String(count)]));
      const end = dryRun ? 'Nothing was deleted: this only counts.' : 'Deleted.';
      return {
        data: { id, name, deleted: !dryRun, counts },
        text: found.length === 0 ? end : `${facts(rows)}\n${end}`,
      };
    },
  );
}

function orNull(limit: number | 'default'): number | null {
  return limit === 'default' ? null : limit;
}

function workspaceBody({ effective, createdAt, ...workspace }: Workspace & WorkspaceUse): object {
  return { ...snakeCased(workspace), effective: snakeCased(effective), created_at: createdAt };
}

function storageText({ storageUsedBytes, effective }: WorkspaceUse): string {
  const { storageLimitBytes: limit } = effective;
  return `${byteText(storageUsedBytes)} of ${limit === null ? 'any' : byteText(limit)}`;
}

function answerOf(workspace: Workspace & WorkspaceUse): Answer {
  const { ratePerSecond, rateBurst, needsSubscription } = workspace.effective;
  const text = facts({
    Workspace: workspace.id,
    Name: workspace.name,
    'Paid until': needsSubscription
      ? (workspace.apiPaidUntil?.toISOString() ?? 'not paid: herald subscription set')
      : 'not asked for: BILLING=off',
    Requests: `${ratePerSecond} a second of each key, ${rateBurst} at once`,
    Storage: storageText(workspace),
    Messages: `${workspace.messagesPerDay ?? 'any number'} a day, ${workspace.timeZone}`,
    Spend: `${workspace.spendPerMonth === null ? 'any amount' : decimalText(millionthsOf(workspace.spendPerMonth))} a month, estimated`,
    Marketing: `${workspace.marketingPerRecipientPerWeek ?? 'any number'} to one recipient a week`,
  });
  return { data: workspaceBody(workspace), text };
}

interface EraseOptions {
  workspace: string;
  number?: string;
  userId?: string;
  yes?: boolean;
}

/** `data erase`. */
export function addDataCommands(program: Command): void {
  const data = program.command('data').description('stored personal data');
  const erase = data
    .command('erase')
    .description('erase a person’s data in a workspace; without --yes it only counts')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--number <E.164>', 'the phone number with its country code', phoneDigits)
    .option('--user-id <id>', "instead of it the platform's id of the user, such as DE.1795...", userId)
    .option('--yes', 'erase: queued messages are cancelled, and nothing can be restored');
  serviceAction<EraseOptions>(erase, async (services, options) => {
    const { workspace, number, userId: user, yes = false } = options;
    const name = number ?? user;
    if (name === undefined || (number !== undefined && user !== undefined)) {
      throw new UsageError('name the person with --number or with --user-id, and not with both');
    }
    const { id } = await services.workspaces.getById(workspace);
    const erasure = services.erasure;
    const { counts, names } = yes ? await erasure.erase(id, name) : await erasure.count(id, name);
    return answer(counts, names, yes);
  });
}

function answer(counts: Readonly<Record<string, number>>, names: number, erased: boolean): Answer {
  const rows = Object.fromEntries(
    Object.entries(counts).map(([word, count]) => [word.replaceAll('_', ' '), String(count)]),
  );
  const others = names > 1 ? ` The contact is known by ${names} names; all were looked for.` : '';
  const end = erased
    ? 'Erased. Uploaded files that were sent to the contact belong to the workspace and stay; logs end by themselves.'
    : 'Nothing was erased: this only counts. Run it again with --yes.';
  return { data: { erased, names, counts }, text: `${facts(rows)}\n${end}${others}` };
}
