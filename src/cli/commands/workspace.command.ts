import type { Command } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import { isHeraldError } from '../../../clients/typescript/src/errors.js';
import { onServer, PAGE, rowsOf, type Schemas } from '../operator.js';
import { type Answer, byteText, facts, table } from '../output.js';
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
import { operatorAction, UsageError } from '../runner.js';

type Workspace = Schemas['WorkspaceResponse'];

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
  operatorAction<{ name: string }>(
    workspace.command('create').description('make a workspace').requiredOption('--name <name>', 'its name', nameText),
    async ({ admin }, { name }) => answerOf(await admin.workspaces.create({ name })),
  );
  operatorAction(workspace.command('list').description('list all workspaces, oldest first'), async ({ admin }) => {
    const data = (await rowsOf(admin.workspaces.list({ limit: PAGE }))).toReversed();
    const columns = {
      ID: 'id',
      NAME: 'name',
      'PAID UNTIL': 'api_paid_until',
      STORAGE: storageText,
      CREATED: 'created_at',
    } as const;
    return { data, text: table(data, columns, 'There are no workspaces: herald workspace create --name <name>') };
  });
  operatorAction(
    workspace.command('show').description('show a workspace and its limits').argument('<id>', 'the workspace'),
    async ({ admin }, _options, id) => answerOf(await admin.workspaces.get(id)),
  );
  operatorAction<LimitOptions>(
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
    async ({ admin }, { workspace: id, ...limits }) => {
      // Undefined options have no value, and JSON leaves them out.
      const changed = await admin.workspaces.change(id, {
        rate_per_second: orNull(limits.rate),
        rate_burst: orNull(limits.burst),
        storage_limit_bytes: orNull(limits.storageBytes),
        messages_per_day: orNull(limits.messagesPerDay),
        spend_per_month: orNull(limits.spendPerMonth),
        marketing_per_recipient_per_week: orNull(limits.marketingPerRecipientPerWeek),
        time_zone: limits.timeZone,
      });
      return answerOf(changed);
    },
  );
  addKeywords(workspace);
  addDelete(workspace);

  const subscription = program.command('subscription').description('paid access of a workspace');
  operatorAction<{ workspace: string; paidUntil: Date | 'none' }>(
    subscription
      .command('set')
      .description('set the time until which a workspace may send')
      .requiredOption('--workspace <id>', 'the workspace')
      .requiredOption('--paid-until <time>', 'a day, a time of ISO 8601, or none', orWord('none', dayOrTime)),
    async ({ admin }, { workspace: id, paidUntil }) =>
      answerOf(
        await admin.workspaces.change(id, { api_paid_until: paidUntil === 'none' ? null : paidUntil.toISOString() }),
      ),
  );
}

function addKeywords(workspace: Command): void {
  const words = (text: string): string[] => text.split(',');
  operatorAction<{ workspace: string; language?: string; out?: string[]; in?: string[]; off?: boolean }>(
    workspace
      .command('opt-out-keywords')
      .description('words by which customers opt out of marketing and in again; without --language it shows them')
      .requiredOption('--workspace <id>', 'the workspace')
      .option('--language <tag>', 'the language of the words, such as de')
      .option('--out <words>', 'words that opt out, separated by commas', words)
      .option('--in <words>', 'words that opt in again, separated by commas', words)
      .option('--off', 'take the words of the language away'),
    async ({ admin: { optOutKeywords } }, { workspace: id, language, out, in: into, off = false }) => {
      if (language === undefined && (off || out !== undefined || into !== undefined)) {
        throw new UsageError('name the language with --language');
      }
      if (language !== undefined && off === (out !== undefined || into !== undefined)) {
        throw new UsageError('give the words with --out and --in, or take them away with --off');
      }
      const data =
        language === undefined
          ? await optOutKeywords.list(id)
          : off
            ? await optOutKeywords.remove(id, language)
            : await optOutKeywords.set(id, language, { out: out ?? [], in: into ?? [] });
      const rows = data.map(({ language: tag, out: outs, in: ins }) => [
        tag,
        `out: ${outs.join(', ') || 'none'}; in: ${ins.join(', ') || 'none'}`,
      ]);
      const text = rows.length === 0 ? 'No word opts out.' : facts(Object.fromEntries(rows) as Record<string, string>);
      return { data, text };
    },
  );
}

/** Polling interval until a deletion on the server is done. */
const LOOK_MS = 1_000;
/** Calls that wait ten seconds each for what is in progress with a person who is to be erased. */
const MOST_WAITS = 6;

