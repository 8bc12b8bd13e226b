import type { Command } from 'commander';
import type { Workspace, WorkspaceUse } from '../../infrastructure/access/workspaces.types.js';
import { facts, table, timeText, type Answer } from '../answer.js';
import { confirm, nameText, numberOrDefault, timeOrNone, YES_OPTION } from '../arguments.js';
import { byteText } from '../byte-text.js';
import { doesWithServices } from '../runner.js';

interface LimitOptions {
  workspace: string;
  rate?: number | 'default';
  burst?: number | 'default';
  storageBytes?: number | 'default';
}

interface DeleteOptions {
  dryRun?: boolean;
  yes?: boolean;
}

const MOST_REQUESTS = 1_000_000;

/** `workspace create|list|show|limits|delete` and `subscription set`. */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('make, list, limit and delete workspaces');
  doesWithServices<{ name: string }>(
    workspace.command('create').description('make a workspace').requiredOption('--name <name>', 'its name', nameText),
    async (services, { name }) => {
      const { id } = await services.workspaces.create(name);
      return answerOf(await services.workspaces.use(id));
    },
  );
  doesWithServices(workspace.command('list').description('list all workspaces'), async (services) => {
    const workspaces = await services.workspaces.listUse();
    return {
      data: workspaces.map(bodyOf),
      text: table(
        ['ID', 'NAME', 'PAID UNTIL', 'STORAGE', 'CREATED'],
        workspaces.map((row) => [
          row.id,
          row.name,
          timeText(row.apiPaidUntil),
          storageText(row),
          timeText(row.createdAt),
        ]),
        'There are no workspaces: herald workspace create --name <name>',
      ),
    };
  });
  doesWithServices(
    workspace.command('show').description('show a workspace and its limits').argument('<id>', 'the workspace'),
    async (services, _options, id = '') => answerOf(await services.workspaces.use(id)),
  );
  addLimits(workspace);
  addDelete(workspace);

  const subscription = program.command('subscription').description('what a workspace has paid for');
  doesWithServices<{ workspace: string; paidUntil: Date | 'none' }>(
    subscription
      .command('set')
      .description('set until when a workspace may send')
      .requiredOption('--workspace <id>', 'the workspace')
      .requiredOption('--paid-until <time>', 'a day, a time of ISO 8601, or none', timeOrNone),
    async (services, { workspace: id, paidUntil }) => {
      await services.workspaces.setSubscription(id, paidUntil === 'none' ? null : paidUntil);
      return answerOf(await services.workspaces.use(id));
    },
  );
}

function addLimits(workspace: Command): void {
  doesWithServices<LimitOptions>(
    workspace
      .command('limits')
      .description('set what a workspace may use; "default" goes back to what all have')
      .requiredOption('--workspace <id>', 'the workspace')
      .option('--rate <n>', 'requests a second of each key', numberOrDefault(1, MOST_REQUESTS))
      .option('--burst <n>', 'requests that each key may make at once', numberOrDefault(1, MOST_REQUESTS))
      .option('--storage-bytes <n>', 'bytes of stored files', numberOrDefault(0, Number.MAX_SAFE_INTEGER)),
    async (services, { workspace: id, rate, burst, storageBytes }) => {
      await services.workspaces.setLimits(id, {
        ...(rate !== undefined && { ratePerSecond: orNull(rate) }),
        ...(burst !== undefined && { rateBurst: orNull(burst) }),
        ...(storageBytes !== undefined && { storageLimitBytes: orNull(storageBytes) }),
      });
      return answerOf(await services.workspaces.use(id));
    },
  );
}

function addDelete(workspace: Command): void {
  doesWithServices<DeleteOptions>(
    workspace
      .command('delete')
      .description('delete a workspace with everything in it')
      .argument('<id>', 'the workspace')
      .option('--dry-run', 'count, and change nothing')
      .option(...YES_OPTION),
    async (services, { dryRun = false, yes }, id = '') => {
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

function bodyOf(workspace: Workspace & WorkspaceUse): object {
  return {
    id: workspace.id,
    name: workspace.name,
    api_paid_until: workspace.apiPaidUntil,
    rate_per_second: workspace.ratePerSecond,
    rate_burst: workspace.rateBurst,
    storage_limit_bytes: workspace.storageLimitBytes,
    storage_used_bytes: workspace.storageUsedBytes,
    effective: {
      rate_per_second: workspace.effective.ratePerSecond,
      rate_burst: workspace.effective.rateBurst,
      storage_limit_bytes: workspace.effective.storageLimitBytes,
    },
    created_at: workspace.createdAt,
  };
}

function storageText({ storageUsedBytes, effective }: WorkspaceUse): string {
  const { storageLimitBytes: limit } = effective;
  return `${byteText(storageUsedBytes)} of ${limit === null ? 'any' : byteText(limit)}`;
}

function answerOf(workspace: Workspace & WorkspaceUse): Answer {
  const { ratePerSecond, rateBurst } = workspace.effective;
  const text = facts({
    Workspace: workspace.id,
    Name: workspace.name,
    'Paid until': timeText(workspace.apiPaidUntil, 'not paid: herald subscription set'),
    Requests: `${ratePerSecond} a second of each key, ${rateBurst} at once`,
    Storage: storageText(workspace),
  });
  return { data: bodyOf(workspace), text };
}