function addDelete(workspace: Command): void {
  operatorAction<{ dryRun?: boolean; yes?: boolean }>(
    workspace
      .command('delete')
      .description('delete a workspace with everything in it')
      .argument('<id>', 'the workspace')
      .option('--dry-run', 'count, and change nothing')
      .option(...YES_OPTION),
    async (operator, { dryRun = false, yes }, id) => {
      const { workspaces } = operator.admin;
      const { name } = await workspaces.get(id);
      if (!dryRun) await confirm(`Delete the workspace "${name}" with all its data? This can't be undone.`, yes, id);
      if (operator.services === null && !dryRun) {
        await workspaces.remove(id);
        await untilDeleted(() => workspaces.get(id));
        return { data: { id, name, deleted: true }, text: 'Deleted.' };
      }
      const erasure = onServer(operator, '--dry-run', 'it counts the rows of the database').workspaceErasure;
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

/** Waits while a worker of the service deletes the data, however long it takes. */
async function untilDeleted(look: () => Promise<unknown>): Promise<void> {
  process.stderr.write('A worker of the service deletes it; this waits. It goes on without this command, too.\n');
  for (;;) {
    try {
      await look();
    } catch (error) {
      if (isHeraldError(error, 'WORKSPACE_NOT_FOUND')) return;
      throw error;
    }
    await pause(LOOK_MS);
  }
}

function orNull<T>(limit: T | 'default'): T | null {
  return limit === 'default' ? null : limit;
}

function storageText({ storage_used_bytes: used, effective }: Workspace): string {
  const { storage_limit_bytes: limit } = effective;
  return `${byteText(used)} of ${limit === null ? 'any' : byteText(limit)}`;
}

function answerOf(workspace: Workspace): Answer {
  const { effective, messages_per_day: messages, marketing_per_recipient_per_week: marketing } = workspace;
  const text = facts({
    Workspace: workspace.id,
    Name: workspace.name,
    'Paid until': effective.needs_subscription
      ? (workspace.api_paid_until ?? 'not paid: herald subscription set')
      : 'not asked for: BILLING=off',
    Requests: `${effective.rate_per_second} a second of each key, ${effective.rate_burst} at once`,
    Storage: storageText(workspace),
    Messages: `${messages ?? 'any number'} a day, ${workspace.time_zone}`,
    Spend: `${workspace.spend_per_month ?? 'any amount'} a month, estimated`,
    Marketing: `${marketing ?? 'any number'} to one recipient a week`,
  });
  return { data: workspace, text };
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
  operatorAction<EraseOptions>(erase, async ({ admin }, { workspace, number, userId: user, yes = false }) => {
    if ((number === undefined) === (user === undefined)) {
      throw new UsageError('name the person with --number or with --user-id, and not with both');
    }
    const body = { number, user_id: user, dry_run: !yes };
    return erasureAnswer(await untilErased(() => admin.erasures.create(workspace, body), yes));
  });
}

type Erasure = Schemas['ErasureResponse'];

/** A call ends after ten seconds; what was done in all of them. @throws Error where something in progress does not end. */
async function untilErased(call: () => Promise<Erasure>, erases: boolean): Promise<Erasure> {
  const counts: Record<string, number> = {};
  for (let waits = 0; ;) {
    const { counts: found, ...outcome } = await call();
    for (const [word, count] of Object.entries(found)) counts[word] = (counts[word] ?? 0) + count;
    if (!outcome.more || !erases) return { ...outcome, counts };
    if (outcome.waits_for.length > 0 && ++waits >= MOST_WAITS) {
      throw new Error(
        `${outcome.waits_for.join('; ')}. A worker goes on with the erasure every minute until it is done.`,
      );
    }
  }
}

function erasureAnswer(data: Erasure): Answer {
  const { erased, more, names, counts } = data;
  const rows = Object.fromEntries(
    Object.entries(counts).map(([word, count]) => [word.replaceAll('_', ' '), String(count)]),
  );
  const others = names > 1 ? ` The contact is known by ${names} names; all were looked for.` : '';
  const end = erased
    ? 'Erased. Uploaded files that were sent to the contact belong to the workspace and stay; logs end by themselves.'
    : 'Nothing was erased: this only counts. Run it again with --yes.';
  const rest = more ? ' There is more than that: counting ended after ten seconds.' : '';
  return { data, text: `${facts(rows)}\n${end}${rest}${others}` };
}
